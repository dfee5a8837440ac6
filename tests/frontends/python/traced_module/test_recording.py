"""trace_module: what of Python becomes a graph, and that it computes the module's bits."""

import collections
import copy
import math
import warnings

import numpy as np
import pytest
import tessera as ts
import tessera.core
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.core.ops import builtin

from tests.frontends.python.traced_module.nets import check_traced, floats, lines, net

Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class SimpleModule(M.Module):
    def __init__(self):
        super().__init__()
        self.linear = M.Linear(4, 5)
        self.param = ts.Parameter([1.0])

    def forward(self, x):
        x = F.relu(x + ts.Tensor([1.0]))
        return self.linear(x + self.param)


def test_text_of_a_graph():
    assert str(tm.trace_module(SimpleModule(), F.zeros((3, 4))).graph) == (
        "SimpleModule.Graph (self, x) {\n"
        "        %2:     const_tensor = Constant(<class 'tessera.Tensor'>) -> (Tensor)\n"
        "        %3:     add_out = x.__add__(const_tensor, )\n"
        "        %4:     relu_out = nn.relu(add_out, )\n"
        '        %5:     linear = getattr(self, "linear") -> (Linear)\n'
        '        %6:     param = getattr(self, "param") -> (Tensor)\n'
        "        %7:     add_out_1 = relu_out.__add__(param, )\n"
        "        %8:     linear_out = linear(add_out_1, )\n"
        "        return linear_out\n"
        "}"
    )


def test_parts_of_a_graph():
    traced = tm.trace_module(SimpleModule(), F.zeros((3, 4)))
    graph = traced.graph
    relu = graph.get_function_by_type(F.relu).as_unique()
    (out,) = relu.outputs
    assert [node.name for node in relu.inputs] == ["add_out"]
    assert graph.get_node_by_name("relu*").as_list() == [out]
    assert (out.expr, out.top_graph, out.qualname) == (relu, graph, "SimpleModule.[relu_out]")
    assert [str(user) for user in out.users] == ["add_out_1 = relu_out.__add__(param, )"]
    assert (out.shape, out.dtype, out.device) == ((3, 4), np.float32, "cpu0")
    linear = graph.get_module_by_type(M.Linear).as_unique()
    assert (linear.owner, linear.module_type) == (traced.linear, M.Linear)
    assert linear.qualname == "SimpleModule.linear"
    assert list(graph.exprs(recursive=False).as_dict()) == [2, 3, 4, 5, 6, 7, 8]
    assert relu.interpret(ts.tensor([-1.0, 1.0]))[0].tolist() == [0.0, 1.0]
    add = graph.get_method_by_type("__add__").as_list()[0]
    assert add.const_val == [] and graph.get_expr_by_id(4).as_unique() is relu


def test_containers():
    def forward(self, pair, table, *more, scale=2, **named):
        rest = [named["z"], None, 3]
        return {"x": pair[0] + table["k"], "y": (more[0] * scale, rest)}

    x = floats(2, 3)
    check_traced(net(forward), (x, x * 2), {"k": x}, x + 1, z=x * 3)


def test_named_tuples():
    module = net(lambda self, pair: Pair(pair.b, pair.a + 1))
    traced = check_traced(module, Pair(floats(2), floats(2)), again=[(Pair(floats(3), floats(3)),)])
    assert type(traced(Pair(floats(2), floats(2)))) is Pair


def test_a_registered_type():
    class Box:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tm.register_supported_type(Box, lambda box: ([box.a, box.b], None), lambda x, _: Box(*x))
    module = net(lambda self, box: Box(box.b, F.relu(box.a)))
    traced = tm.trace_module(module, Box(floats(2), floats(3)))
    made = traced(Box(floats(4), floats(5)))
    assert (type(made), made.a.shape, made.b.shape) == (Box, (5,), (4,))


@pytest.mark.parametrize(
    "forward, args, kwargs",
    [
        (lambda self, *, a, b=2: a * b, (), {"a": floats(2)}),
        (lambda self, a, /, b: a * b, (floats(2), floats(2)), {}),
        (lambda self, *xs, **named: sum(xs) + named["a"], (floats(2), floats(2)), {"a": floats(2)}),
        (lambda self: F.ones(3), (), {}),
        (lambda self, x, y=None: x if y is None else y, (floats(2),), {}),
    ],
)
def test_parameters(forward, args, kwargs):
    check_traced(net(forward), *args, **kwargs)


@pytest.mark.parametrize(
    "forward",
    [
        lambda self, x: x,
        lambda self, x: None,
        lambda self, x: (x, x, [x]),
        lambda self, x: 3,
        lambda self, x: {"a": x + 1, "b": [x.shape[0], x.ndim, str(x.dtype)]},
    ],
)
def test_results(forward):
    check_traced(net(forward), floats(2), again=[(floats(3),)])


def test_operators():
    def forward(self, x):
        return (
            1 - x, 2 / (x * x + 1), 2**x, np.float32(3) * x, ts.tensor([1.0]) * x, x @ x.T, -x,
            abs(x), x > 0, ~(x > 0), 3 // (x * x + 1), x.shape[0] * x, x * x.shape[0],
            x / x.shape[1], x == x, x != 0, x[..., None], x[:, 0], x[-1], x[x > 0].sum(), +x,
        )  # fmt: skip

    check_traced(net(forward), floats(2, 2), again=[(floats(3, 3),)])


def test_methods_and_functions():
    def forward(self, x):
        values, places = F.topk(x, 2, descending=True)
        x[0, 0] = values[0, 0]
        mask = x > 0
        return (
            F.where(mask, x, 0), places, x.max(axis=1), F.argsort(x), x.flatten(),
            F.concat([x, x], 1), x.astype("int32").sum(), x.to("cpu0"), x.T, F.split(x, 2, axis=1),
            x.mean(axis=0, keepdims=True), F.stack([row.sum() for row in x]),
            F.cond_take(mask, x)[0].sum(), x + np.ones(4, np.float32), np.add(x, 1.0),
        )  # fmt: skip

    check_traced(net(forward), floats(2, 4), again=[(floats(2, 4, seed=1),)])


def test_unpacking():
    def forward(self, x):
        first, second = x
        return F.stack([row * 2 for row in x]) + first + second, len(x)

    check_traced(net(forward), floats(2, 3), again=[(floats(2, 5),)])


def test_sizes_are_computed_anew():
    def forward(self, x):
        count, length = x.shape
        pairs = x.reshape(count * length // 2, 2)
        return (
            pairs.reshape(-1), F.arange(x.shape[0]), x[: count // 2], F.full((count, 1), 3.0),
            x.reshape(x.shape[::-1]), pairs.shape[0], x.size / 2, -count,
            x.reshape(math.prod(x.shape)), f"{count:3d}"[:0], 2**count,
        )  # fmt: skip

    check_traced(net(forward), floats(4, 6), again=[(floats(2, 4),), (floats(8, 3),)])


def test_a_size_is_read_once():
    graph = tm.trace_module(net(lambda self, x: x.reshape(x.shape[0], -1)), floats(2, 3)).graph
    assert lines(graph) == [
        'shape, shape_1 = getattr(x, "shape") -> (int, int)',
        "reshape_out = x.reshape(shape, -1, )",
    ]


def test_tensors_that_the_code_makes():
    def forward(self, x):
        scale = ts.tensor([2.0, 3.0]) * 3
        total = ts.tensor(0.0)
        total += (x * scale).sum()
        table = ts.tensor(np.zeros(4, np.float32))
        table[1] = total
        table[0] += table[1] * 2
        return table, scale > x, -scale, ts.tensor(x), ts.Tensor(x) + 1, np.multiply(scale, x)

    check_traced(net(forward), floats(2), again=[(floats(2, seed=1),)])


def test_parameters_that_are_reached_by_other_ways():
    def forward(self, x):
        for weight in list(self.parameters()):
            x = x * weight
        return x + dict(self.named_parameters())["a"] * 2 + vars(self)["b"]

    module = net(forward, a=ts.Parameter([2.0]), b=ts.Parameter([3.0]))
    traced = check_traced(module, floats(2))
    traced.a += 1
    np.testing.assert_array_equal(traced(floats(2)).numpy(), module(floats(2)).numpy())


def test_apply():
    def forward(self, x):
        (relu,) = tessera.core.apply(builtin.Relu(), x)
        return relu + tessera.core.apply(builtin.Add(), x, x)[0]

    check_traced(net(forward), floats(3), again=[(floats(5),)])


def test_writing():
    def forward(self, x):
        y = x * 1
        y += 1
        y[0] = 5
        y[:, 1] *= 2
        self.count += 1
        return y + self.count

    module = net(forward, count=ts.tensor([0.0]))
    traced = copy.deepcopy(tm.trace_module(module, floats(2, 3)))
    assert module.count.item() == 0
    for _ in range(2):
        np.testing.assert_array_equal(module(floats(2, 3)).numpy(), traced(floats(2, 3)).numpy())


def test_inputs_of_the_call_stay():
    def forward(self, x):
        x += 1
        return x

    x = floats(3)
    before = x.numpy().copy()
    tm.trace_module(net(forward), x)
    np.testing.assert_array_equal(x.numpy(), before)


def test_state_in_attributes():
    def forward(self, x):
        self.hidden = F.tanh(x.sum(0) + self.hidden)
        return self.hidden * 2

    module = net(forward, hidden=F.zeros(3))
    traced = tm.trace_module(module, floats(2, 3))
    assert module.hidden.numpy().sum() == 0
    for seed in range(3):
        x = floats(2, 3, seed=seed)
        np.testing.assert_array_equal(module(x).numpy(), traced(x).numpy())


def test_numbers_are_drawn_anew():
    def forward(self, x):
        return x + ts.random.normal(size=x.shape), F.dropout(x, 0.5, training=True)

    traced = check_traced(net(forward), floats(20), again=[(floats(30),)])
    assert (traced(floats(20))[0].numpy() != traced(floats(20))[0].numpy()).any()


def test_tracing_draws_nothing():
    ts.random.seed(3)
    first = ts.random.uniform(size=2).tolist()
    ts.random.seed(3)
    module = M.Sequential(M.Dropout(0.5), M.BatchNorm1d(3))
    mean = module[1].running_mean.numpy().copy()
    tm.trace_module(module, floats(4, 3))
    assert ts.random.uniform(size=2).tolist() == first
    np.testing.assert_array_equal(module[1].running_mean.numpy(), mean)


def test_training_of_dropout():
    def forward(self, x):
        inner = self.drop(x)
        return x + inner, F.dropout(x, 0.5, training=self.training)

    module = net(forward, drop=M.Dropout(0.5))
    module.eval()
    traced = check_traced(module, floats(50))
    module.train()
    traced.train()
    for each in (traced, traced.flatten()):
        ts.random.seed(1)
        expected = module(floats(50))
        ts.random.seed(1)
        for value, wanted in zip(each(floats(50)), expected, strict=True):
            np.testing.assert_array_equal(value.numpy(), wanted.numpy())


def test_wrapped_functions():
    @tm.wrap
    def double(x, factor=2):
        return x * factor

    traced = check_traced(net(lambda self, x: double(x) + double(x, 3)), floats(3))
    assert traced.graph.get_function_by_type(double).as_count() == 2


def test_a_deep_graph():
    def forward(self, x):
        for _ in range(2000):
            x = x + 1
        return x

    traced = check_traced(net(forward), floats(2))
    assert traced.graph.exprs().as_count() == 2000
