"""utils.bn_fusion: what is fused gives what the layers give."""

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera.utils.bn_fusion import fold_weight_bias, fuse_conv_bn_relu_module

TOLERANCE = 1e-5  # a few roundings of float32 in sums of tens of products


def layers(training=False, affine=True, **options):
    """A convolution and a batch normalisation that has seen data."""
    conv = M.Conv2d(4, 6, 3, padding=1, **options)
    if conv.bias is not None:
        M.init.normal_(conv.bias)
    bn = M.BatchNorm2d(6, eps=1e-3, affine=affine)
    if affine:
        M.init.uniform_(bn.weight, -2.0, 2.0)
        M.init.normal_(bn.bias)
    M.init.normal_(bn.running_mean)
    M.init.uniform_(bn.running_var, 0.1, 3.0)
    return conv.train(training), bn.train(training)


def images():
    return tessera.random.normal(size=(2, 4, 7, 7))


@pytest.mark.parametrize("relu", [None, M.ReLU()], ids=["", "relu"])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("options", [
    {}, {"bias": False}, {"groups": 2}, {"stride": 2, "dilation": 2}, {"padding_mode": "reflect"},
], ids=str)  # fmt: skip
def test_folded_in_inference(options, affine, relu):
    conv, bn = layers(affine=affine, **options)
    fused, x = fuse_conv_bn_relu_module(conv, bn, relu), images()
    assert type(fused) is (M.Conv2d if relu is None else M.ConvRelu2d) and not fused.training
    expected = bn(conv(x)) if relu is None else relu(bn(conv(x)))
    got = fused(x)
    assert got.shape == expected.shape
    assert abs(got.numpy() - expected.numpy()).max() <= TOLERANCE * abs(expected.numpy()).max()
    assert got.numpy().std() > 0.1


@pytest.mark.parametrize("relu", [None, M.ReLU()], ids=["", "relu"])
def test_together_in_training(relu):
    conv, bn = layers(training=True)
    fused, x = fuse_conv_bn_relu_module(conv, bn, relu), images()
    assert type(fused) is (M.ConvBn2d if relu is None else M.ConvBnRelu2d) and fused.training
    before = bn.running_mean.numpy()
    got = fused(x)
    assert (bn.running_mean.numpy() == before).all()  # what is fused has its own
    expected = bn(conv(x)) if relu is None else relu(bn(conv(x)))
    assert (got.numpy() == expected.numpy()).all()
    assert (fused.bn.running_mean.numpy() == bn.running_mean.numpy()).all()


def test_without_batch_normalisation():
    conv, _ = layers()
    fused, x = fuse_conv_bn_relu_module(conv, None, M.ReLU()), images()
    assert (fused(x).numpy() == np.maximum(conv(x).numpy(), 0)).all()


def test_parameters_are_copies():
    conv, bn = layers()
    fused = fuse_conv_bn_relu_module(conv, None, M.ReLU())
    kept = fused.weight.numpy()
    M.init.zeros_(conv.weight)
    assert (fused.weight.numpy() == kept).all() and kept.any()


def test_the_name_is_kept():
    conv, bn = M.Conv2d(1, 2, 1, name="stem").eval(), M.BatchNorm2d(2).eval()
    assert fuse_conv_bn_relu_module(conv, bn, None).name == "stem"


@pytest.mark.parametrize("groups", [1, 2])
def test_folding_a_transposed_weight_scales_its_outputs(groups):
    shape = (4, 6, 3, 3) if groups == 1 else (2, 2, 3, 3, 3)
    weight, gamma = np.ones(shape, "float32"), np.arange(1.0, 7.0, dtype="float32")
    folded, bias = fold_weight_bias(weight, None, gamma, gamma, None, None, eps=0.0, transpose=True)
    scales = gamma.reshape(1, 6, 1, 1) if groups == 1 else gamma.reshape(2, 1, 3, 1, 1)
    assert (folded.numpy() == weight * scales).all() and folded.dtype == "float32"
    assert bias.shape == (1, 6, 1, 1) and (bias.numpy().ravel() == gamma).all()


def test_refusals():
    conv, bn = layers()
    with pytest.raises(ValueError, match="conv and bn must be in one mode, got training False and"):
        fuse_conv_bn_relu_module(conv, bn.train(), None)
    with pytest.raises(ValueError, match="bn must have the channels of conv, got 5 for 6"):
        fuse_conv_bn_relu_module(conv, M.BatchNorm2d(5).eval(), None)
    bare = M.BatchNorm2d(6, track_running_stats=False).eval()
    with pytest.raises(ValueError, match="bn must have running statistics to be folded, got none"):
        fuse_conv_bn_relu_module(conv, bare, None)
    with pytest.raises(TypeError, match="one of .'Conv2d BatchNorm2d ReLU'.*, got Linear ReLU"):
        fuse_conv_bn_relu_module(M.Linear(1, 1), None, M.ReLU())
    with pytest.raises(ValueError, match=r"gamma must have 2 elements, .* got shape \(3,\)"):
        fold_weight_bias(np.ones((2, 1, 1, 1)), None, np.ones(3), None, None, None)
