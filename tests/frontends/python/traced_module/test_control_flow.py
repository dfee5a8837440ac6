"""trace_module: bodies of loops and branches, and contexts around calls."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit
from tessera.amp import autocast
from tessera.autodiff import checkpoint, grad, no_grad

from tests.frontends.python.traced_module.nets import check_traced, floats, net


def _loops(self, x):
    y = F.cond(x.sum() > 0, lambda a: a * self.weight, lambda a: a - x, x)
    total, sums = F.scan(lambda c, e: (c + e * self.weight, c * 2), F.zeros(3), x)
    _, z = F.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + self.weight), ts.tensor(0), y
    )
    return y, total, sums, z


def test_loops_and_branches():
    module = net(_loops, weight=ts.Parameter([2.0]))
    traced = check_traced(module, floats(2, 3), again=[(-floats(4, 3) * 3,), (floats(0, 3),)])
    compiled = jit.trace(lambda x: traced(x))
    for _ in range(2):
        for value, wanted in zip(compiled(floats(2, 3)), traced(floats(2, 3)), strict=True):
            np.testing.assert_array_equal(value.numpy(), wanted.numpy())


def test_a_loop_without_trips():
    module = net(_loops, weight=ts.Parameter([2.0]))
    check_traced(module, floats(0, 3), again=[(floats(4, 3),)])


def test_both_branches_are_graphs():
    module = net(_loops, weight=ts.Parameter([2.0]))
    graph = tm.trace_module(module, floats(2, 3)).graph
    (cond,) = graph.get_function_by_type(F.cond)
    then, orelse = cond.bodies
    assert [str(expr) for expr in orelse.own_exprs] == ["sub_out = a_1.__sub__(x, )"]
    assert [node.name for node in orelse.captures] == ["x"]
    assert [node.name for node in then.captures] == ["self"]
    assert graph.get_method_by_type("__sub__").as_count() == 1


def test_a_loop_in_a_loop():
    def forward(self, x):
        def outer(total, row):
            inner, _ = F.scan(lambda c, e: (c + e * total.sum(), None), F.zeros(()), row)
            return total + inner, F.cond(inner > 0, lambda: self.linear(row[None])[0], lambda: row)

        return F.scan(outer, F.zeros(3), x)

    check_traced(net(forward, linear=M.Linear(3, 3)), floats(2, 3), again=[(floats(4, 3),)])


def test_modules_as_functions():
    def forward(self, x):
        return F.cond(x.sum() > 0, self.a, self.b, x), checkpoint(self.a, x)

    module = net(forward, a=M.Linear(3, 3), b=M.Sequential(M.Linear(3, 3), M.ReLU()))
    check_traced(module, floats(2, 3), again=[(-floats(4, 3) * 3,)])


def test_gradients_through_loops():
    module = net(_loops, weight=ts.Parameter([2.0]))
    traced = tm.trace_module(module, floats(2, 3))
    for x in (floats(2, 3), -floats(2, 3)):
        wanted = grad(lambda x: sum(each.sum() for each in module(x)))(x)
        found = grad(lambda x: sum(each.sum() for each in traced(x)))(x)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_contexts():
    def forward(self, x):
        with autocast(low_prec_dtype="bfloat16"):
            narrow = self.linear(x)
            with no_grad():
                y = self.inner(x)
        return narrow.astype("float32") * y + self.linear(x)

    inner = net(lambda self, x: self.linear(x) * 2, linear=M.Linear(3, 3))
    module = net(forward, linear=M.Linear(3, 3), inner=inner)
    traced = check_traced(module, floats(2, 3), again=[(floats(4, 3),)])
    wanted = grad(lambda x: module(x).sum())(floats(2, 3)).numpy()
    for each in (traced, traced.flatten(), traced.graph.interpret):
        found = grad(lambda x, each=each: each(x).sum())(floats(2, 3))
        np.testing.assert_array_equal(found.numpy(), wanted)
    assert "# in autocast(True, 'bfloat16', 'float32'), no_grad()" in str(traced.graph)


@pytest.mark.parametrize("transform", [grad, lambda f: ts.autodiff.vmap(f)])
def test_functions_of_functions_are_refused(transform):
    with pytest.raises(
        NotImplementedError,
        match=r"^trace_module: functions of functions must be cond, scan, while_loop or "
        r"checkpoint, got (grad|vmap) at ",
    ):
        tm.trace_module(net(lambda self, x: transform(lambda y: (y * y).sum())(x)), floats(3))
