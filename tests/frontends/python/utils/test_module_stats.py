"""utils.module_stats: what it counts, and that it leaves the module as it was."""

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera.utils.module_stats import module_stats, register_flops


class Net(M.Module):
    """Every kind of layer that is counted."""

    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(4, 6, 3, groups=2, bias=False)
        self.bn = M.BatchNorm2d(6)
        self.pool = M.MaxPool2d(2)
        self.mean = M.AdaptiveAvgPool2d(2)
        self.fc = M.Linear(24, 5)

    def forward(self, x):
        x = self.mean(self.pool(self.bn(self.conv(x))))
        return self.fc(tessera.functional.flatten(x, 1))


FLOPS = {
    "conv": 2 * 6 * 8 * 8 * (2 * 3 * 3),
    "bn": 2 * 6 * 8 * 8 * 7,
    "pool": 2 * 6 * 4 * 4 * 4,
    "mean": 2 * 6 * 2 * 2 * 4,
    "fc": 2 * 5 * 24 + 5,
}
ELEMENTS = {"conv": 768, "bn": 768, "pool": 192, "mean": 48, "fc": 10}
PARAMETERS = {"conv.weight": 108, "bn.weight": 6, "bn.bias": 6, "fc.weight": 120, "fc.bias": 5}


def stats(model, **options):
    return module_stats(model, logging_to_stdout=False, **options)


def test_each_layer_and_the_sums():
    totals, details = stats(Net(), input_shapes=(2, 4, 10, 10))
    *rows, last = details.flops
    assert {row["name"]: row["flops_num"] for row in rows} == FLOPS
    assert totals.flops == sum(FLOPS.values()) and last["name"] == "total"
    assert rows[0]["input_shapes"] == [(2, 4, 10, 10)]
    assert rows[0]["output_shapes"] == [(2, 6, 8, 8)] and rows[0]["class_name"] == "Conv2d"
    *rows, last = details.activations
    assert {row["name"]: row["act_dim"] for row in rows} == ELEMENTS
    assert totals.act_dims == last["act_dim"] == sum(ELEMENTS.values())
    assert totals.act_size == 4 * totals.act_dims
    *rows, last = details.params
    assert {row["name"]: row["param_dim"] for row in rows} == PARAMETERS
    assert totals.param_dims == last["param_dim"] == sum(PARAMETERS.values())
    assert totals.param_size == 4 * totals.param_dims


def test_shares():
    _, details = stats(Net(), input_shapes=[(2, 4, 10, 10)], bar_length_max=10)
    *rows, _ = details.flops
    assert sum(row["ratio"] for row in rows) == pytest.approx(1)
    assert rows[0]["bar"] == "#" * 10 and rows[0]["flops"] == "13.824 KOPs"
    assert rows[1]["flops_cum"] == "19.200 KOPs" and rows[0]["percentage"] == "67.75%"


def test_tables_are_printed(capsys):
    module_stats(Net(), inputs=np.ones((2, 4, 10, 10), "float32"))
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("conv.weight")]
    assert "float32" in line and "(2, 3, 2, 3, 3)" in line and "432.000 B" in line
    for word in ("params\n", "flops\n", "activations\n", "summary\n", "total", "20.405 KOPs"):
        assert word in out
    module_stats(Net(), input_shapes=(2, 4, 10, 10), cal_params=False, cal_activations=False)
    out = capsys.readouterr().out
    assert "flops\n" in out and "params\n" not in out and "activations\n" not in out


def test_values_of_activations_need_inputs():
    x = np.full((1, 2), 3, "float32")
    linear = M.Linear(2, 1)
    M.init.ones_(linear.weight)
    assert stats(linear, inputs=x)[1].activations[0]["mean"] == "6"
    assert "mean" not in stats(linear, input_shapes=(1, 2))[1].activations[0]


def test_the_module_stays_as_it_was():
    net = Net()
    net.bn.eval()
    modes = {name: module.training for name, module in net.named_modules()}
    before = net.bn.running_mean.numpy()
    stats(net, input_shapes=(2, 4, 10, 10))
    with pytest.raises(ValueError, match="conv2d"):
        stats(net, input_shapes=(2, 3, 10, 10))
    assert {name: module.training for name, module in net.named_modules()} == modes
    assert not any(module._forward_hooks for module in net.modules())
    assert (net.bn.running_mean.numpy() == before).all()


def test_several_inputs_of_several_forms():
    class Two(M.Module):
        def __init__(self):
            super().__init__()
            self.fc = M.Linear(3, 1)

        def forward(self, x, parts):
            return self.fc(x) + self.fc(parts["y"])

    x = np.ones((2, 3), "float32")
    totals, details = stats(Two(), inputs=[x, {"y": tessera.tensor(x)}])
    assert [row["name"] for row in details.flops] == ["fc", "fc", "total"]  # called twice
    assert totals.flops == 2 * (2 * 3 + 1) and totals.param_dims == 4


def test_attention():
    class Attention(M.Module):
        def __init__(self):
            super().__init__()
            self.attention = M.MultiHeadAttention(8, 2)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    totals, _ = stats(Attention(), input_shapes=(3, 5, 8))
    assert totals.flops == 3 * (4 * 5 * 8 * 8 + 2 * 5 * 5 * 8)
    assert totals.param_dims == 4 * (8 * 8 + 8)


def test_the_nearest_class_counts():
    class Own(M.Linear):
        pass

    assert stats(Own(2, 3), input_shapes=(1, 2))[0].flops == 9
    register_flops(Own)(lambda module, inputs, outputs: 1000)
    assert stats(Own(2, 3), input_shapes=(1, 2))[0].flops == 1000


def test_a_module_without_layers_that_count(capsys):
    totals, details = module_stats(M.ReLU(), input_shapes=(2,))
    assert totals == (0, 0, 0, 0, 0) and [row["name"] for row in details.params] == ["total"]


def test_refusals():
    with pytest.raises(ValueError, match="inputs or input_shapes must be given, got None and None"):
        module_stats(Net())
    with pytest.raises(TypeError, match="module_stats: model must be a Module, got int"):
        module_stats(3, input_shapes=(1,))
