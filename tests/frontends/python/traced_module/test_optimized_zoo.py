"""Optimized networks: those of the zoo, and a ResNet-18 that has learned to read digits."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.autodiff import GradManager
from tessera.optimizer import SGD
from tessera.traced_module import _passes
from tessera.traced_module.pytree import leaves_of
from tessera.traced_module.unchanged import Unchanged

from tests.frontends.python.traced_module import zoo
from tests.support.helper import bits

ALL = ["FuseConvBn", "FuseAddMul", "BackwardFoldScale", "AttrToConstant", "FixInputShape",
       "FoldConstant", "NormElemWise"]  # fmt: skip
MOST = 64  # eps of the largest element; the passes state 1024


def values(module, args):
    """The results as arrays; the module is as before."""
    with Unchanged(module):
        found = leaves_of(module(*args))
    return [np.asarray(each._numbers()) for each in found if isinstance(each, ts.Tensor)]


@pytest.mark.parametrize("name", zoo.ALL)
@pytest.mark.parametrize("is_flat", [False, True])
def test_modules_of_the_zoo_are_optimized_by_all_passes(name, is_flat):
    ts.seed(0)
    module, args = zoo.ALL[name]()
    traced = tm.trace_module(module.eval(), *args)
    traced = traced.flatten() if is_flat else traced
    before, text, wanted = bits(list(traced.tensors())), str(traced.graph), values(traced, args)
    new = tm.optimize(traced, ALL)
    assert (bits(list(traced.tensors())), str(traced.graph)) == (before, text)
    for a, b in zip(values(new, args), wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind == "f":
            assert np.abs(a - b).max() <= MOST * np.finfo(a.dtype).eps * np.abs(b).max()
        else:
            assert np.array_equal(a, b)
    assert new.graph.exprs().as_count() <= traced.graph.exprs().as_count()
    assert new.graph.diff(tm.optimize(new, ALL).graph) == []


def learned():
    """(a ResNet-18 that has seen the digits five times, the digits that are held out)."""
    ts.seed(0)
    (images, labels), (held_out, _) = zoo._example("digits_net").load_digits()
    model = zoo._example("resnet").resnet18(10, 8)
    model.conv1 = M.Conv2d(1, 8, 3, padding=1, bias=False)
    manager = GradManager().attach(model.parameters())
    optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9)

    @ts.jit.trace
    def _step(image, label):
        with manager:
            manager.backward(F.nn.cross_entropy(model(image), label))
        optimizer.step().clear_grad()

    for _ in range(5):
        for start in range(0, len(images) - 63, 64):
            _step(ts.tensor(images[start : start + 64]), ts.tensor(labels[start : start + 64]))
    return model.eval(), ts.tensor(held_out)


def test_a_resnet_that_reads_digits_keeps_its_predictions():
    model, held_out = learned()
    (_, labels) = zoo._example("digits_net").load_digits()[1]
    traced = tm.trace_module(model, held_out)
    wanted = F.argmax(traced(held_out), axis=1).numpy()
    assert np.mean(wanted == labels) > 0.9
    for net in (traced, traced.flatten()):
        new = tm.optimize(net, ["FuseConvBn", "BackwardFoldScale"])
        assert np.array_equal(F.argmax(new(held_out), axis=1).numpy(), wanted)
        assert not new.graph.get_module_by_type(M.BatchNorm2d).as_list()
        assert new.graph.exprs().as_count() <= net.graph.exprs().as_count() - 2 * 20
        assert not [each for each in new.modules() if isinstance(each, M.BatchNorm2d)]
        again = _passes.fuse_pass.FuseConvBn()(new)
        assert again.graph.diff(new.graph) == []
