"""Programs on sim0, the emulated accelerator: loops, sizes that data decides, training, files."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit, optimizer
from tessera.autodiff import GradManager

from tests.frontends.python.functional import test_scan
from tests.frontends.python.sizes import test_data_sizes
from tests.support.helper import default_device, flat, floats, same_bits
from tests.support.networks import Net
from tests.support.optimizer_formulas import FORMULAS

SIM = "sim0"


def on_both(function, *args):
    """The results of `function` on the host and on sim0, where new tensors lie on each."""
    results = []
    for device in ("cpu0", SIM):
        with default_device(device):
            results.append(function(*args))
    assert all(each.device == SIM for each in flat(results[1]))
    assert same_bits(*map(flat, results))
    return results[1]


def traced_calls(function, make, calls=3):
    """What each call of a trace gives for make(number)."""
    traced = jit.trace(function)
    return [flat(traced(*make(number))) for number in range(calls)]


def xs(number=0, steps=test_scan.STEPS):
    return test_scan.tensor(steps, test_scan.BATCH, test_scan.INPUT, seed=number)


def test_lstm_by_scan_is_pythons_loop_forwards():
    def run():
        _, step = test_scan.cell()
        loop = test_scan.by_python(step, test_scan.start(), list(xs()))
        scans = traced_calls(lambda x: F.scan(step, test_scan.start(), x), lambda _: [xs()])
        assert all(same_bits(each, flat(loop)) for each in scans)
        return loop

    on_both(run)


def test_lstm_by_scan_is_pythons_loop_backwards():
    def run():
        net, step = test_scan.cell()
        weight = test_scan.tensor(test_scan.STEPS, test_scan.BATCH, test_scan.HIDDEN, seed=2)
        start, steps = test_scan.start(), range(test_scan.STEPS)

        def gradients(loop, x, weight):
            return test_scan.gradients(net, loop, x, weight)

        by_hand = gradients(
            lambda x: test_scan.by_python(step, start, [x[i] for i in steps]), xs(), weight
        )
        eager = gradients(lambda x: F.scan(step, start, x), xs(), weight)
        assert same_bits(eager[:-1], by_hand[:-1])
        np.testing.assert_array_equal(eager[-1].numpy(), by_hand[-1].numpy())  # -0.0 apart
        for each in traced_calls(
            lambda x, w: gradients(lambda x: F.scan(step, start, x), x, w),
            lambda _: [xs(), weight],
        ):
            assert same_bits(each, eager)
        return eager

    on_both(run)


LOOPS = {
    "a branch": lambda x: F.cond(x.sum() > 0, lambda y: y * 2, lambda y: F.exp(y) - y, x),
    "a guarded loop": lambda x: F.while_loop(
        lambda n, y: n < 3, lambda n, y: (n + 1, y * 1.5), F.full((), 0), x
    )[1],
    "loops in loops": lambda x: F.scan(
        lambda h, y: (F.scan(lambda k, z: (k * 0.5 + z, k), h.sum(), y)[0] * h, h.sum()), x[0], x
    ),
    "random numbers": lambda x: F.scan(lambda h, y: (F.dropout(h + y, 0.5), h), x[0], x),
    "no trips": lambda x: F.scan(lambda h, y: (h + y, h), x[0], x[:0]),
    "backwards": lambda x: F.scan(lambda h, y: (F.tanh(h + y), h * y), x[0], x, reverse=True),
}


@pytest.mark.parametrize("what", LOOPS)
def test_loops(what):
    def run():
        tessera.seed(5)
        eager = [flat(LOOPS[what](test_scan.tensor(4, 6, seed=number))) for number in range(3)]
        tessera.seed(5)
        assert same_bits(
            flat(traced_calls(LOOPS[what], lambda number: [test_scan.tensor(4, 6, seed=number)])),
            flat(eager),
        )
        return eager

    on_both(run)


@pytest.mark.parametrize("what", LOOPS)
def test_loops_where_the_default_device_is_another(what):
    tessera.seed(5)
    want = flat(LOOPS[what](test_scan.tensor(4, 6)))
    tessera.seed(5)
    if what == "a guarded loop":  # it starts with a number on the default device
        with pytest.raises(ValueError, match="on one device"):
            jit.trace(LOOPS[what])(test_scan.tensor(4, 6).to(SIM))
        return
    traced = jit.trace(LOOPS[what])
    got = flat(traced(test_scan.tensor(4, 6).to(SIM)))
    assert all(each.device == SIM for each in got)
    assert same_bits(got, want)


@pytest.mark.parametrize("what", test_data_sizes.FUNCTIONS)
def test_sizes_that_data_decides(what):
    function = test_data_sizes.FUNCTIONS[what]

    def run():
        tessera.random.seed(3)
        eager = [flat(function(test_data_sizes.rows(n + 4, n))) for n in range(3)]
        tessera.random.seed(3)
        traced = traced_calls(function, lambda n: [test_data_sizes.rows(n + 4, n)])
        assert same_bits(flat(traced), flat(eager))
        return eager

    on_both(run)


def detect(scores, boxes):
    """Boxes above a threshold, the four best of them, and their coordinates."""
    kept = F.non_zero(scores > 0.25).flatten()
    best, order = F.topk(scores[kept], 4, descending=True)
    return best, boxes[kept[order]] * 2


def test_a_detector_head_with_a_free_number_of_boxes(tmp_path):
    def make(number):
        count = 20 + 7 * number
        scores = floats(count, seed=number, low=0, high=1)
        return tessera.Tensor(scores), tessera.Tensor(floats(count, 4, seed=number))

    def run():
        eager = [flat(detect(*make(number))) for number in range(5)]
        assert same_bits(flat(traced_calls(detect, make, 5)), flat(eager))
        head = jit.trace(detect, capture_as_const=True)
        head(*make(0))
        free = jit.Dim("boxes", 8, 512)
        dims = {"scores": {0: free}, "boxes": {0: free}}
        head.dump(tmp_path / "head.tess", arg_names=["scores", "boxes"], dims=dims, targets=[])
        program = jit.load(tmp_path / "head.tess")
        assert same_bits([flat(program(*make(n))) for n in range(5)][4], eager[4])
        return eager

    on_both(run)


def losses_of(name, device):
    """Five steps of training a parameter on `device`, whatever the default one is."""
    w = tessera.Parameter(floats(6, 3, seed=1), device=device)
    x = tessera.Tensor(floats(5, 6, seed=2), device=device)
    opt = getattr(optimizer, name)([w], lr=0.01)
    gm, found = GradManager().attach([w]), []
    for _ in range(12):  # so many that the update becomes a program
        with gm:
            loss = (F.tanh(x @ w) ** 2).sum()
            gm.backward(loss)
        optimizer.clip_grad_norm([w], 1.0)
        opt.step().clear_grad()
        found.append(loss)
    state = [each for own in opt._state.values() for each in own.values()]
    return [*found, w, *state]


@pytest.mark.parametrize("name", FORMULAS)
def test_optimizers_follow_their_parameters(name):
    got = losses_of(name, SIM)
    assert all(each.device == SIM for each in got)
    assert same_bits(got, losses_of(name, "cpu0"))


class Training:
    """A network with dropout, its optimizer and a traced step, on one device."""

    def __init__(self, device):
        with default_device(device):
            self.device, self.net = device, Net()
            self.opt = optimizer.Adam(self.net.parameters(), lr=0.1)
            self.gm = GradManager().attach(self.net.parameters())
        self.step = jit.trace(self._step)

    def _step(self, x):
        with self.gm:
            loss = (self.net(x) ** 2).mean()
            self.gm.backward(loss)
        self.opt.step().clear_grad()
        return loss

    def run(self, seeds):
        data = [tessera.Tensor(floats(4, 6, seed=seed), device=self.device) for seed in seeds]
        return [self.step(x).item() for x in data]

    def save(self, file):
        with default_device(self.device):
            state = {"net": self.net.state_dict(), "opt": self.opt.state_dict(),
                     "random": tessera.random.default_rng.state_dict()}  # fmt: skip
        tessera.save(state, file)

    def load(self, file):
        with default_device(self.device):
            saved = tessera.load(file)
            tessera.random.default_rng.load_state_dict(saved["random"])
        self.net.load_state_dict(saved["net"])
        self.opt.load_state_dict(saved["opt"])
        return self


@pytest.mark.parametrize(("first", "second"), [("cpu0", SIM), (SIM, "cpu0"), (SIM, SIM)])
def test_a_checkpoint_goes_on_on_either_device(first, second, tmp_path):
    file = str(tmp_path / "step.ckpt")
    tessera.seed(2)
    want = Training("cpu0").run(range(9))
    tessera.seed(2)
    training = Training(first)
    got = training.run(range(4))
    training.save(file)
    assert got + Training(second).load(file).run(range(4, 9)) == want


def test_a_file_runs_on_either_device(tmp_path):
    net, path = Net().eval(), tmp_path / "net.tess"
    infer = jit.trace(lambda x: net(x), capture_as_const=True)
    infer(tessera.Tensor(floats(4, 6)))
    free = {"x": {0: jit.Dim("batch", 1, 64)}}
    infer.dump(path, arg_names=["x"], dims=free, targets=["host", "sim"])
    for options in ({}, {"allow_code": True}):
        for device in ("cpu0", SIM):
            with default_device(device):
                program = jit.load(path, **options)
                for count in (1, 4, 9):
                    x = floats(count, 6, seed=count)
                    got = program(tessera.Tensor(x))
                    assert got.device == device
                    assert same_bits(got, net(tessera.Tensor(x, device="cpu0")))
    with pytest.raises(ValueError, match="tensors must be on sim0, for which the program is"):
        program(tessera.Tensor(x, device="cpu0"))


def test_a_file_of_a_function_recorded_on_sim0(tmp_path):
    """The checks of a dump record the function again, where its arguments were."""
    x = tessera.Tensor(floats(4, 6), device=SIM)
    traced = jit.trace(lambda x: F.dropout(x, 0.0) + F.zeros(6, device=x.device),
                       capture_as_const=True)  # fmt: skip
    want = traced(x)
    free = {"x": {0: jit.Dim("n", 1, 64)}}
    traced.dump(tmp_path / "p.tess", arg_names=["x"], dims=free)
    assert same_bits(jit.load(tmp_path / "p.tess")(tessera.Tensor(floats(4, 6))), want)


def test_gradients_of_second_order():
    def run():
        w = tessera.Parameter(floats(3, seed=1))
        outer, inner = GradManager().attach([w]), GradManager().attach([w])
        with outer:
            with inner:
                inner.backward((F.sin(w) * w).sum())
            grad, w.grad = w.grad, None
            outer.backward((grad * grad).sum())
        return [grad, w.grad]

    on_both(run)


@pytest.mark.parametrize("dtype", [
    "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float64", "complex64",
    "complex128", "float8_e4m3fn", "float8_e5m2", "bool", "int64", "intb4",
])  # fmt: skip
def test_dtypes_there_and_back(dtype):
    values = np.arange(12).reshape(3, 4) % 2 if dtype == "bool" else np.arange(12).reshape(3, 4)
    values = values | 1 if dtype == "intb4" else values

    def run():
        x = tessera.Tensor(values, dtype=dtype)
        wide = "complex128" if dtype.startswith("complex") else "float64"
        function = jit.trace(lambda x: (x.T[1:], F.concat([x, x]), x.astype(wide)))
        results = [function(x) for _ in range(2)]
        return [x, *flat(results)]

    there = on_both(run)[0]
    assert same_bits(there.to("cpu0"), tessera.Tensor(values, dtype=dtype))
