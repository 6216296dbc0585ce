"""Convert tensors of PyTorch, without importing it, and of libraries that export DLPack, such as JAX.

Tensors in memory are not copied; others are copied row by row. The best labels of rows of a tensor on another
device are selected there, so that only these and tied labels are copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from xmceval.errors import DataError, describe_type
from xmceval.rows.block import AnyArray, Int64, Rows, Selected
from xmceval.rows.matrices.storage import BFloat16Matrix, as_plain, check_dtype, comparable, explain_text

Copied = TypeVar("Copied")

LISTS = " (hint: these can be lists of label ids, and as predictions lists of (label, score))"
DEVICE_ENTRIES = 1 << 22  # per block: tied labels are also copied from the device
_IN_MEMORY = frozenset({1, 3})  # DLPack device types that this process can read: CPU and pinned memory


def is_tensor(value: Any) -> bool:
    """Return whether a value is a PyTorch tensor; PyTorch is then already loaded."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse tensor, with any layout."""
    return is_tensor(value) and value.layout != sys.modules["torch"].strided


def unnested(value: Any) -> Any:
    """Return the rows of a nested tensor, with any layout, as a list; return anything else unchanged."""
    if is_tensor(value) and value.is_nested:
        return list(value.detach().unbind())
    return value


def shape_of(values: Any) -> tuple[int, ...]:
    """Return the shape of an array of any library; nested tensors and other objects have none."""
    if is_tensor(values) and values.is_nested:
        return ()
    return tuple(getattr(values, "shape", ()))


@dataclass(frozen=True)
class RemoteMatrix:
    """A matrix of another library on a device; slicing copies rows from there."""

    array: Any
    name: str
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return tuple(map(int, self.array.shape))

    def __getitem__(self, rows: slice) -> AnyArray:
        """Copy a slice of rows into memory."""
        return _from_device(self.array[rows], self.name)[:]


def as_values(values: Any, name: str) -> Any:
    """Take a matrix of numbers [n_rows, n_columns], without a copy where possible.

    Slices of its rows are numpy arrays; from another device, slicing copies.
    """
    taken: Any
    if isinstance(values, np.ndarray):
        taken = _with_known_dtype(as_plain(values, name))
    elif is_tensor(values) and not is_in_memory(values) and values.dim() == 2:
        tensor = _plain(values, name)
        taken = DeviceMatrix(tensor, name, _read(tensor[:0], name).dtype)
    elif _is_remote(values) and len(values.shape) == 2:
        taken = RemoteMatrix(values, name, _from_device(values[:1], name).dtype)
    else:
        taken = _from_device(values, name, hint=LISTS)
    if len(taken.shape) != 2:
        hint = ""
        if len(taken.shape) == 1 and taken.dtype.kind in "iu":
            hint = f" (hint: for one label id per row, pass [{{label}} for label in {name}])"
        if taken.shape[2:] == (2,):
            hint = f" (hint: for pairs of a label and its score, pass ({name}[..., 0].astype(int), {name}[..., 1]))"
            if np.allclose(np.asarray(taken[:1], dtype=np.float64).sum(axis=2), 1):  # as predict_proba of a forest
                hint = f" (hint: for probabilities of two classes per label, pass {name}[:, :, 1].T)"
        if taken.dtype.names is not None:
            hint = f" (hint: pass pandas.DataFrame({name}))"
        got = describe_type(values)
        if taken.shape:
            got = f"shape {taken.shape}"
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got {got}{hint}")
    if taken.dtype.kind == "U" and (hint := explain_text(taken[:1])):
        raise DataError(f"{name}: {hint}")
    check_dtype(taken.dtype, name)
    return taken


def as_array(values: Any, name: str, expected: str = "an array") -> AnyArray:
    """Take an array of any shape and dtype into memory unchanged, except that bfloat16 becomes float32."""
    if is_sparse(values):
        raise DataError(f"{name}: is a sparse tensor, which is not read here (hint: pass its to_dense())")
    taken = _from_device(values, name, expected)
    if isinstance(taken, np.ndarray):
        return taken
    return taken[:]


def as_scipy(tensor: Any, name: str) -> tuple[Any, np.dtype[Any]]:
    """Convert a sparse tensor to a scipy matrix with every stored entry; also return the type of its values."""
    import scipy.sparse as sp

    torch = sys.modules["torch"]
    tensor = _plain(tensor, name)
    shape = tuple(map(int, tensor.shape))
    if tensor.dim() != 2 or (tensor.layout == torch.sparse_coo and tensor.dense_dim()):
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got a sparse tensor of shape {shape}")
    # Arrays are set afterwards, since scipy's constructors would copy 64-bit indices.
    if tensor.layout != torch.sparse_coo:
        by_row = tensor.layout in {torch.sparse_csr, torch.sparse_bsr}
        if by_row:
            indptr = tensor.crow_indices()
            indices = tensor.col_indices()
        else:
            indptr = tensor.ccol_indices()
            indices = tensor.row_indices()
        if tensor.layout in {torch.sparse_csr, torch.sparse_csc}:
            numbers, dtype = _read_stored(tensor.values(), name)
            compressed: Any = sp.csr_matrix if by_row else sp.csc_matrix
            matrix = compressed(shape, dtype=numbers.dtype)
            matrix.data = numbers
            matrix.indices = as_array(indices, name)
            matrix.indptr = as_array(indptr, name)
            return matrix, dtype
        try:  # compressed blocks, with indices that are checked here
            tensor = torch.sparse_compressed_tensor(
                indptr, indices, tensor.values(), tensor.shape, layout=tensor.layout, check_invariants=True
            ).to_sparse()
        except RuntimeError as error:
            raise DataError(f"{name}: its arrays do not describe a tensor of shape {shape}") from error
    places = as_array(tensor._indices(), name)
    numbers, dtype = _read_stored(tensor._values(), name)
    matrix = sp.coo_matrix(shape, dtype=numbers.dtype)
    matrix.data = numbers
    if hasattr(matrix, "coords"):  # scipy 1.13 or later, where `row` and `col` would copy 64-bit indices
        matrix.coords = places[0], places[1]
    else:
        matrix.row, matrix.col = places
    return matrix, dtype


def _read_stored(values: Any, name: str) -> tuple[AnyArray, np.dtype[Any]]:
    """Return stored values in a type that scipy supports, and their original type."""
    numbers = _read(values, name)
    stored = numbers[:]
    if stored.dtype == np.float16:
        stored = stored.astype(np.float32)
    return stored, numbers.dtype


def is_in_memory(tensor: Any) -> bool:
    """Return whether numpy can read the memory of a tensor."""
    return bool(tensor.device.type == "cpu")


class DeviceMatrix(RemoteMatrix):
    """A PyTorch tensor on a device, which selects labels there."""

    def lowest_labels(self, rows: slice) -> Int64:
        """Return the label with the lowest score above -inf in each row, computed on the device."""

        def find() -> Any:
            part = self.array[rows].float()
            return part.masked_fill(part == -float("inf"), float("inf")).argmin(dim=1).cpu().numpy()

        lowest: Int64 = _on_device(self.array, self.name, find)
        return lowest

    def select(self, rows: slice, depth: int, first_nan: Int64) -> Selected:
        """Select the `depth` best labels of rows on the device, and all that tie with the last of them.

        `first_nan`, int64 [2], becomes the row and label of the first NaN, if there is one.
        """
        return _on_device(self.array, self.name, lambda: self._select(rows, depth, first_nan))

    def _select(self, rows: slice, depth: int, first_nan: Int64) -> Selected:
        torch = sys.modules["torch"]
        part = self.array[rows]
        if part.dtype == torch.bool:
            part = part.to(torch.uint8)
        elif part.is_floating_point() and part.element_size() < 2:
            part = part.to(torch.float32)
        is_nan = part != part  # noqa: PLR0124
        if bool(is_nan.any()):
            first_nan[:] = is_nan.nonzero()[0].tolist()
            return Selected(_NO_ROWS, _NO_NUMBERS, _NO_NUMBERS)
        n_rows, n_labels = part.shape
        if part.is_floating_point():
            is_scored = part != -float("inf")
        else:
            is_scored = torch.ones_like(part, dtype=torch.bool)
        lengths = is_scored.sum(dim=1).cpu().numpy()
        if n_labels > depth:
            last = part.topk(depth, dim=1).values[:, -1:]
            is_scored &= part >= last
        places = is_scored.nonzero()
        values = _read(part[places[:, 0], places[:, 1]], self.name)[:]
        owners, labels = places.cpu().numpy().T
        indptr = np.searchsorted(owners, np.arange(n_rows + 1)).astype(np.int64)
        best = Rows(indptr, np.ascontiguousarray(labels), comparable(values).astype(np.float64))
        return Selected(best, np.concatenate([[0], np.cumsum(lengths)]), np.zeros(n_rows, dtype=np.int64))


_NO_NUMBERS = np.zeros(0, dtype=np.int64)
_NO_ROWS = Rows(np.zeros(1, dtype=np.int64), _NO_NUMBERS, np.zeros(0))


def _plain(tensor: Any, name: str) -> Any:
    """Detach a tensor of real numbers."""
    if tensor.is_nested:
        raise DataError(f"{name}: is a nested tensor, whose rows differ in length; expected an array")
    if tensor.device.type == "meta":
        raise DataError(f"{name}: is a tensor on the meta device, which has no values (hint: pass the real tensor)")
    if tensor.is_complex():
        raise DataError(f"{name}: expected numbers, got dtype {tensor.dtype}")
    if tensor.is_quantized:
        raise DataError(f"{name}: is a quantized tensor, {tensor.dtype} (hint: call its dequantize())")
    return tensor.detach()


def _read(tensor: Any, name: str) -> AnyArray | BFloat16Matrix:
    """Return the values of a tensor, copied only if it is on another device."""
    torch = sys.modules["torch"]

    def read() -> AnyArray | BFloat16Matrix:
        here = tensor.cpu().resolve_neg()
        if here.dtype == torch.bfloat16:
            return BFloat16Matrix(here.view(torch.int16).numpy().view(np.uint16))
        if here.is_floating_point() and here.element_size() < 2:
            here = here.to(torch.float32)
        return here.numpy()  # type: ignore[no-any-return]

    return _on_device(tensor, name, read)


def _on_device(tensor: Any, name: str, call: Callable[[], Copied]) -> Copied:
    """Call a function, and report a failure on the device as an error of the input."""
    try:
        return call()
    except (RuntimeError, TypeError) as error:
        raise DataError(f"{name}: cannot be read from device {tensor.device} (hint: pass tensor.cpu())") from error


def _is_remote(values: Any) -> bool:
    """Return whether an array of another library is on a device that this process cannot read."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return False
    try:
        device = values.__dlpack_device__()[0]
    except (BufferError, RuntimeError, TypeError):  # older pyarrow knows none for text, lists, nulls and booleans
        return False
    return int(device) not in _IN_MEMORY


def _from_device(values: Any, name: str, expected: str = "a matrix", hint: str = "") -> AnyArray | BFloat16Matrix:
    """Take an array of another library, or any array-like; messages say what was `expected`, with a hint."""
    if isinstance(values, np.ndarray):
        return _with_known_dtype(as_plain(values, name))
    if is_tensor(values):
        return _read(_plain(values, name), name)
    if isinstance(values, (list, tuple)) and any(is_tensor(row) or hasattr(row, "__dlpack__") for row in values):
        values = [as_array(row, f"{name}[{i}]") for i, row in enumerate(values)]
    elif _is_remote(values):
        try:  # CuPy has a method that copies, JAX converts
            return _with_known_dtype(np.asarray(values.get() if hasattr(values, "get") else values))
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
            raise DataError(f"{name}: cannot be copied from its device (hint: pass it as an array of numpy)") from error
    elif hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError):  # a type that numpy lacks, or read-only memory
            pass
    try:
        return _with_known_dtype(as_plain(values, name))
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{name}: expected {expected}, got rows of different lengths{hint}") from error
    except (TypeError, RuntimeError) as error:
        raise DataError(
            f"{name}: {describe_type(values)} cannot be read as an array (hint: pass an array of numpy)"
        ) from error


def _with_known_dtype(array: AnyArray) -> AnyArray | BFloat16Matrix:
    """Convert the types that JAX adds to numpy: bfloat16 by its bits, and smaller floats to float32."""
    if array.dtype.kind != "V" or array.dtype.names is not None:
        return array
    if array.dtype.name == "bfloat16":
        return BFloat16Matrix(array.view(np.uint16))
    if array.dtype.name.startswith("float"):
        return array.astype(np.float32)
    return array
