"""One way to test an example: its training eagerly and traced, gradients, its file, its command."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import training
from tessera import jit
from tessera.autodiff import GradManager
from tessera.utils.module_utils import set_expand_structure

from tests.support.helper import as_list, bits

TOOL = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
DIRECTIONS = 6  # parameters whose gradients are looked at by themselves


def widened(arrays):
    """Floats as float64."""
    return [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]


def wide_tensors(arrays):
    """Tensors of the arrays, floats as float64."""
    return [tessera.Tensor(a, dtype=a.dtype.name) for a in widened(arrays)]


def widen(model):
    """Parameters and buffers of float64, with the same values."""
    model.replace_param([each.astype("float64") for each in model.parameters()])
    for name, buffer in list(model.named_buffers()):
        if buffer.dtype == "float32":
            set_expand_structure(model, name, buffer.astype("float64"))
    return model


def directions(parameters, random):
    """Of length 1: in which all parameters change, and each of some."""
    changes = [random.standard_normal(each.shape) for each in parameters]
    chosen = np.unique(np.linspace(0, len(parameters) - 1, DIRECTIONS).astype(int))
    for name, kept in [("all", range(len(parameters))), *((each, [each]) for each in chosen)]:
        change = [each * (i in kept) for i, each in enumerate(changes)]
        length = np.sqrt(sum((each**2).sum() for each in change))
        yield name, [each / length for each in change]


@pytest.mark.filterwarnings("error")  # that a trace runs eagerly is one
class Example:
    """The tests of an example. A subclass has `module`, a small `make`, and may have other numbers.

    `inference(model)` is the function that is dumped, `arguments(seed, count)` are arrays for it.
    """

    module = None
    steps, count = 12, 8  # of two batches in turn
    learns = 0.7  # the last losses are below `learns` * the first
    batches = (1, 3, 8)
    quick = ("--steps", "2", "--count", "4")

    @classmethod
    def make(cls):
        """A small model."""
        raise NotImplementedError

    @classmethod
    def parameters(cls, model):
        """What the loss has gradients for."""
        return list(model.parameters())

    @classmethod
    def inference(cls, model):
        """What the file computes."""
        return model.eval()

    @classmethod
    def arguments(cls, seed, count):
        """Arrays for the file."""
        return cls.module.batch(seed, count)[: len(cls.module.INPUTS)]

    @classmethod
    def model(cls):
        """The same one at each call."""
        tessera.random.seed(7)
        return cls.make()

    @classmethod
    def trained(cls, traced):
        """The model, and the bits of each step's losses."""
        model = cls.model()
        step = cls.module.training_step(model)
        step = jit.trace(step, symbolic=True) if traced else step
        batches = [training.tensors(cls.module.batch(seed, cls.count)) for seed in (0, 1)]
        losses = [as_list(step(*batches[number % 2])) for number in range(cls.steps)]
        return model, [[loss.item() for loss in each] for each in losses]

    @pytest.fixture(scope="class")
    @classmethod
    def eager(cls):
        """The model after its training, and its losses."""
        return cls.trained(traced=False)

    @pytest.fixture(scope="class")
    @classmethod
    def file(cls, eager, tmp_path_factory):
        """The trained model's file."""
        path = tmp_path_factory.mktemp("example") / "model.tess"
        arrays = cls.arguments(0, 4)
        function = cls.inference(eager[0])
        training.dump(function, cls.module.INPUTS, arrays, path, targets=["host", "sim"])
        return path

    @classmethod
    def expected(cls, model, count):
        """What the model gives."""
        with tessera.no_grad():
            return bits(cls.inference(model)(*training.tensors(cls.arguments(1, count))))

    def test_the_loss_falls(self, eager):
        losses = np.array(eager[1])[:, 0]
        assert np.isfinite(losses).all()
        assert losses[-2:].mean() < self.learns * losses[:2].mean(), losses

    def test_a_trace_gives_the_bits(self, eager):
        model, losses = self.trained(traced=True)
        assert losses == eager[1]
        state, expected = (each.state_dict() for each in (model, eager[0]))
        changed = [name for name in expected if bits(state[name]) != bits(expected[name])]
        assert state.keys() == expected.keys() and changed == []

    def test_gradients_are_those_of_finite_differences(self):
        """In float64, along directions in which one parameter changes, or all do."""
        model, random = widen(self.model()), np.random.RandomState(3)
        batch = wide_tensors(self.module.batch(0, self.count))
        parameters = self.parameters(model)

        def value():
            tessera.random.seed(5)
            return self.module.loss(model, *batch)

        with GradManager().attach(parameters) as manager:
            manager.backward(value())
        start = [each.numpy() for each in parameters]
        grads = [each.grad.numpy() for each in parameters]
        for name, change in directions(parameters, random):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a + step * b for a, b in zip(start, change, strict=True)]
                for parameter, array in zip(parameters, moved, strict=True):
                    parameter[...] = tessera.Tensor(array, dtype="float64")
                ends.append(value().item())
            expected = (ends[0] - ends[1]) / 2e-6
            got = sum((a * b).sum() for a, b in zip(grads, change, strict=True))
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7, err_msg=str(name))

    @pytest.mark.parametrize("allow_code", [False, True])
    def test_python_gives_the_bits_of_the_file(self, eager, file, allow_code):
        program = jit.load(file, allow_code=allow_code)
        for count in self.batches:
            results = program(*training.tensors(self.arguments(1, count)))
            assert bits(results) == self.expected(eager[0], count), count

    @pytest.mark.parametrize("device", ["cpu0", "sim0"])
    def test_cpp_gives_the_bits_of_the_file(self, eager, file, device, tmp_path):
        outputs = {name: tmp_path / f"{name}.npy" for name in jit.load(file).outputs}
        for count in self.batches:
            command = [TOOL, file, f"--device={device}"]
            arrays = self.arguments(1, count)
            for name, array in zip(self.module.INPUTS, arrays, strict=True):
                np.save(tmp_path / f"{name}_in.npy", array)
                command.append(f"--input={name}={tmp_path}/{name}_in.npy")
            command += [f"--output={name}={path}" for name, path in outputs.items()]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            got = bits([np.load(path) for path in outputs.values()])
            assert got == self.expected(eager[0], count), count

    def test_its_command(self, tmp_path, capsys):
        """Trains a little and writes a file that can be opened."""
        path = tmp_path / "written.tess"
        self.module.main([*self.quick, "--dump", str(path)])
        assert "step 1: loss" in capsys.readouterr().out
        assert [each[0] if isinstance(each, tuple) else each
                for each in jit.load(path).inputs] == list(self.module.INPUTS)  # fmt: skip
