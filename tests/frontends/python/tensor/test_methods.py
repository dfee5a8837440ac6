"""Methods that people type: the functions of the package, by NumPy's and PyTorch's names."""

import inspect

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit
from tessera.autodiff import grad

X = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -4.0]], "float32")
POSITIVE = np.abs(X)
UNIT = X / 5
SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]], "float32")
BOOLS, INTS = X > 0, np.array([[3, 1, 2], [6, 5, 4]], "int32")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# Name of the method: (operand, other arguments, the same in NumPy).
VALUES = {
    "abs": (X, (), np.abs),
    "acos": (UNIT, (), np.arccos),
    "add": (X, (2.0,), lambda x, y: x + y),
    "all": (BOOLS, (1,), lambda x, axis: x.all(axis)),
    "angle": (X, (), np.angle),
    "any": (BOOLS, (), lambda x: x.any()),
    "argmax": (X, (), np.argmax),
    "argmin": (X, (1,), lambda x, axis: x.argmin(axis)),
    "argsort": (INTS, (), lambda x: x.argsort(-1)),
    "asin": (UNIT, (), np.arcsin),
    "atan": (X, (), np.arctan),
    "atan2": (X, (2.0,), np.arctan2),
    "bfloat16": (INTS, (), lambda x: x.astype("float32")),
    "broadcast_to": (X[0], ((2, 3),), np.broadcast_to),
    "ceil": (X, (), np.ceil),
    "cholesky": (SQUARE, (), np.linalg.cholesky),
    "clip": (X, (-1.0, 1.0), np.clip),
    "clone": (X, (), np.copy),
    "conj": (X, (), np.conj),
    "contiguous": (X, (), np.copy),
    "copy": (X, (), np.copy),
    "cos": (X, (), np.cos),
    "cosh": (X, (), np.cosh),
    "cpu": (X, (), np.copy),
    "cross": (X[0], (X[1],), np.cross),
    "cumprod": (X, (1,), lambda x, axis: x.cumprod(axis)),
    "cumsum": (X, (0,), lambda x, axis: x.cumsum(axis)),
    "det": (SQUARE, (), np.linalg.det),
    "diag": (SQUARE, (), np.diag),
    "div": (X, (2.0,), np.divide),
    "dot": (X[0], (X[1],), np.dot),
    "double": (X, (), lambda x: x.astype("float64")),
    "exp": (X, (), np.exp),
    "expand_dims": (X, (1,), np.expand_dims),
    "expm1": (X, (), np.expm1),
    "flatten": (X, (), np.ravel),
    "float": (INTS, (), lambda x: x.astype("float32")),
    "floor": (X, (), np.floor),
    "gather": (INTS, (1, np.array([[0], [2]])), lambda x, a, i: np.take_along_axis(x, i, a)),
    "greater": (X, (0.0,), np.greater),
    "half": (X, (), lambda x: x.astype("float16")),
    "isclose": (X, (X + 1e-7,), np.isclose),
    "isfinite": (1 / (X - 1), (), np.isfinite),
    "isinf": (1 / (X - 1), (), np.isinf),
    "isnan": (np.sqrt(X), (), np.isnan),
    "kron": (X, (SQUARE,), np.kron),
    "log": (POSITIVE, (), np.log),
    "log10": (POSITIVE, (), np.log10),
    "log1p": (POSITIVE, (), np.log1p),
    "log2": (POSITIVE, (), np.log2),
    "logical_and": (BOOLS, (~BOOLS,), np.logical_and),
    "logical_not": (BOOLS, (), np.logical_not),
    "logsoftmax": (X, (1,), lambda x, axis: np.log(softmax(x, axis))),
    "logsumexp": (X, (1,), lambda x, axis: np.log(np.exp(x).sum(axis))),
    "masked_fill": (X, (BOOLS, 7.0), lambda x, mask, value: np.where(mask, value, x)),
    "matinv": (SQUARE, (), np.linalg.inv),
    "matmul": (X, (X.T,), np.matmul),
    "max": (X, (0,), np.max),
    "maximum": (X, (0.0,), np.maximum),
    "mean": (X, (1,), np.mean),
    "min": (X, (0,), np.min),
    "minimum": (X, (0.0,), np.minimum),
    "mul": (X, (2.0,), np.multiply),
    "nan_to_num": (np.sqrt(X), (), np.nan_to_num),
    "neg": (X, (), np.negative),
    "norm": (X, (), np.linalg.norm),
    "outer": (X[0], (X[1],), np.outer),
    "pow": (POSITIVE, (2.0,), np.power),
    "prod": (X, (1,), np.prod),
    "quantile": (X, (0.25, 1), np.quantile),
    "reciprocal": (X, (), np.reciprocal),
    "relu": (X, (), lambda x: np.maximum(x, 0)),
    "reshape": (X, (3, 2), lambda x, *shape: x.reshape(shape)),
    "roll": (X, (1, 1), np.roll),
    "round": (X, (), np.round),
    "rsqrt": (POSITIVE, (), lambda x: 1 / np.sqrt(x)),
    "searchsorted": (np.sort(X[0]), (X[1],), np.searchsorted),
    "sigmoid": (X, (), sigmoid),
    "sign": (X, (), np.sign),
    "sin": (X, (), np.sin),
    "sinh": (X, (), np.sinh),
    "softmax": (X, (-1,), softmax),
    "sqrt": (POSITIVE, (), np.sqrt),
    "square": (X, (), np.square),
    "squeeze": (X[:, None], (), np.squeeze),
    "std": (X, (1,), np.std),
    "sub": (X, (2.0,), np.subtract),
    "sum": (X, (1,), np.sum),
    "swapaxes": (X, (0, 1), np.swapaxes),
    "tan": (X, (), np.tan),
    "tanh": (X, (), np.tanh),
    "tile": (X, ((2, 1),), np.tile),
    "trace": (SQUARE, (), np.trace),
    "transpose": (X, (1, 0), lambda x, *axes: x.transpose(axes)),
    "tril": (SQUARE, (), np.tril),
    "triu": (SQUARE, (), np.triu),
    "trunc": (X, (), np.trunc),
    "unique": (INTS, (), np.unique),
    "var": (X, (1,), np.var),
    "view": (X, (-1,), lambda x, *shape: x.reshape(shape)),
    "where": (X, (BOOLS, 0.0), lambda x, condition, other: np.where(condition, x, other)),
}


def tensors(values):
    return [tessera.tensor(v) if isinstance(v, np.ndarray) else v for v in values]


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    x, arguments, expected = VALUES[name]
    got = getattr(tessera.tensor(x), name)(*tensors(arguments))
    np.testing.assert_allclose(got.numpy().astype("float64"), expected(x, *arguments), 1e-5, 1e-6)


def test_methods_with_several_results():
    values, indices = tessera.tensor(INTS).sort(descending=True)
    assert values.tolist() == [[3, 2, 1], [6, 5, 4]] and indices.tolist() == [[0, 2, 1], [0, 1, 2]]
    values, indices = tessera.tensor(INTS).topk(1)
    assert values.tolist() == [[3], [6]] and indices.tolist() == [[0], [0]]
    assert tessera.tensor(INTS).allclose(INTS) is True
    q, r = tessera.tensor(SQUARE).qr()
    np.testing.assert_allclose((q @ r).numpy(), SQUARE, rtol=1e-5)


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_an_axis_is_not_taken_for_an_order(name):
    """PyTorch's x.sort(0) is along axis 0."""
    x = tessera.tensor(INTS)
    with pytest.raises(TypeError, match=f"{name}: descending must be a bool .*, got 0"):
        getattr(x, name)(0)
    assert (
        getattr(np, name)(INTS, 0).tolist()
        == (x.argsort(dim=0) if name == "argsort" else x.sort(dim=0)[0]).tolist()
    )
    with pytest.raises(TypeError, match="topk: descending must be a bool .*, got 0"):
        x.topk(1, 0)


def test_a_function_of_one_tensor_has_a_method():
    """Each elementwise function is one; others are listed above."""
    methods = {name for name in vars(Tensor) if not name.startswith("_")}
    unary = [row for row in tessera._core.op_table() if len(row["operands"]) == 1]
    names = {row["python"] for row in unary if row["module"] in ("functional.elemwise",)}
    assert names - methods == set()
    assert len(methods) > 130


def test_a_method_is_the_function():
    for name in ("argmax", "clip", "copy", "gather", "norm", "softmax", "sort", "topk"):
        assert vars(Tensor)[name] is getattr(F, name)
    assert vars(Tensor)["exp"] is F.exp and vars(Tensor)["view"] is F.reshape
    assert "axis=None" in str(inspect.signature(Tensor.argmax))
    assert "smallest" in tessera.tensor([1.0]).argmin.__doc__


def test_methods_in_traces_and_gradients():
    def f(x):
        return x.clip(-1.0, 1.0).exp().where(x > 0, 0.0).cumsum(1).sum()

    x = tessera.tensor(X)
    traced = jit.trace(f, symbolic=True)
    expected = np.where(X > 0, np.exp(np.clip(X, -1, 1)), 0).cumsum(1).sum()
    assert [round(traced(x).item(), 4) for _ in range(3)] == [round(float(expected), 4)] * 3
    assert grad(lambda x: x.masked_fill(tessera.tensor(BOOLS), 9.0).sum())(x).tolist() == (
        (~BOOLS).astype("float32").tolist()
    )


def test_masked_fill_refuses_what_does_not_fit():
    x = tessera.tensor([1, 2, 3])
    with pytest.raises(ValueError, match="int32"):
        x.masked_fill(tessera.tensor([True, False, True]), 1 << 40)
    with pytest.raises(ValueError, match="broadcast"):
        x.masked_fill(tessera.tensor([[True], [False]]), 0)
    with pytest.raises(TypeError):
        x.masked_fill(tessera.tensor([1, 0, 1]), 0)


def test_casts_of_the_own_dtype_are_the_tensor():
    x = tessera.tensor(X)
    assert x.float() is x and x.cpu() is x and x.contiguous() is x and x.half() is not x


# Text of the error by the name that PyTorch has.
ELSEWHERE = {
    "backward": "GradManager",
    "clamp": r"clip\(lower, upper\)",
    "unsqueeze": r"expand_dims\(axis\)",
    "permute": r"transpose\(\*axes\)",
    "long": r'astype\("int64"\)',
    "numel": "size",
    "dim": "ndim",
    "chunk": "functional.split",
    "split": "the size of each",
    "repeat": r"tile\(reps\)",
    "flip": r"x\[::-1\]",
    "equal": "allclose",
    "eq": "x == y",
    "add_": "inplace=True",
    "zero_": "reset_zero",
    "fill_": r"x\[\.\.\.\] = value",
    "requires_grad": "GradManager",
    "cuda": 'to."gpu0".',
    "nonzero": "non_zero",
    "real": "functional.real",
}


@pytest.mark.parametrize("kind", [Tensor, tessera.Parameter])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_names_say_what_to_type(kind, name):
    x = kind([1.0])
    with pytest.raises(AttributeError, match=f"{kind.__name__}: there is no {name} .*"
                                             f"{ELSEWHERE[name]}"):  # fmt: skip
        getattr(x, name)
    with pytest.raises(AttributeError):
        getattr(kind, name)
    assert not hasattr(x, name) and name not in dir(x)


def test_every_name_that_is_refused_says_something_that_exists():
    refusal = type(vars(Tensor)["requires_grad"])
    names = [name for name, member in vars(Tensor).items() if isinstance(member, refusal)]
    assert len(names) > 80
    x = tessera.tensor([1.0])
    for name in names:
        with pytest.raises(AttributeError) as raised:
            getattr(x, name)
        for word in str(raised.value).split("functional.")[1:]:
            assert hasattr(F, word.split("(")[0].split(" ")[0].strip(",)")), (name, word)


def test_such_a_name_may_be_an_attribute_of_a_parameter():
    weight = tessera.Parameter([1.0])
    weight.chunk = 3
    assert weight.chunk == 3
    with pytest.raises(AttributeError, match="grad_fn has no effect"):
        weight.grad_fn = 3


class Further(Tensor):
    def unsqueeze(self, axis):
        return self.expand_dims(axis)

    def __getattr__(self, name):
        return f"own {name}"


def test_a_subclass_may_have_the_name():
    x = Further([1.0])
    assert x.unsqueeze(0).shape == (1, 1) and x.permute == "own permute"
    assert "unsqueeze" in dir(x) and "permute" not in dir(x)


@pytest.mark.parametrize(("value", "spec", "text"), [
    ([2.5], ".3f", "2.500"), (2.5, "8.2f", "    2.50"), ([[7]], "03d", "007"),
    (True, "d", "1"), (1e-9, ".1e", "1.0e-09"), (1 + 2j, ".1f", "1.0+2.0j"),
])  # fmt: skip
def test_one_element_formats_as_its_number(value, spec, text):
    assert format(tessera.tensor(value), spec) == text


def test_several_elements_do_not():
    x = tessera.tensor([1.0, 2.0])
    assert f"{x}" == str(x)
    with pytest.raises(TypeError, match=r"format: tensor must have one element .* float32\[2\]"):
        format(x, ".3f")
    with pytest.raises(ValueError, match="Unknown format code"):
        format(tessera.tensor(1.5), "d")
