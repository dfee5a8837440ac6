"""Networks from training with simulated quantization to integers in C++: the bits stay."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.optimizer import SGD
from tessera.quantization import ema_fakequant_qconfig, quantize, quantize_qat

from tests.e2e.quantized_networks import Encoder, mobilenet_v2, resnet18
from tests.support.helper import same_bits

TOOL = Path("tools/tess-run").absolute()
STEPS = 20
NETWORKS = {
    "ResNet-18": (resnet18, (4, 3, 32, 32)),
    "MobileNetV2": (mobilenet_v2, (4, 3, 32, 32)),
    "encoder": (Encoder, (4, 7, 32)),
}


def batch(shape, seed):
    random = np.random.RandomState(seed)
    images = random.standard_normal(shape).astype(np.float32)
    return tessera.tensor(images), tessera.tensor(random.randint(0, 10, shape[0]))


def trained(make, shape):
    """A QAT network after some steps, and its losses."""
    tessera.seed(5)
    net = quantize_qat(make(), qconfig=ema_fakequant_qconfig).train()
    gm, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.02)

    @jit.trace
    def step(x, labels):
        with gm:
            loss = F.nn.cross_entropy(net(x), labels)
            gm.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return net, [step(*batch(shape, number % 2)).item() for number in range(STEPS)]


@pytest.mark.parametrize("name", NETWORKS)
def test_from_training_to_cpp(name, tmp_path):
    make, shape = NETWORKS[name]
    net, losses = trained(make, shape)
    assert np.isfinite(losses).all() and losses[-1] < losses[0]
    x, _ = batch(shape, 77)
    want = net.eval()(x)
    assert len(np.unique(want.numpy())) > 10
    integers = quantize(net, inplace=False)
    assert same_bits(integers(x), want)
    weights = [each for name, each in integers.named_parameters() if name.endswith("weight")]
    assert all(each.dtype == np.int8 for each in weights if each.ndim > 1)
    call = jit.trace(integers, capture_as_const=True)
    assert all(same_bits(call(x), want) for _ in range(2))
    path = tmp_path / "integers.tess"
    call.dump(path, arg_names=["x"], output_names=["y"])
    assert same_bits(jit.load(path)(x=x), want)
    np.save(tmp_path / "x.npy", x.numpy())
    files = [f"{name}={tmp_path / name}.npy" for name in ("x", "y")]
    command = [TOOL, path, f"--input={files[0]}", f"--output={files[1]}"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    assert np.load(tmp_path / "y.npy").tobytes() == want.numpy().tobytes()
