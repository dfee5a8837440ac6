"""tessera.Tensor: making, reading, operators, indexing, pickling."""

import copy
import gc
import pickle

import numpy as np
import pytest
import tessera

from tests.support.helper import floats


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (np.zeros(2), "float32"),
        (np.zeros(2, np.float32), "float32"),
        (np.zeros(2, np.float16), "float16"),
        (np.zeros(2, np.int64), "int32"),
        (np.zeros(2, np.int8), "int8"),
        (np.zeros(2, bool), "bool"),
        ([1, 2], "int32"),
        ([1.0, 2], "float32"),
        ([True], "bool"),
        (3, "int32"),
        (3.5, "float32"),
        ([[1, 2], [3, 4]], "int32"),
        ([], "float32"),
    ],
)
def test_default_dtypes(data, dtype):
    tensor = tessera.Tensor(data)
    assert tensor.dtype == dtype and tuple(tensor.shape) == np.shape(data)
    assert tensor.tolist() == np.asarray(data).tolist()


def test_dtype_argument_and_asarray():
    assert tessera.Tensor([1, 2], dtype="float64").dtype == "float64"
    assert tessera.tensor(np.arange(3), dtype=np.int64).dtype == "int64"
    assert tessera.asarray(np.zeros(2)).dtype == "float64"
    tensor = tessera.tensor([1.0])
    assert tessera.asarray(tensor) is tensor


@pytest.mark.parametrize(
    "name",
    [
        "float32",
        "float64",
        "float16",
        "int8",
        "uint8",
        "int64",
        "bool",
        "uint16",
        "uint32",
        "uint64",
    ],
)
def test_dtype_is_numpys(name):
    tensor = tessera.Tensor([0, 1], dtype=name)
    assert tensor.dtype == name and tensor.dtype == np.dtype(name) and tensor.dtype != "int16"
    assert tensor.dtype == getattr(np, name) == tensor.numpy().dtype
    assert tensor.dtype is getattr(tessera, "bool_" if name == "bool" else name)
    for form in (name, np.dtype(name), getattr(np, name), tensor.dtype):
        assert tessera.Tensor([0, 1]).astype(form).dtype == name
        assert np.zeros(2, dtype=tensor.dtype).dtype == tessera.functional.zeros(2, form).dtype


def test_bfloat16_is_that_of_ml_dtypes():
    import ml_dtypes

    tensor = tessera.Tensor([1.5], dtype="bfloat16")
    assert tensor.dtype == "bfloat16" and tensor.dtype == ml_dtypes.bfloat16
    assert tensor.dtype == tessera.bfloat16 == tensor.numpy().dtype
    assert tensor.astype(ml_dtypes.bfloat16).dtype == tensor.dtype


PROMOTION = [
    (lambda i, f: i + 1, "int32"),
    (lambda i, f: i + 1.5, "float32"),
    (lambda i, f: i / i, "float32"),
    (lambda i, f: i + f, "float32"),
    (lambda i, f: f.astype("float16") + f, "float32"),
    (lambda i, f: f.astype("float16") + 1.5, "float16"),
    (lambda i, f: f.astype("float16") + i, "float32"),
    (lambda i, f: (i > 0) + 1, "float32"),
    (lambda i, f: i.astype("int8") + i.astype("int16"), "int16"),
    (lambda i, f: i.astype("uint8") + 1, "uint8"),
    (lambda i, f: i.astype("uint8") + 1.5, "float32"),
    (lambda i, f: i // i, "int32"),
    (lambda i, f: i**2, "float32"),
    (lambda i, f: i > f, "bool"),
    (lambda i, f: tessera.functional.sqrt(i), "float32"),
    (lambda i, f: tessera.functional.maximum(i, f), "float32"),
    (lambda i, f: tessera.functional.where(i > 1, i, f), "float32"),
    (lambda i, f: tessera.functional.concat([i, f]), "float32"),
    (lambda i, f: i.sum(), "int32"),
    (lambda i, f: i.astype("uint8").sum(), "uint8"),
    (lambda i, f: (i > 0).sum(), "int32"),
    (lambda i, f: i.mean(), "float32"),
    (lambda i, f: f.astype("float16").sum(), "float16"),
    (lambda i, f: tessera.functional.argmax(f), "int32"),
    (lambda i, f: tessera.functional.round(f), "float32"),
    (lambda i, f: tessera.functional.arange(3), "float32"),
    (lambda i, f: tessera.functional.full((2,), 1), "int32"),
]


@pytest.mark.parametrize(("function", "dtype"), PROMOTION, ids=range(len(PROMOTION)))
def test_promotion(function, dtype):
    i, f = tessera.Tensor([1, 2, 3]), tessera.Tensor([1.0, 2.0, 3.0])
    assert function(i, f).dtype == dtype


BINARY = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("operator", BINARY)
def test_operators(operator):
    a, b = floats(2, 3, low=0.5), floats(3, seed=1, low=0.5)
    for x, y in ((a, b), (a, np.float32(2.5)), (np.float32(1.5), b)):
        tensors = [tessera.Tensor(v) if v.ndim else float(v) for v in (x, y)]
        got = eval(f"p {operator} q", {"p": tensors[0], "q": tensors[1]})
        np.testing.assert_allclose(
            got.numpy(), eval(f"p {operator} q", {"p": x, "q": y}), rtol=1e-6
        )


def test_integer_and_bool_operators():
    a, b = np.array([6, 5, -4], np.int32), np.array([3, 1, 2], np.int32)
    x, y = tessera.Tensor(a), tessera.Tensor(b)
    assert (x << y).tolist() == (a << b).tolist() and (x >> y).tolist() == (a >> b).tolist()
    p, q = x > 0, y > 1
    assert (p & q).tolist() == ((a > 0) & (b > 1)).tolist() and (~p).tolist() == (~(a > 0)).tolist()
    assert (p | q).tolist() == ((a > 0) | (b > 1)).tolist() and (p ^ q).tolist() == (
        (a > 0) ^ (b > 1)
    ).tolist()
    assert (-x).tolist() == (-a).tolist() and abs(x).tolist() == abs(a).tolist()


def test_matmul_operator():
    a, b = floats(2, 3), floats(3, 4)
    np.testing.assert_allclose((tessera.Tensor(a) @ tessera.Tensor(b)).numpy(), a @ b, rtol=1e-5)


def test_in_place_operators_leave_others_alone():
    x = y = tessera.Tensor([1.0, 2.0])
    z = tessera.Tensor([1.0, 2.0])
    view = z.reshape(2, 1)
    x += 1
    assert x.tolist() == [2.0, 3.0] and y.tolist() in ([1.0, 2.0], [2.0, 3.0])
    z *= 3
    assert z.tolist() == [3.0, 6.0] and view.tolist() == [[1.0], [2.0]]


def test_numpy_scalar_and_array_operands():
    x = tessera.Tensor([1.0, 2.0])
    assert (np.float32(2) * x).tolist() == [2.0, 4.0] and isinstance(
        np.float32(2) * x, tessera.Tensor
    )
    assert (np.array([1.0, 2.0], np.float32) + x).tolist() == [2.0, 4.0]


INDICES = [
    0,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(None, None, -1),
    None,
    ...,
    (0, 1),
    (slice(None), 2),
    (..., 0),
    (0, ..., 1),
    (None, 1),
    (slice(1, 1),),
    (slice(2, None, -2), slice(None), slice(3, 0, -1)),
    [2, 0],
    ([0, 2], [1, 1]),
    (slice(None), [2, 0, 1]),
    ([[0], [1]], [[0, 2]]),
    (0, slice(None), [1, 3]),
    ([0, 1], slice(None), [1, 3]),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_get_and_set(index):
    array = floats(3, 4, 5)
    tensor = tessera.Tensor(array)
    np.testing.assert_array_equal(tensor[index].numpy(), array[index])
    tensor[index] = 7.0
    array[index] = 7.0
    np.testing.assert_array_equal(tensor.numpy(), array)
    new = floats(*array[index].shape, seed=5)
    tensor[index] = tessera.Tensor(new)
    if not any(isinstance(i, list) for i in (index if isinstance(index, tuple) else [index])):
        array[index] = new
        np.testing.assert_array_equal(tensor.numpy(), array)


def test_boolean_masks():
    array = floats(3, 4)
    tensor = tessera.Tensor(array)
    np.testing.assert_array_equal(tensor[tensor > 0].numpy(), array[array > 0])
    np.testing.assert_array_equal(tensor[array > 0].numpy(), array[array > 0])
    tensor[tensor > 0] = 0
    assert tensor.numpy().max() <= 0
    assert tuple(tensor[tensor > 5].shape) == (0,)


@pytest.mark.parametrize("index", [3, -4, (0, 4), [0, 3], 1.5, "a", (0, 0, 0, 0)])
def test_wrong_indices(index):
    with pytest.raises((IndexError, TypeError, ValueError)):
        tessera.Tensor(floats(3, 4, 5))[index].numpy()


def test_views_share_until_written():
    tensor = tessera.Tensor(floats(4, 6))
    view, array = tensor[1:3].T, tensor.numpy()
    np.testing.assert_array_equal(view.numpy(), array[1:3].T)
    tensor[:] = 0
    assert tensor.numpy().any() == False  # noqa: E712


def test_methods_and_properties():
    x = tessera.Tensor(floats(2, 3))
    assert x.ndim == 2 and x.size == 6 and len(x) == 2 and x.device == "cpu0"
    assert (
        x.T.shape == (3, 2)
        and x.transpose(1, 0).shape == (3, 2)
        and x.reshape(3, -1).shape == (3, 2)
    )
    assert (
        x.reshape((6,)).shape == (6,)
        and x.flatten().shape == (6,)
        and x.astype("float64").dtype == "float64"
    )
    assert x.to("cpu0") is x and [row.shape for row in x] == [(3,), (3,)]
    assert x.max().item() == x.numpy().max() and x.prod(axis=0).shape == (3,)
    x.name = "x"
    assert x.name == "x" and hash(x) == hash(x) and {x: 1}[x] == 1
    x.reset_zero()
    assert not x.numpy().any()


def test_truth():
    assert bool(tessera.Tensor([1.0])) and not tessera.Tensor(0)
    with pytest.raises((ValueError, TypeError)):
        bool(tessera.Tensor([1.0, 2.0]))
    assert int(tessera.Tensor(3)) == 3 and float(tessera.Tensor([2.5])) == 2.5
    assert [10, 20, 30][tessera.Tensor(1)] == 20


def test_array_protocol():
    array = floats(2, 3)
    tensor = tessera.Tensor(array)
    assert np.asarray(tensor).dtype == np.float32 and np.array_equal(np.asarray(tensor), array)
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="__array__: copy must be allowed"):
        tensor.__array__(copy=False)
    copied = np.array(tensor)
    copied[:] = 0
    assert tensor.numpy().any()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "int64"])
def test_copy_and_pickle(dtype):
    tensor = tessera.Parameter(np.array([0, 1, 1]), dtype=dtype)
    tensor.name = "p"
    for other in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert type(other) is tessera.Parameter and other.dtype == dtype and other.name == "p"
        assert other.tolist() == tensor.tolist() and other is not tensor


def test_repr():
    assert repr(tessera.Tensor([1, 2])) == "Tensor([1, 2], dtype=int32, device=cpu0)"
    assert repr(tessera.Parameter([1.0])).startswith("Parameter([1.]")
    large = repr(tessera.Tensor(np.arange(2000)))
    assert "..." in large and len(large) < 200
    assert tessera.Tensor(floats(2))._repr_html_().startswith("<pre>Tensor(")


def test_values_do_not_follow_their_source():
    array = np.zeros(3, dtype=np.float32)
    tensor = tessera.Tensor(array)
    array[0] = 5
    got = tensor.numpy()
    got[1] = 6
    assert tensor.tolist() == [0, 0, 0]


def test_set_value():
    tensor = tessera.Tensor([1.0, 2.0])
    tensor.set_value([3.0, 4.0])
    assert tensor.tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match=r"set_value: shape must be \[2\], got \[3\]"):
        tensor.set_value([1.0, 2.0, 3.0])


def test_many_small_tensors_leave_nothing():
    from tessera.utils import counters

    tessera.sync()
    gc.collect()
    before = counters.memory()["in_use"]
    for _ in range(2000):
        tessera.Tensor([1.0, 2.0]) + 1
    tessera.sync()
    assert counters.memory()["in_use"] <= before + 4096


def test_equal_looking_calls_are_told_apart():
    """What arguments meant last time must not answer for others that hash or compare alike."""
    x = tessera.Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    n = x.numpy()
    pattern = [0, 2, 1]
    for _ in range(2):
        pattern.reverse()  # the same list, other content
        assert np.array_equal(x.transpose(pattern).numpy(), n.transpose(pattern))
        assert np.array_equal(x[1].numpy(), n[1])
        assert np.array_equal(x[1,].numpy(), n[1,])
        assert np.array_equal(x[None].numpy(), n[None])
        assert np.array_equal(x[:, 1].numpy(), n[:, 1])
        assert np.array_equal(x[1:].numpy(), n[1:])
        assert np.array_equal(x[..., 1:].numpy(), n[..., 1:])
        assert np.array_equal(x[1:, ...].numpy(), n[1:, ...])
        for axis in (0, -1, 1):
            assert np.array_equal(x.sum(axis).numpy(), n.sum(axis))
            assert np.array_equal(x[0].sum(axis).numpy(), n[0].sum(axis))
            assert x.sum(axis=axis, keepdims=True).shape == n.sum(axis=axis, keepdims=True).shape
        assert x.astype("float64").dtype == np.float64
        assert x.astype("int32").dtype == np.int32
        assert x.astype(np.float16).dtype == np.float16
        with pytest.raises(TypeError, match="sum: axis must"):
            x.sum(axis=1.0)
        with pytest.raises(IndexError, match="getitem: index must be in"):
            x[2]
        assert np.array_equal(x[True].numpy(), n[True])


def test_views_of_views_start_where_theirs_do():
    """A layout is looked at once; the second view of an equal layout lies elsewhere in memory."""
    x = tessera.Tensor(np.arange(60, dtype=np.int32).reshape(5, 4, 3))
    n = x.numpy()
    for row in range(5):
        view, expected = x[row], n[row]
        assert np.array_equal(view.T.numpy(), expected.T)
        assert np.array_equal(view[1:, ::2].numpy(), expected[1:, ::2])
        assert np.array_equal(view.T.reshape(12).numpy(), expected.T.reshape(12))  # needs a copy
        assert np.array_equal(view.reshape(2, 6)[1].numpy(), expected.reshape(2, 6)[1])
