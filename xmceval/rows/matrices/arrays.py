"""Arrays of other libraries as arrays of numpy: PyTorch, and whatever else exports DLPack, such as JAX and CuPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.rows.matrices import tensors
from xmceval.rows.matrices.storage import AnyArray, BFloat16Matrix, Values, check_dtype
from xmceval.rows.plain import as_plain
from xmceval.rows.readings import LOOKED_AT, explain_text

_IN_MEMORY = frozenset({1, 3})  # DLPack's numbers of the devices that this process can read: the CPU, and pinned memory


@dataclass(frozen=True)
class RemoteMatrix:
    """A matrix of another library on a device, from which rows are copied when it is sliced."""

    array: Any
    name: str
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return tuple(int(n) for n in self.array.shape)

    def __getitem__(self, rows: slice) -> AnyArray:
        """Copy some rows into memory."""
        values = _from_device(self.array[rows], self.name)
        return values if isinstance(values, np.ndarray) else values[:]


def as_values(values: Any, name: str) -> Values:
    """Take a matrix of numbers [n_rows, n_columns], without a copy where possible.

    Rows on another device are copied when they are needed.
    """
    taken: Values
    if isinstance(values, np.ndarray):
        taken = _with_known_dtype(as_plain(values, name))
    elif tensors.is_tensor(values):
        taken = tensors.as_values(values, name)
    elif _is_remote(values) and len(values.shape) == 2:
        one_row = _from_device(values[:1], name)
        taken = RemoteMatrix(values, name, one_row.dtype)
    else:
        taken = _from_device(values, name)
    if len(taken.shape) != 2:
        is_one_per_row = len(taken.shape) == 1 and taken.dtype.kind in "iu"
        hint = f" (hint: of one label id per row pass [{{label}} for label in {name}])" if is_one_per_row else ""
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got shape {taken.shape}{hint}")
    if not isinstance(taken, BFloat16Matrix):
        if taken.dtype.kind == "U" and (hint := explain_text(taken[:LOOKED_AT], name)):
            raise DataError(f"{name}: {hint}")
        check_dtype(taken.dtype, name)
    return taken


def as_array(values: Any, name: str) -> AnyArray:
    """Take an array of any shape and dtype into memory, as it is; bfloat16 becomes float32."""
    if tensors.is_tensor(values):
        return tensors.as_array(values, name)
    taken = _from_device(values, name)
    return taken if isinstance(taken, np.ndarray) else taken[:]


def _is_remote(values: Any) -> bool:
    """Return whether an array of another library is on a device that this process cannot read."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return False
    return int(values.__dlpack_device__()[0]) not in _IN_MEMORY


def _from_device(values: Any, name: str) -> AnyArray | BFloat16Matrix:
    """Take an array of another library, or what numpy makes an array of."""
    if isinstance(values, np.ndarray):
        return _with_known_dtype(as_plain(values, name))
    if isinstance(values, (list, tuple)) and any(
        tensors.is_tensor(row) or hasattr(row, "__dlpack__") for row in values
    ):
        values = [as_array(row, f"{name}[{i}]") for i, row in enumerate(values)]
    elif _is_remote(values):
        return _with_known_dtype(_copied(values, name))
    elif hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError):  # a type that numpy lacks, or memory that is read-only
            pass
    try:
        return _with_known_dtype(as_plain(values, name))
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{name}: expected a matrix, got rows of different lengths ({error})") from None
    except (TypeError, RuntimeError) as error:
        raise DataError(f"{name}: cannot be read as an array ({_first_line(error)})") from None


def _copied(values: Any, name: str) -> NDArray[Any]:
    """Copy from another device: CuPy has a method for it, JAX converts."""
    try:
        return np.asarray(values.get() if hasattr(values, "get") else values)
    except Exception as error:
        raise DataError(
            f"{name}: cannot be copied from its device ({_first_line(error)}) (hint: pass it as an array of numpy)"
        ) from None


def _with_known_dtype(array: AnyArray) -> AnyArray | BFloat16Matrix:
    """Take the number types that JAX adds to numpy: bfloat16 by its bits, and smaller ones as float32."""
    if array.dtype.kind != "V" or array.dtype.names is not None:
        return array
    if array.dtype.name == "bfloat16":
        return BFloat16Matrix(array.view(np.uint16))
    return array.astype(np.float32) if array.dtype.name.startswith("float") else array


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
