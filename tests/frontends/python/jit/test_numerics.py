"""numerics="fast": what is rewritten, how far results move, and that nothing else does."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.utils.network import Network

from tests.support.helper import bits, floats, num_threads

ROUNDING = 2.0**-24


class Block(M.Module):
    """A convolution, a batch normalisation and a scale, with numbers that no default has."""

    def __init__(self, bias=True, groups=1, transposed=False):
        super().__init__()
        tessera.seed(7)
        kind = M.ConvTranspose2d if transposed else M.Conv2d
        self.conv, self.bn = kind(4, 6, 3, bias=bias, groups=groups), M.BatchNorm2d(6)
        for number, name in enumerate(("weight", "bias", "running_mean", "running_var")):
            like = getattr(self.bn, name)
            like[...] = floats(*like.shape, seed=number) ** 2 + 0.5
        self.eval()

    def forward(self, x):
        return F.relu(self.bn(self.conv(x))) / 3.0


def image(seed=1):
    return tessera.Tensor(floats(2, 4, 7, 5, seed=seed))


def run(function, *args, **options):
    """(result of the compiled program, the trace)."""
    traced = jit.trace(function, **options)
    traced(*args)
    return traced(*args), traced


def rewrites(traced):
    """The lines of explain() that tell what was rewritten, without places."""
    lines = [line.strip() for line in traced.explain().splitlines()]
    return [line[6:].split(" (at ")[0].split(" of ")[0] for line in lines if line[:6] == "fast: "]


def magnitude(net, x):
    """Magnitude of the sums that a Block gives: the network of absolute values, in float64."""
    weight, bn = np.abs(net.conv.weight.numpy()).astype("float64"), net.bn
    bias = 0 if net.conv.bias is None else np.abs(net.conv.bias.numpy()).astype("float64")
    kind = F.conv_transpose2d if isinstance(net.conv, M.ConvTranspose2d) else F.conv2d
    groups = net.conv.groups
    sums = kind(
        tessera.Tensor(np.abs(x.numpy()).astype("float64")), tessera.Tensor(weight), groups=groups
    )
    scale = np.abs(bn.weight.numpy()) / np.sqrt(bn.running_var.numpy().astype("float64") + bn.eps)
    rest = np.abs(bn.bias.numpy()) + np.abs(bn.running_mean.numpy()) * scale
    return ((sums.numpy() + bias) * scale + rest) / 3


@pytest.mark.parametrize(
    "options", [{}, {"bias": False}, {"groups": 2}, {"transposed": True}], ids=str
)
def test_batch_norm_goes_into_the_convolution(options):
    net, x = Block(**options), image()
    strict, plain = run(net, x, capture_as_const=True)
    fast, traced = run(net, x, capture_as_const=True, numerics="fast")
    assert bits(strict) == bits(net(x)), "the default must keep every bit"
    assert rewrites(plain) == []
    name = "conv_transpose2d" if options.get("transposed") else "conv2d"
    assert sorted(rewrites(traced)) == [
        "batch_norm_inference: folded into the weight",
        *["batch_norm_inference: term joined to that"] * options.get("bias", True),
        "div: division by a constant became a product with its reciprocal",
    ]
    assert f"folded into the weight of {name} of " in traced.explain()
    assert "test_numerics.py" in traced.explain()
    summed = net.conv.weight.shape[-3] * 9
    bound = (2 * summed + 8) * ROUNDING * magnitude(net, x)
    assert (np.abs(fast.numpy() - strict.numpy()) <= bound).all()
    assert bits(fast) != bits(strict)


def test_a_batch_norm_in_training_stays():
    net, x = Block(), image()
    net.train()
    _, traced = run(lambda x: net.bn(net.conv(x)), x, numerics="fast")
    assert "folded" not in traced.explain()


def test_a_linear_layer_takes_scales_of_both_sides():
    weight, bias = tessera.Tensor(floats(5, 3)), tessera.Tensor(floats(5, seed=1))
    scale = tessera.Tensor(floats(5, seed=2) + 3)
    x = tessera.Tensor(floats(4, 3, seed=3))

    def layer(x):
        return F.linear(x * 0.1, weight, bias) * scale

    fast, traced = run(layer, x, capture_as_const=True, numerics="fast")
    assert rewrites(traced) == ["mul: folded into the weight"] * 2
    exact = lambda sign: (sign(x) @ sign(weight).T * 0.1 + sign(bias)) * sign(scale)  # noqa: E731
    wide = exact(lambda t: t.numpy().astype("float64"))
    most = exact(lambda t: np.abs(t.numpy().astype("float64")))
    assert (np.abs(fast.numpy() - wide) <= 10 * ROUNDING * most).all()


def test_numbers_join():
    x = tessera.Tensor(floats(1000) * 100)
    fast, traced = run(lambda x: x * 0.1 * 0.3 / 7.0, x, numerics="fast")
    wide = x.numpy().astype("float64")
    exact = wide * float(np.float32(0.1)) * float(np.float32(0.3)) / 7
    assert (np.abs(fast.numpy() - exact) <= 4 * ROUNDING * np.abs(exact)).all()
    assert sorted(rewrites(traced)) == [
        "div: division by a constant became a product with its reciprocal",
        "mul: factor joined to that",
        "mul: factor joined to that",
    ]
    fast, traced = run(lambda x: x + 0.1 - 0.3 + 7.0, x, numerics="fast")
    assert (np.abs(fast.numpy() - (wide + 6.8)) <= 4 * ROUNDING * (np.abs(wide) + 8)).all()
    assert len(rewrites(traced)) == 2


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_shorter_forms(name):
    function, x = getattr(F, name), tessera.Tensor(floats(100_000) * 10)
    exact = {"tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}[name](
        x.numpy().astype("float64")
    )
    fast, traced = run(function, x, numerics="fast")
    assert rewrites(traced) == [f"{name}: {name} in its shorter form"]
    assert (np.abs(fast.numpy() - exact) <= 2.5 * np.spacing(np.abs(exact).astype("float32"))).all()
    assert bits(run(function, x)[0]) == bits(function(x)) != bits(fast)
    wide = x.astype("float64")
    assert bits(run(function, wide, numerics="fast")[0]) == bits(function(wide))


def test_threads_change_no_bit_of_a_fast_program():
    net, x = Block(), image()

    def gated(x):
        y = net.bn(net.conv(x)) / 3.0
        return (y * F.sigmoid(y) + F.tanh(y)).sum()

    found = []
    for count in (1, 2, 3):
        with num_threads(count):
            found.append(bits(run(gated, x, capture_as_const=True, numerics="fast")[0]))
    assert found[0] == found[1] == found[2]


def test_the_context_is_part_of_the_key():
    x = tessera.Tensor(floats(50))
    third = jit.trace(lambda x: x / 3.0 / 7.0)
    strict = x / 3.0 / 7.0
    for _ in range(2):
        assert bits(third(x)) == bits(strict)
    with jit.numerics("fast"):
        for _ in range(2):
            fast = third(x)
        with jit.numerics("strict"):
            assert bits(third(x)) == bits(strict)
    assert bits(fast) != bits(strict) and bits(third(x)) == bits(strict)
    assert len(rewrites(third)) == 3

    @jit.numerics("fast")
    def decorated():
        return third(x)

    assert bits(decorated()) == bits(fast)


def test_a_trace_decides_before_the_context():
    x = tessera.Tensor(floats(50))
    with jit.numerics("fast"):
        strict, traced = run(lambda x: x / 3.0 / 7.0, x, numerics="strict")
    assert rewrites(traced) == [] and bits(strict) == bits(x / 3.0 / 7.0)


def test_gradients_are_those_of_the_function():
    net, x = Block(), image()

    def loss(x):
        return (net(x) * 0.3 / 7.0).sum()

    def gradients(function):
        for _ in range(3):
            x.grad = None
            with GradManager().attach([x]) as manager:
                manager.backward(function(x))
        return x.grad.numpy()

    fast = jit.trace(loss, numerics="fast")
    expected, got = gradients(loss), gradients(fast)
    assert rewrites(fast), "the program forwards and the one backwards have factors to join"
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    assert bits(gradients(jit.trace(loss))) == bits(expected)


@pytest.mark.parametrize("allow_code", [False, True])
def test_a_file_keeps_its_numerics(tmp_path, allow_code):
    net, x = Block(), image()
    fast, traced = run(net, x, capture_as_const=True, numerics="fast")
    traced.dump(tmp_path / "fast.tess")
    assert bits(jit.load(tmp_path / "fast.tess", allow_code=allow_code)(x)) == bits(fast)
    edited = Network.load(tmp_path / "fast.tess")
    edited.dump(tmp_path / "again.tess")
    assert bits(jit.load(tmp_path / "again.tess", allow_code=allow_code)(x)) == bits(fast)


def test_parts_left_out_leave_programs_with_numerics():
    x = tessera.Tensor(floats(50))

    @jit.trace(numerics="fast")
    def parted(x):
        y = x / 3.0 / 7.0
        with jit.exclude_from_trace():
            assert y.shape == (50,)
        return y

    for _ in range(3):
        y = parted(x)
    assert bits(y) == bits(run(lambda x: x / 3.0 / 7.0, x, numerics="fast")[0])


@pytest.mark.parametrize("wrong", ["quick", "", 3, None])
def test_unknown_numerics(wrong):
    text = "numerics must be 'strict' or 'fast', got '"
    with pytest.raises(ValueError, match=f"^numerics: {text}{wrong}'$"):
        jit.numerics(wrong)
    if wrong is not None:
        with pytest.raises(ValueError, match=f"^trace: {text}{wrong}'$"):
            jit.trace(lambda x: x, numerics=wrong)
