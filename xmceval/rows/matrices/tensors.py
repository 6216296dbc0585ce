"""PyTorch tensors as matrices: without a copy in memory, row by row from another device. torch is never imported here.

The best labels of rows on another device are selected there, so that only they and what ties with them are copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from xmceval.errors import DataError
from xmceval.rows.block import Int64, Rows, Selected
from xmceval.rows.matrices.sparse import check_indptr
from xmceval.rows.matrices.storage import AnyArray, BFloat16Matrix, Values, comparable

Copied = TypeVar("Copied")

DEVICE_ENTRIES = 1 << 22  # per block: what ties in it is copied from the device too


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor of PyTorch, which is loaded already if it is."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse tensor, of any layout."""
    return is_tensor(value) and value.layout != sys.modules["torch"].strided


def unnested(value: Any) -> Any:
    """Return the rows of a nested tensor, of any layout, as a list; anything else as it is."""
    return list(value.detach().unbind()) if is_tensor(value) and value.is_nested else value


def some_rows(tensor: Any, which: Callable[[Any], list[int]]) -> AnyArray | None:
    """Return some rows of a matrix; None where there are none, or what later reading refuses."""
    if is_sparse(tensor) or tensor.is_nested or tensor.dim() != 2:
        return None
    try:
        return as_array(tensor[which(tensor)], "")
    except DataError:
        return None


def as_values(tensor: Any, name: str) -> Values:
    """Take a dense matrix [n_rows, n_labels], in memory without a copy; elsewhere rows are copied when needed."""
    tensor = _plain(tensor, name)
    if not is_in_memory(tensor) and tensor.dim() == 2:
        return DeviceMatrix(tensor, name)
    return _read(tensor, name)


def as_array(tensor: Any, name: str) -> AnyArray:
    """Take a tensor of any shape into memory; bfloat16 becomes float32."""
    if is_sparse(tensor):
        raise DataError(f"{name}: is a sparse tensor, which is not read here (hint: pass its to_dense())")
    values = _read(_plain(tensor, name), name)
    return values if isinstance(values, np.ndarray) else values[:]


def as_scipy(tensor: Any, name: str) -> tuple[Any, np.dtype[Any]]:
    """Take a sparse tensor as a matrix of scipy, with every stored entry; also return the type of its values."""
    import scipy.sparse as sp

    torch = sys.modules["torch"]
    tensor = _plain(tensor, name)
    if tensor.dim() != 2 or (tensor.layout == torch.sparse_coo and tensor.dense_dim()):
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got a sparse tensor of shape {_shape(tensor)}")
    if tensor.layout in {torch.sparse_csr, torch.sparse_csc}:
        is_csr = tensor.layout == torch.sparse_csr
        indptr = tensor.crow_indices() if is_csr else tensor.ccol_indices()
        indices = tensor.col_indices() if is_csr else tensor.row_indices()
        values = _read(tensor.values(), name)
        parts = _single(values), as_array(indices, name), as_array(indptr, name)
        n_stored, n_lines = min(parts[0].size, parts[1].size), tensor.shape[0 if is_csr else 1]
        check_indptr(parts[2], n_stored, n_lines, name, noun="row" if is_csr else "column")
        kind = sp.csr_matrix if is_csr else sp.csc_matrix
        return _assemble(kind, _shape(tensor), ("data", "indices", "indptr"), parts), values.dtype
    if tensor.layout != torch.sparse_coo:
        tensor = _unblocked(tensor, name)
    places, values = as_array(tensor._indices(), name), _read(tensor._values(), name)
    matrix = _assemble(sp.coo_matrix, _shape(tensor), ("data",), (_single(values),))
    if hasattr(matrix, "coords"):  # of scipy since 1.13, whose `row` and `col` would copy ids of 64 bits
        matrix.coords = places[0], places[1]
    else:
        matrix.row, matrix.col = places
    return matrix, values.dtype


def _unblocked(tensor: Any, name: str) -> Any:
    """Return a tensor of compressed blocks, whose indices are checked here, as COO."""
    torch = sys.modules["torch"]
    by_row = tensor.layout == torch.sparse_bsr
    indptr = tensor.crow_indices() if by_row else tensor.ccol_indices()
    indices = tensor.col_indices() if by_row else tensor.row_indices()
    try:
        return torch.sparse_compressed_tensor(
            indptr, indices, tensor.values(), tensor.shape, layout=tensor.layout, check_invariants=True
        ).to_sparse()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name}: its arrays do not describe a tensor of shape {_shape(tensor)} ({reason})") from error


def _assemble(kind: Any, shape: tuple[int, ...], names: tuple[str, ...], parts: tuple[AnyArray, ...]) -> Any:
    """Make a matrix of scipy of arrays as they are: its constructor would copy ids of 64 bits."""
    matrix = kind(shape, dtype=parts[0].dtype)
    for name, part in zip(names, parts, strict=True):
        setattr(matrix, name, part)
    return matrix


def _single(values: Values) -> AnyArray:
    """Return numbers [n_stored] in a type that scipy's matrices can have."""
    numbers = values[:]
    return numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers


def is_in_memory(tensor: Any) -> bool:
    """Return whether numpy can read the memory of a tensor."""
    return bool(tensor.device.type == "cpu")


@dataclass(frozen=True)
class DeviceMatrix:
    """A tensor on another device, from which rows are copied when it is sliced."""

    tensor: Any
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return _shape(self.tensor)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in which the numbers are stored."""
        return _read(self.tensor[:0], self.name).dtype

    def __getitem__(self, rows: slice) -> AnyArray:
        """Copy some rows into memory."""
        return _read(self.tensor[rows], self.name)[:]

    def lowest_labels(self, rows: slice) -> Int64:
        """Return the label with the lowest score of each row that is not -inf, found on the device."""

        def find() -> Any:
            part = self.tensor[rows].float()
            return part.masked_fill(part == -float("inf"), float("inf")).argmin(dim=1).cpu().numpy()

        lowest: Int64 = _on_device(self.tensor, self.name, find)
        return lowest

    def select(self, rows: slice, depth: int, found: Int64) -> Selected:
        """Select the `depth` best labels of rows on the device, and all that tie with the last of them.

        `found`, int64 [2], becomes the row and label of the first NaN, if there is one.
        """
        return _on_device(self.tensor, self.name, lambda: self._select(rows, depth, found))

    def _select(self, rows: slice, depth: int, found: Int64) -> Selected:
        torch = sys.modules["torch"]
        part = self.tensor[rows]
        if part.dtype == torch.bool:
            part = part.to(torch.uint8)
        elif part.is_floating_point() and part.element_size() < 2:
            part = part.to(torch.float32)
        is_nan = part != part  # noqa: PLR0124
        if bool(is_nan.any()):
            found[:] = is_nan.nonzero()[0].tolist()
            return Selected(_NO_ROWS, _NO_NUMBERS, _NO_NUMBERS)
        n_rows, n_labels = part.shape
        is_scored = part != -float("inf") if part.is_floating_point() else torch.ones_like(part, dtype=torch.bool)
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
    """Return a tensor of real numbers without its history."""
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
        is_small = here.is_floating_point() and here.element_size() < 2
        return (here.to(torch.float32) if is_small else here).numpy()  # type: ignore[no-any-return]

    return _on_device(tensor, name, read)


def _on_device(tensor: Any, name: str, call: Callable[[], Copied]) -> Copied:
    """Return what a call returns; whatever goes wrong on a device is an error of the input."""
    try:
        return call()
    except (RuntimeError, TypeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{name}: cannot be read from device {tensor.device} ({reason}) (hint: pass tensor.cpu())"
        ) from None


def _shape(tensor: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in tensor.shape)
