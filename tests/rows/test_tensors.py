"""Tensors of PyTorch give the same bits as arrays of numpy; these tests run where torch is installed."""

from functools import partial

import numpy as np
import pytest
from support.approved import check_lines
from support.judged import estimates

import xmceval
from xmceval import DataError

torch = pytest.importorskip("torch")

score_graded = partial(xmceval.score, grades=True)
first = partial(score_graded, metrics="P", k=1)

N_ROWS, N_LABELS = 12, 9
IS_IN_MEMORY = "xmceval.rows.matrices.tensors.is_in_memory"  # without it, a tensor is read as from another device


def dense(matrix, dtype):
    return torch.tensor(np.asarray(matrix)).to(getattr(torch, dtype))


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_every_kind_of_tensor_gives_the_same_bits(alike):
    check_lines(__file__, "tensors alike.txt", globals() | {"alike": alike})


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_what_topk_returns_is_read_in_either_order(truth, scores, dtype):
    values, indices = top = dense(scores, dtype).topk(N_LABELS)
    expected = estimates(truth, scores)
    assert estimates(truth, top) == expected
    if dtype != "int32":
        assert estimates(truth, (values, indices)) == estimates(truth, [values, indices]) == expected
        assert estimates(truth, (indices, values.requires_grad_())) == expected
        assert estimates(truth, (values.detach().float().numpy(), indices.numpy())) == expected


def test_indices_alone_are_ranked_labels(truth, scores):
    indices = dense(scores, "float32").topk(5).indices
    found = score_graded(truth, indices, k=[1, 3])
    assert dict(found) == dict(score_graded(truth, (indices, torch.arange(5.0, 0, -1).expand(N_ROWS, 5)), k=[1, 3]))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_lists_of_tensors_and_nested_ones_are_the_labels_of_rows(truth, scores):
    rows, expected = [torch.tensor(np.flatnonzero(row)) for row in truth], estimates(truth > 0, scores)
    assert estimates(rows, scores) == expected
    for layout in (torch.strided, torch.jagged):
        assert estimates(torch.nested.nested_tensor(rows, layout=layout), scores) == expected


def test_weights_filters_and_groups_may_be_tensors(truth, scores):
    weights, pairs, values = np.arange(1.0, N_ROWS + 1), np.array([[0, 1], [3, 4]]), np.arange(1.0, N_LABELS + 1)
    options = {"sample_weight": weights, "filter": pairs, "inverse_propensities": values}
    tensors = {name: torch.tensor(array) for name, array in options.items()}
    tensors["sample_weight"].requires_grad_()
    tensors["inverse_propensities"] = tensors["inverse_propensities"].bfloat16()
    assert estimates(torch.tensor(truth), torch.tensor(scores), **tensors) == estimates(truth, scores, **options)
    groups = torch.arange(N_ROWS) % 3
    results = [first(truth, scores, by_group=each) for each in (groups, groups.numpy())]
    assert results[0].to_json() == results[1].to_json()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "bool", "float8_e5m2"])
@pytest.mark.parametrize("ties", ["label", "expected", "worst"])
def test_selecting_on_another_device_gives_the_same_bits(rng, monkeypatch, dtype, ties):
    """The path of other devices, forced for tensors in memory: there is no other device that has values here."""
    for n_labels, n_levels in ((1, 1), (7, 2), (300, 3), (300, 100)):
        truth = rng.random((9, n_labels)) < 0.1
        scores = rng.integers(-n_levels, n_levels + 1, (9, n_labels)).astype(float)
        if "float" in dtype:
            scores[rng.random(scores.shape) < 0.2] = -np.inf
            scores[0], scores[1, ::2] = -np.inf, np.inf
        tensor = dense(scores, dtype)
        options = {"k": sorted({1, min(5, n_labels)}), "metrics": ["P", "nDCG", "AP"], "ties": ties}
        expected = score_graded(truth, tensor, **options)
        with monkeypatch.context() as patch:
            patch.setattr(IS_IN_MEMORY, lambda _: False)
            found = score_graded(truth, tensor, **options)
            whole = score_graded(truth, tensor, metrics=["LRAP", "coverage_error"])
        assert (found.estimates, found.counts) == (expected.estimates, expected.counts)
        assert whole.estimates == score_graded(truth, tensor, metrics=["LRAP", "coverage_error"]).estimates


def test_only_the_best_labels_leave_another_device(rng, monkeypatch):
    class Remote(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func.__name__ == "cpu":
                copied.append(args[0].numel())
            return super().__torch_function__(func, types, args, kwargs or {})

    copied = []
    monkeypatch.setattr(IS_IN_MEMORY, lambda _: False)
    scores = torch.tensor(rng.permuted(np.tile(np.arange(1.0, 1001), (20, 1)), axis=1))
    score_graded(rng.random((20, 1000)) < 0.1, scores.as_subclass(Remote), k=5, metrics="P")
    # One row, which could be a ranking; of each row six scores, their labels as two columns, and two counts.
    assert sum(copied) == 1000 + 20 * (6 + 12 + 2)


def test_tensors_at_a_threshold(scores):
    truth = scores > 20
    for dtype in ("float16", "bfloat16", "float32"):
        tensor = dense(scores / 40, dtype)
        decisions = (tensor >= tensor[3, 3]).numpy().astype(float)
        found = score_graded(truth, tensor, threshold=scores[3, 3] / 40, metrics="precision_score")
        assert dict(found) == dict(score_graded(truth, decisions, threshold=0.5, metrics="precision_score")), dtype


def with_nan(scores, dtype, row, label):
    tensor = dense(scores, dtype)
    tensor[row, label] = float("nan")
    return tensor


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (xmceval.label_ranking_loss, (4, 2)),
        (lambda y_true, y_score: xmceval.group_auc(y_true, y_score, [0] * 4 + [1] * 4), (8,)),
    ],
)
def test_drop_ins_take_tensors_as_score_does(function, shape):
    truth, scores = torch.tensor([1.0, 0, 0, 1, 1, 0, 0, 1]).reshape(shape), torch.arange(8.0).reshape(shape)
    found = function(truth, scores.clone().requires_grad_())
    assert found == function(truth.numpy(), scores.numpy()) == function(truth, scores.bfloat16())


@pytest.mark.parametrize("metric", ["P", "LRAP"])
def test_a_device_that_is_gone_is_an_error_of_the_input(monkeypatch, truth, scores, metric):
    class Gone(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func.__name__ in {"cpu", "topk", "__ne__"} and args[0].numel():
                raise RuntimeError("CUDA error: device-side assert triggered\nmore lines")
            return super().__torch_function__(func, types, args, kwargs or {})

    monkeypatch.setattr(IS_IN_MEMORY, lambda _: False)
    tensor = dense(scores, "float32").as_subclass(Gone)
    with pytest.raises(
        DataError, match=r"^y_score: cannot be read from device cpu \(hint: pass tensor.cpu\(\)\)$"
    ) as error:
        score_graded(truth, tensor, metrics=metric, k=1)
    assert "device-side assert" in str(error.value.__cause__)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
@pytest.mark.parametrize("part", ["indptr", "short indptr", "indices", "short indices", "short values"])
def test_sparse_tensors_whose_parts_contradict_each_other_are_refused(truth, scores, layout, part):
    size = ((1, 1),) if layout[0] == "b" else ()
    tensor = getattr(dense(scores, "float64"), f"to_sparse_{layout}")(*size)
    ends, ids = (
        (tensor.crow_indices, tensor.col_indices) if layout[-1] == "r" else (tensor.ccol_indices, tensor.row_indices)
    )
    parts = {"indptr": ends().clone(), "indices": ids().clone(), "values": tensor.values()}
    name = part.removeprefix("short ")
    if part == name:
        parts[name][1 if name == "indptr" else 0] = 10**9
    else:
        parts[name] = parts[name][:-1]
    scores = torch.sparse_compressed_tensor(*parts.values(), tensor.shape, layout=tensor.layout, check_invariants=False)
    with pytest.raises(DataError, match=r"not describe|stored entry is in row|label 1000000000 is outside"):
        first(truth, scores)


SPARSE, META = torch.ones(N_ROWS).to_sparse(), torch.ones(N_ROWS).to("meta")


def nested():
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_wrong_tensors_are_refused_in_these_words(monkeypatch, truth, scores):
    def y_score(make):
        return first(truth, make(scores))

    def away(tensor):
        with monkeypatch.context() as patch:
            patch.setattr(IS_IN_MEMORY, lambda _: False)
            return first(truth, tensor)

    check_lines(__file__, "tensors.txt", globals() | locals())
