"""A program of MegEngine's that trains for integers and deploys them: its import lines alone are
others.
"""

import numpy as np

PROGRAM = """
import numpy as np
import megengine as mge
import megengine.functional as F
import megengine.module as M
import megengine.quantization as Q
from megengine import jit
from megengine.autodiff import GradManager
from megengine.optimizer import SGD


class Block(M.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = M.ConvBnRelu2d(channels, channels, 3, 1, 1, bias=False)
        self.conv2 = M.ConvBn2d(channels, channels, 3, 1, 1, bias=False)
        self.add = M.Elemwise("FUSE_ADD_RELU")

    def forward(self, x):
        return self.add(self.conv2(self.conv1(x)), x)


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.quant = M.QuantStub()
        self.stem = M.ConvBnRelu2d(3, 8, 3, 2, 1, bias=False)
        self.block = Block(8)
        self.pool = M.AvgPool2d(4)
        self.dequant = M.DequantStub()
        self.fc = M.Linear(8, 4)
        self.fc.disable_quantize()

    def forward(self, x):
        x = self.pool(self.block(self.stem(self.quant(x))))
        x = self.dequant(F.flatten(x, 1))
        return self.fc(x)


def samples(seed):
    rng = np.random.RandomState(seed)
    images = rng.normal(size=(8, 3, 8, 8)).astype("float32")
    labels = (images.mean((1, 2, 3)) > 0).astype("int32") + 2 * (images[:, 0].mean((1, 2)) > 0)
    return mge.Tensor(images), mge.Tensor(labels.astype("int32"))


mge.random.seed(3)
net = Net()
Q.quantize_qat(net, qconfig=Q.ema_fakequant_qconfig)
gm = GradManager().attach(net.parameters())
opt = SGD(net.parameters(), lr=0.05, momentum=0.9)


@jit.trace(symbolic=True)
def train_step(image, label):
    with gm:
        logits = net(image)
        loss = F.nn.cross_entropy(logits, label)
        gm.backward(loss)
        opt.step().clear_grad()
    return loss


net.train()
losses = [train_step(*samples(step % 4)).item() for step in range(24)]

image, _ = samples(100)
net.eval()
Q.disable_observer(net)
simulated = net(image).numpy()
Q.quantize(net)
deployed = net(image).numpy()


@jit.trace(symbolic=True, capture_as_const=True)
def inference(image):
    return net(image)


traced = [inference(image).numpy() for _ in range(2)]
inference.dump(path, arg_names=["image"], output_names=["logits"])
"""


def test_the_flow_of_quantization(tmp_path):
    """Training, quantize, a trace and a file give the same numbers."""
    import tessera

    path = str(tmp_path / "quantized.tess")
    names = {"path": path}
    lines = PROGRAM.splitlines()
    exec("\n".join(each.replace("megengine", "tessera") if "import" in each else each
                   for each in lines), names)  # fmt: skip
    assert names["losses"][-1] < names["losses"][0]
    wanted = names["simulated"]
    assert np.isfinite(wanted).all() and len(np.unique(wanted)) > 8
    assert names["deployed"].tobytes() == wanted.tobytes()
    assert all(each.tobytes() == wanted.tobytes() for each in names["traced"])
    loaded = tessera.jit.load(path)(image=names["image"])
    assert loaded.numpy().tobytes() == wanted.tobytes()
    kinds = {type(each).__module__ for _, each in names["net"].named_modules()}
    assert any("quantized" in kind for kind in kinds)
    assert names["net"].block.conv1.weight.dtype == np.int8
