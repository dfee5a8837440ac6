"""trace_module: what is refused or told, and that nothing is changed or left behind then."""

import threading
import warnings

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit

from tests.frontends.python.traced_module.nets import check_traced, floats, net


def _check_usable():
    check_traced(net(lambda self, x: F.relu(self.linear(x)), linear=M.Linear(3, 3)), floats(2, 3))
    assert F.relu(ts.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]


def _warnings(forward, *args, **attributes):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        traced = tm.trace_module(net(forward, **attributes), *args)
    return traced, found


def test_control_flow_by_data():
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(
        RuntimeError,
        match=r"^trace_module: control flow must not depend on the values of tensors, got bool\(\) "
        r"of gt_out at test_bad_modules.py:\d+: if x.sum\(\) > 0:",
    ):
        tm.trace_module(net(forward), floats(3))
    _check_usable()


def test_a_number_of_a_tensor():
    _, found = _warnings(lambda self, x: x * x.sum().item(), floats(3))
    (warning,) = found
    assert str(warning.message).startswith(
        "trace_module: item() of a tensor is a constant of the graph (test_bad_modules.py:"
    )
    assert warning.filename.endswith("test_bad_modules.py")


@pytest.mark.parametrize(
    "read, text",
    [
        (lambda x: float(x.sum()), "__float__() of a tensor"),
        (lambda x: x.tolist()[0], "tolist() of a tensor"),
        (lambda x: x.numpy().max(), "numpy() of a tensor"),
        (lambda x: 1 if x.shape[0] > 2 else 2, "a comparison with 3, a size"),
        (lambda x: sum(1 for _ in range(x.shape[0])), "3, a size is a constant"),
        (lambda x: int(x.shape[0]), "3, a size is a constant"),
        (lambda x: np.zeros(x.shape[0], np.float32), "3, a size is a constant"),
        (lambda x: [1, 2, 3, 4][x.shape[0]], "3, a size is a constant"),
    ],
)
def test_constants_are_told(read, text):
    _, found = _warnings(lambda self, x: x * read(x), floats(3))
    assert text in str(found[0].message)


def test_a_mode_that_python_reads():
    _, found = _warnings(lambda self, x: x * 2 if self.training else x, floats(3))
    assert "training=True of a module is a constant" in str(found[0].message)


def test_a_tensor_from_outside():
    outside = floats(3)
    traced, found = _warnings(lambda self, x: x + outside, floats(3))
    assert "a tensor from outside of the module is a constant" in str(found[0].message)
    assert traced(floats(3)).tolist() == (floats(3) * 2).tolist()


def test_a_module_from_outside():
    outside = M.Linear(3, 3)
    traced, found = _warnings(lambda self, x: outside(x), floats(2, 3))
    assert "a module from outside of the module is a constant" in str(found[0].message)
    assert traced(floats(2, 3)).tolist() == outside(floats(2, 3)).tolist()


def test_an_attribute_that_python_changes():
    def forward(self, x):
        self.calls = self.calls + 1
        return x * self.calls

    module = net(forward, calls=0)
    with pytest.warns(RuntimeWarning, match="a change of Net.calls is a constant"):
        tm.trace_module(module, floats(3))
    assert module.calls == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda self, x: self.list.append(x),
        lambda self, x: self.list.pop(),
        lambda self, x: self.table.update(b=x),
        lambda self, x: self.table.__setitem__("b", x),
    ],
)
def test_a_container_that_gets_other_items(change):
    module = net(change, list=[floats(2)], table={"a": floats(2)})
    with pytest.raises(
        RuntimeError,
        match=r"^trace_module: attributes of tensors, and the number of items in containers, must "
        r"stay as they are, got a change of Net.(list|table) at ",
    ):
        tm.trace_module(module, floats(2))
    assert len(module.list) == len(module.table) == 1
    _check_usable()


def test_a_container_of_no_tensors_that_python_changes():
    def forward(self, x):
        self.log.append(x * 2)
        return x + self.log[-1]

    module = net(forward, log=[])
    with pytest.warns(RuntimeWarning, match="a change of Net.log is a constant"):
        tm.trace_module(module, floats(3))
    assert module.log == []


def test_recursion():
    with pytest.raises(
        RecursionError, match=r"^trace_module: a module must not call itself, got Net"
    ):
        tm.trace_module(net(lambda self, x: self(x)), floats(3))
    _check_usable()


def test_a_tensor_of_another_module():
    box = []
    inner = net(lambda self, x: box.append(x * 2) or x)
    with pytest.raises(
        RuntimeError, match=r"^trace_module: a tensor must be used in the module that made it"
    ):
        tm.trace_module(net(lambda self, x: self.inner(x) + box[0], inner=inner), floats(2))
    _check_usable()


def test_an_argument_of_an_unknown_type():
    class Unknown:
        pass

    @tm.wrap
    def function(x, unknown):
        return x

    with pytest.raises(
        TypeError, match=r"^trace_module: arguments of recorded calls must be .*, got Unknown at "
    ):
        tm.trace_module(net(lambda self, x: function(x, Unknown())), floats(2))
    _check_usable()


@pytest.mark.parametrize("linear, error", [(M.Linear(4, 3), ValueError), (None, TypeError)])
def test_errors_of_the_module(linear, error):
    with pytest.raises(error):
        tm.trace_module(net(lambda self, x: self.linear(x), linear=linear), floats(2, 3))
    _check_usable()


def test_an_error_of_the_user():
    def forward(self, x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tm.trace_module(net(forward), floats(2))
    _check_usable()


def test_a_module_that_traces():
    def forward(self, x):
        return tm.trace_module(self.linear, x)(x)

    with pytest.raises(RuntimeError, match=r"^trace_module: a thread must record one module"):
        tm.trace_module(net(forward, linear=M.Linear(3, 3)), floats(2, 3))
    _check_usable()


def test_within_a_traced_function():
    traced = jit.trace(lambda x: tm.trace_module(M.ReLU(), x)(x))
    with pytest.raises(RuntimeError, match=r"^trace_module: it must not be called in a traced"):
        traced(floats(2))
    _check_usable()


@pytest.mark.parametrize("module", [None, F.relu, M.ReLU])
def test_what_is_no_module(module):
    with pytest.raises(TypeError, match=r"^trace_module: mod must be a module, got "):
        tm.trace_module(module, floats(2))


def test_other_arguments_than_recorded():
    def forward(self, pair, mask=None):
        return pair[0] if mask is None else pair[0] * mask

    traced = tm.trace_module(net(forward), (floats(2), floats(2)))
    with pytest.raises(ValueError, match=r"^Net: pair must be as it was recorded, \(a tensor, a "):
        traced((floats(2),))
    with pytest.raises(ValueError, match=r"^Net: mask must be as it was recorded, None, got "):
        traced((floats(2), floats(2)), floats(2))
    with pytest.raises(TypeError):
        traced()


def test_a_stand_in_that_is_kept():
    kept = []
    tm.trace_module(net(lambda self, x: kept.append(x) or x), ts.tensor([1.0, -1.0]))
    (stand_in,) = kept
    assert isinstance(stand_in, ts.Tensor)
    assert (stand_in + 1).tolist() == [2.0, 0.0] and F.relu(stand_in).tolist() == [1.0, 0.0]


def test_threads():
    errors = []

    def run(number):
        try:
            for _ in range(5):
                layers = [M.Linear(3, 3) for _ in range(number + 1)]
                module = net(lambda self, x: F.relu(self.inner(x)) + 1, inner=M.Sequential(*layers))
                traced = check_traced(module, floats(2, 3))
                assert traced.graph.exprs().as_count() == 2 * number + 6
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: tm.wrap(3), "wrap: func must be a function written in Python, got 3"),
        (lambda: tm.register_as_builtin(int), "register_as_builtin: mod_cls must be a class of"),
        (lambda: tm.register_supported_type(3), "register_supported_type: type must be a class"),
        (
            lambda: tm.register_supported_type(int, len),
            "register_supported_type: flatten and unflatten must be functions or both None",
        ),
    ],
)
def test_registrations(call, text):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(text)
