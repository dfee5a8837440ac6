"""Messages of checks: which expression computes something else than the module did."""

import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.random import default_rng
from tessera.traced_module.code import Writer
from tessera.traced_module.expr import CallFunction, CallMethod

from tests.frontends.python.traced_module import zoo


class Inner(M.Module):
    """Some calls, one of a method and one in place."""

    def forward(self, x, times):
        x += 1
        y = F.exp(x) * times
        return y.reshape(-1, x.shape[0]), F.dropout(y, 0.5)


class Net(M.Module):
    """Calls a module twice, whose second call has other values."""

    def __init__(self):
        super().__init__()
        self.inner, self.norm = Inner(), M.BatchNorm1d(3)
        self.drop, self.noise = M.Dropout(0.5), M.AdditiveGaussianNoise(seed=3)

    def forward(self, x):
        a, b = self.inner(x * 1, 2.0)
        _, c = F.scan(lambda s, e: (s + e, s * e), F.zeros_like(x[0]), self.inner(x * 2, 2.0)[1])
        image = self.noise(c.reshape(1, 1, 4, 3)).reshape(4, 3)
        return F.relu(a).sum(), self.norm(b + image), self.drop(F.sigmoid(c))


@pytest.fixture
def checker():
    tm.enable_expr_checker()
    yield
    tm.enable_expr_checker(False)


def data():
    return ts.tensor([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [0.0, -1.0, 0.5], [2.0, 0.0, 1.0]])


def refusal(module=Net):
    """The message of a trace that is refused."""
    with pytest.raises(ValueError, match=r"^trace_module: ") as caught:
        tm.trace_module(module(), data())
    return str(caught.value)


def test_a_broken_writer_is_found_at_its_first_line(monkeypatch):
    written = Writer._call

    def _call(self, expr):
        text = written(self, expr)
        return f"{text} + 0.25" if expr.func is F.sigmoid else text

    monkeypatch.setitem(Writer._TEXTS, CallFunction, _call)
    text = refusal()
    assert text.startswith("trace_module: '%") and "sigmoid_out = " in text
    assert "of Net (test_differing.py:" in text
    assert text.endswith("number 0 must be as of the module, got a difference of 0.25")


def test_a_broken_line_of_a_module_within_is_found(monkeypatch):
    written = Writer._method

    def _method(self, expr):
        text = written(self, expr)
        return f"({text} + 1)" if expr.method == "__mul__" and expr.args[1] == 2.0 else text

    monkeypatch.setitem(Writer._TEXTS, CallMethod, _method)
    text = refusal()
    assert "mul_out = exp_out.__mul__(times, )' of Net.inner (test_differing.py:" in text or (
        "__mul__(2.0, )' of Net.inner (test_differing.py:" in text
    )


def test_results_of_another_shape_and_sizes_are_told(monkeypatch):
    written = Writer._call

    def _call(self, expr):
        text = written(self, expr)
        return f"{text}[:2]" if expr.func is F.exp else text

    monkeypatch.setitem(Writer._TEXTS, CallFunction, _call)
    assert "must be float32[4, 3], as of the module, got float32[2, 3]" in refusal()


def test_a_watched_value_that_nobody_reads_is_kept():
    traced = tm.trace_module(Net(), data())
    (node,) = [
        node for node in traced.inner.graph.nodes() if node.type_name == "int" and not node.users
    ]
    traced.set_watch_points(node)
    traced(data())
    assert traced.watch_node_value[node] == 3


def test_no_second_recording_where_the_results_are_right():
    calls = []

    class Counted(M.Module):
        def forward(self, x):
            calls.append(1)
            return x + 1

    tm.trace_module(Counted(), data())
    assert calls == [1]


def test_the_default_check_is_left_out(monkeypatch):
    monkeypatch.setitem(Writer._TEXTS, CallFunction, lambda self, expr: "1")
    tm.disable_default_checker()
    try:
        own = type("Own", (M.Module,), {"forward": lambda self, x: F.relu(x)})()
        assert tm.trace_module(M.Sequential(own), data())(data()) == 1
    finally:
        tm.disable_default_checker(False)


@pytest.mark.usefixtures("checker")
def test_every_expression_is_checked_while_it_is_recorded(monkeypatch):
    run = CallFunction.run

    def _run(self, args, kwargs):
        found = run(self, args, kwargs)
        return found * 2 if self.func is F.exp else found

    monkeypatch.setattr(CallFunction, "run", _run)
    text = refusal()
    assert "exp_out = " in text and "of Net.inner (test_differing.py:" in text
    assert "number 0 must be as of the module, got a difference of" in text


@pytest.mark.usefixtures("checker")
def test_an_expression_that_cannot_run_again_is_told(monkeypatch):
    def _run(self, args, kwargs):
        raise KeyError("x")

    monkeypatch.setattr(CallFunction, "run", _run)
    assert "must run again, got KeyError: 'x'" in refusal()


@pytest.mark.usefixtures("checker")
@pytest.mark.parametrize("name", [*zoo.ALL, "Net"])
def test_checked_modules_are_traced_as_ever(name):
    module, args = (Net(), (data(),)) if name == "Net" else zoo.ALL[name]()
    ts.seed(3)
    state = default_rng.state_dict()
    traced = tm.trace_module(module, *args)
    assert default_rng.state_dict() == state
    tm.enable_expr_checker(False)
    again = tm.trace_module(module, *args)
    assert [type(expr) for expr in traced.graph.exprs()] == [
        type(expr) for expr in again.graph.exprs()
    ]
