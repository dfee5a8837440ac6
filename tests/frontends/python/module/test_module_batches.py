"""Every module of the package, dumped with a free batch: the bits of eager at each size."""

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812

from tests import quick
from tests.support.helper import as_list, bits, default_device, floats, same_bits

TOOL = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
SIM, N = "sim0", "n"  # N stands for the batch in a shape
BATCHES = (7, 1, 2, 3)
ROWS, SIGNAL, IMAGES, TEXT = (N, 4), (N, 4, 9), (N, 4, 6, 6), (N, 5, 8)
VOLUMES = (N, 4, 3, 4, 4)
STATE, STEPS = (N, 5), (6, N, 4)


class Listed(M.Module):
    """Modules of a list, one after the other."""

    def __init__(self):
        super().__init__()
        self.layers = M.ModuleList([M.Linear(4, 5), M.ReLU(), M.Linear(5, 3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Named(M.Module):
    """Modules by name, side by side."""

    def __init__(self):
        super().__init__()
        self.branches = M.ModuleDict({"wide": M.Linear(4, 6), "norm": M.BatchNorm1d(4)})

    def forward(self, x):
        return [branch(x) for branch in self.branches.values()]


class Joined(M.Concat):
    """Takes tensors, where Concat takes a list of them."""

    def forward(self, *inps):
        return super().forward(inps, axis=1)


class Regions(M.RegionRestrictedConv):
    """Takes floats, which are the numbers of regions rounded."""

    def forward(self, inp, rin, rout):
        return super().forward(inp, rin.astype("int32"), rout.astype("int32"))


class Windowed(M.SlidingWindowTranspose):
    """Takes the images that windows are made of."""

    def forward(self, inp):
        return super().forward(M.SlidingWindow(3, 1, 2)(inp))


class Pooled(M.DeformablePSROIPooling):
    """Takes boxes without the number of an image."""

    def forward(self, inp, boxes, trans):
        rois = F.concat([F.zeros_like(boxes[:, :1]), boxes], 1)
        return super().forward(inp, rois, trans)


class Dilated(M.Dilation):
    """Looks at nine pixels."""

    def forward(self, inp):
        return super().forward(inp, F.ones((3, 3)))


class Painted(M.FillPoly):
    """Paints a triangle."""

    def forward(self, inp):
        corners = F.concat([F.zeros((1, 2)), F.eye(2) * 3], 0).astype("int32")
        return super().forward(inp, corners, F.full((1,), 3, dtype="int32"), F.ones(4))


class Raised(M.AdditiveElemwise):
    """Adds ones."""

    def sample(self, size):
        return F.ones(size)


class Blurred(M.ActiveBlur):
    """The mean of nine pixels."""

    def get_kernel(self):
        return F.full((3, 3), 1 / 9)


class Stepped(M.LSTMCell):
    """Takes the two tensors of its state."""

    def forward(self, inp, h, c):
        return super().forward(inp, (h, c))


class Whole(M.LSTM):
    """Takes and gives the tensors of its state side by side."""

    def forward(self, inp, *hx):
        output, state = super().forward(inp, hx or None)
        return output, *state


class Bounded(M.GRU):
    """Takes lengths of its sequences."""

    def forward(self, inp, lengths):
        return super().forward(inp, None, lengths)


class Shares(M.BCELoss):
    """Takes floats, which it makes probabilities."""

    def forward(self, input, target):
        return super().forward(F.sigmoid(input), F.sigmoid(target))


class Classes(M.CrossEntropyLoss):
    """Takes labels of any size."""

    def forward(self, input, target):
        return super().forward(input, target % 4)


class LogClasses(M.NLLLoss):
    """Takes labels of any size."""

    def forward(self, input, target):
        return super().forward(input, target % 4)


# For each exported module calls of it: how it is made, and the shapes of its arguments.
CASES = {
    "ActiveBlur": [(Blurred, IMAGES)],
    "AdditiveElemwise": [(Raised, IMAGES)],
    "AdaptiveAvgPool2d": [(lambda: M.AdaptiveAvgPool2d((3, 2)), IMAGES)],
    "AdaptiveMaxPool2d": [(lambda: M.AdaptiveMaxPool2d((4, 2)), IMAGES)],
    "AvgPool1d": [(lambda: M.AvgPool1d(2), SIGNAL)],
    "AvgPool2d": [(lambda: M.AvgPool2d(3, 2, 1), IMAGES)],
    "AvgPool3d": [(lambda: M.AvgPool3d(2), VOLUMES)],
    # The batch is in its weight: what is free is the number of columns.
    "BatchMatMulActivation": [(lambda: M.BatchMatMulActivation(2, 4, 3, bias=False), (2, 4, N))],
    "BCELoss": [(Shares, ROWS, ROWS)],
    "BCEWithLogitsLoss": [(M.BCEWithLogitsLoss, ROWS, ROWS)],
    "BatchNorm1d": [(lambda: M.BatchNorm1d(4), ROWS), (lambda: M.BatchNorm1d(4), SIGNAL)],
    "BatchNorm2d": [(lambda: M.BatchNorm2d(4), IMAGES)],
    "BatchNorm3d": [(lambda: M.BatchNorm3d(4), (N, 4, 3, 2, 2))],
    "Concat": [(Joined, ROWS, STATE)],
    "Conv1d": [(lambda: M.Conv1d(4, 6, 3, 2, 1), SIGNAL)],
    "Conv2d": [
        (lambda: M.Conv2d(4, 6, 3, padding=1), IMAGES),
        (lambda: M.Conv2d(4, 4, 3, 2, 1, groups=4, padding_mode="reflect"), IMAGES),
        (lambda: M.Conv2d(4, 4, (2, 3), padding="same"), IMAGES),
    ],
    "ConvBn2d": [(lambda: M.ConvBn2d(4, 3, 3), IMAGES)],
    "ConvBnRelu2d": [(lambda: M.ConvBnRelu2d(4, 3, 3), IMAGES)],
    "ConvRelu2d": [(lambda: M.ConvRelu2d(4, 3, 1), IMAGES)],
    "ConvTranspose1d": [(lambda: M.ConvTranspose1d(4, 6, 3, 2, 1, 1), SIGNAL)],
    "ConvTranspose2d": [(lambda: M.ConvTranspose2d(4, 6, 3, 2, groups=2), IMAGES)],
    "ConvTransposeBn2d": [(lambda: M.ConvTransposeBn2d(4, 3, 3), IMAGES)],
    "ConvTransposeBnRelu2d": [(lambda: M.ConvTransposeBnRelu2d(4, 3, 3), IMAGES)],
    "ConvTransposeRelu2d": [(lambda: M.ConvTransposeRelu2d(4, 3, 3, 2), IMAGES)],
    "Conv3d": [(lambda: M.Conv3d(4, 6, 2, padding=1, groups=2), VOLUMES)],
    "ConvTranspose3d": [(lambda: M.ConvTranspose3d(4, 6, 2, 2), VOLUMES)],
    "CrossEntropyLoss": [(lambda: Classes(reduction="none"), ROWS, ("int", N))],
    "CropAndPad": [(M.CropAndPad, IMAGES, (N,))],
    "DeformableConv2d": [
        (lambda: M.DeformableConv2d(4, 3, 3, padding=1), IMAGES, (N, 36, 6, 6), (N, 18, 6, 6))
    ],
    "DeformablePSROIPooling": [
        (lambda: Pooled(False, 2, 2, 3, 2, 0.5), IMAGES, ROWS, (N, 4, 2, 2))
    ],
    "DequantStub": [(M.DequantStub, ROWS)],
    "Dropout": [(lambda: M.Dropout(0.5), ROWS)],
    "ELU": [(M.ELU, ROWS)],
    "Elemwise": [(lambda: M.Elemwise("fuse_mul_add3"), ROWS, ROWS, ROWS)],
    "Dilation": [(Dilated, IMAGES)],
    "Embedding": [
        (lambda: M.Embedding(7, 3), ("int", N, 5)),
        (lambda: M.Embedding(7, 3, padding_idx=2), ("int", N, 5)),
    ],
    "Emboss": [(lambda: M.Emboss((0.2, 0.8), 1.5, seed=3), IMAGES)],
    "FillPoly": [(Painted, IMAGES)],
    "Flip": [(M.Flip, IMAGES)],
    "Flatten": [(M.Flatten, IMAGES)],
    "GELU": [(M.GELU, ROWS), (lambda: M.GELU("tanh"), ROWS)],
    "GaussianBlur": [(lambda: M.GaussianBlur(3, format="NCHW"), IMAGES)],
    "GRU": [
        (lambda: M.GRU(4, 5, bidirectional=True), STEPS),
        (lambda: Bounded(4, 5, bidirectional=True), STEPS, ("int", N)),
    ],
    "GRUCell": [(lambda: M.GRUCell(4, 5), ROWS), (lambda: M.GRUCell(4, 5), ROWS, STATE)],
    "GeneralNorm": [(lambda: M.GeneralNorm((4, 9), (1, 2)), SIGNAL)],
    "GroupNorm": [(lambda: M.GroupNorm(2, 4), IMAGES)],
    "Hardswish": [(M.Hardswish, ROWS)],
    "HuberLoss": [(M.HuberLoss, ROWS, ROWS)],
    "Identity": [(M.Identity, ROWS)],
    "InstanceNorm": [(lambda: M.InstanceNorm(4), IMAGES)],
    "InstanceNorm1d": [(lambda: M.InstanceNorm1d(4), SIGNAL)],
    "InstanceNorm2d": [(lambda: M.InstanceNorm2d(4, affine=True), IMAGES)],
    "KLDivLoss": [(lambda: M.KLDivLoss(log_target=True), ROWS, ROWS)],
    "L1Loss": [(M.L1Loss, ROWS, ROWS)],
    "LSTM": [
        (lambda: Whole(4, 5, 2, batch_first=True, dropout=0.5, bidirectional=True), (N, 6, 4)),
        (lambda: Whole(4, 5, proj_size=3), STEPS, (1, N, 3), (1, N, 5)),
    ],
    "LSTMCell": [(lambda: M.LSTMCell(4, 5), ROWS), (lambda: Stepped(4, 5), ROWS, STATE, STATE)],
    "LayerNorm": [(lambda: M.LayerNorm(8), TEXT), (lambda: M.LayerNorm((5, 8)), TEXT)],
    "LeakyReLU": [(M.LeakyReLU, ROWS)],
    "Linear": [(lambda: M.Linear(4, 3), ROWS), (lambda: M.Linear(8, 3, bias=False), TEXT)],
    "LinearBn1d": [(lambda: M.LinearBn1d(4, 3), ROWS)],
    "LinearBnRelu1d": [(lambda: M.LinearBnRelu1d(4, 3), ROWS)],
    "LinearRelu": [(lambda: M.LinearRelu(4, 3), ROWS)],
    "LocalConv2d": [(lambda: M.LocalConv2d(4, 6, 6, 6, 3, 2, 1, groups=2), IMAGES)],
    "LocalResponseNorm": [(lambda: M.LocalResponseNorm(3, alpha=0.5), IMAGES)],
    "MSELoss": [(lambda: M.MSELoss("sum"), ROWS, ROWS)],
    "MaxPool1d": [(lambda: M.MaxPool1d(3, 2, 1), SIGNAL)],
    "MaxPool2d": [(lambda: M.MaxPool2d(2), IMAGES)],
    "MaxPool3d": [(lambda: M.MaxPool3d((1, 2, 3), 2, (0, 1, 0)), VOLUMES)],
    "Mish": [(M.Mish, ROWS)],
    "ModuleDict": [(Named, ROWS)],
    "ModuleList": [(Listed, ROWS)],
    "MultiHeadAttention": [(lambda: M.MultiHeadAttention(8, 2, 0.1, 0.1), TEXT, TEXT, (N, 5, 8))],
    "NLLLoss": [(lambda: LogClasses(reduction="none"), ROWS, ("int", N))],
    "PReLU": [(lambda: M.PReLU(4), IMAGES)],
    "Pad": [(lambda: M.Pad(((0, 0), (1, 2)), "replicate"), ROWS)],
    "PixelShuffle": [(lambda: M.PixelShuffle(2), IMAGES)],
    "QuantStub": [(M.QuantStub, ROWS)],
    "RegionRestrictedConv": [(lambda: Regions(4, 6, 3, groups=2), IMAGES, (N, 6, 6), (N, 4, 4))],
    "Remap": [(lambda: M.Remap("reflect"), IMAGES, (N, 3, 2, 2))],
    "Resize": [(lambda: M.Resize((9, 4), "cubic"), IMAGES)],
    "Rot90": [(lambda: M.Rot90(1, (2, 3)), IMAGES)],
    "Rotate": [(lambda: M.Rotate(format="NCHW"), IMAGES)],
    "RMSNorm": [(lambda: M.RMSNorm(8), TEXT)],
    "RNN": [(lambda: M.RNN(4, 5, 2, nonlinearity="relu"), STEPS)],
    "RNNCell": [(lambda: M.RNNCell(4, 5), ROWS), (lambda: M.RNNCell(4, 5), ROWS, STATE)],
    "ReLU": [(M.ReLU, ROWS)],
    "Sequential": [(lambda: M.Sequential(M.Conv1d(4, 3, 3), M.Flatten(), M.GELU()), SIGNAL)],
    "Sharpen": [(lambda: M.Sharpen(0.5, (0.5, 2.0), seed=3), IMAGES)],
    "SlidingWindow": [(lambda: M.SlidingWindow((3, 2), (1, 0), 2), IMAGES)],
    "SlidingWindowTranspose": [(lambda: Windowed((6, 6), 3, 1, 2), IMAGES)],
    "SmoothL1Loss": [(M.SmoothL1Loss, ROWS, ROWS)],
    "SyncBatchNorm": [(lambda: M.SyncBatchNorm(4), IMAGES)],
    "SiLU": [(M.SiLU, ROWS)],
    "Sigmoid": [(M.Sigmoid, ROWS)],
    "Softmax": [(M.Softmax, ROWS), (lambda: M.Softmax(axis=0), ROWS)],
    "Tanh": [(M.Tanh, ROWS)],
    "TransformerDecoderLayer": [
        (lambda: M.TransformerDecoderLayer(8, 2, 12), TEXT, (N, 3, 8)),
        (lambda: M.TransformerDecoderLayer(8, 2, 12, norm_first=True), TEXT, (N, 3, 8)),
    ],
    "TripletMarginLoss": [(M.TripletMarginLoss, ROWS, ROWS, ROWS)],
    "TransformerEncoderLayer": [
        (lambda: M.TransformerEncoderLayer(8, 2, 12), TEXT),
        (lambda: M.TransformerEncoderLayer(8, 2, 12, norm_first=True), TEXT),
    ],
}
DRAWN = "generators draw for sizes that are numbers"
WITHOUT = {
    "AdditiveGaussianNoise": DRAWN,
    "AdditiveLaplaceNoise": DRAWN,
    "AdditivePoissonNoise": DRAWN,
    "Cutmix": DRAWN,
    "LinearContrast": DRAWN,
    "Mixup": DRAWN,
    "Module": "the base of all others computes nothing",
}
CALLS = [
    pytest.param(make, shapes, id=f"{name} {number}")
    for name, cases in CASES.items()
    for number, (make, *shapes) in enumerate(cases)
]


def every(kind):
    """The class and all that are made of it."""
    return {kind}.union(*map(every, kind.__subclasses__()))


def test_every_module_of_the_package_is_here():
    own = {kind.__name__ for kind in every(M.Module) if kind.__module__.startswith("tessera.")}
    found = {name for name in own if not name.startswith("_")}
    assert found == {*CASES, *WITHOUT}
    assert found == {name for name in M.__all__ if isinstance(getattr(M, name), type)}


def arguments(shapes, batch):
    """Arrays for a batch of this size, which the data follow from too."""
    arrays = []
    for seed, (first, *rest) in enumerate(shapes):
        shape = [batch if size == N else size for size in (first, *rest) if size != "int"]
        array = floats(*shape, seed=10 * batch + seed, low=0, high=6.9)
        arrays.append(array.astype("int32") if first == "int" else array - 3)
    return arrays


def tensors(shapes, batch):
    """The same as tensors of the default device."""
    return [tessera.Tensor(array) for array in arguments(shapes, batch)]


def results(value):
    """The tensors of a call; attention has None for weights that nobody asked for."""
    return [each for each in as_list(value) if each is not None]


def dumped(net, shapes, path):
    """Writes a call of `net` whose batch is free."""
    names, axes = [], {}
    for number, shape in enumerate(shapes):
        names.append(f"x{number}")
        sizes = [size for size in shape if size != "int"]
        axes[names[-1]] = {sizes.index(N): jit.Dim("batch", 1, 64)}
    call = jit.trace(net.__call__, capture_as_const=True)
    call(*tensors(shapes, 4))
    targets = ["host", "sim"]
    call.dump(path, arg_names=names, dims=axes, targets=targets, training=net.training)


def by_tool(path, shapes, device, outputs):
    """What tess-run gives for the first batch."""
    command = [TOOL, path, f"--device={device}"]
    for number, array in enumerate(arguments(shapes, BATCHES[0])):
        np.save(path.with_name(f"x{number}.npy"), array)
        command += ["--input", f"x{number}={path.parent}/x{number}.npy"]
    files = [path.with_name(f"{name}.npy") for name in outputs]
    for name, file in zip(outputs, files, strict=True):
        command += ["--output", f"{name}={file}"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.load(file) for file in files]


@pytest.mark.parametrize("is_training", quick.few([False, True]))
@pytest.mark.parametrize(("make", "shapes"), CALLS)
def test_a_file_serves_every_batch(make, shapes, is_training, tmp_path):
    """What a call changes (running statistics, random numbers) goes on from the file's values."""
    tessera.seed(3)
    net, path = make().train(is_training), tmp_path / "net.tess"
    dumped(net, shapes, path)
    want = [bits(results(net(*tensors(shapes, batch)))) for batch in BATCHES]
    kept = {name: buffer.numpy() for name, buffer in net.named_buffers()}
    for device, code in itertools.product(("cpu0", SIM), (False, True)):
        with default_device(device):
            program = jit.load(path, allow_code=code)
            for batch, expected in zip(BATCHES, want, strict=True):
                got = as_list(program(*tensors(shapes, batch)))
                assert bits(got) == expected, (batch, device, code)
                assert all(each.device == device for each in got)
            state = program.state_dict()
            assert set(state) >= (set(kept) if is_training else set())
            assert all(same_bits(state[name], kept[name]) for name in kept.keys() & state.keys())
        assert bits(by_tool(path, shapes, device, program.outputs)) == want[0], device
