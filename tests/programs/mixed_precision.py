"""Training in two precisions: autocast, a gradient scaler, and formats of memory."""

import megengine as mge
import megengine.amp as amp
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import SGD


class Net(M.Module):
    """Convolution, normalisation, classifier."""

    def __init__(self):
        super().__init__()
        self.conv = M.ConvBnRelu2d(3, 8, 3, padding=1)
        self.pool = M.AdaptiveAvgPool2d(2)
        self.fc = M.Linear(8 * 2 * 2, 4)
        self.dtypes = []

    def forward(self, x):
        x = self.conv(x)
        self.dtypes.append(x.dtype)
        logits = self.fc(F.flatten(self.pool(x), 1))
        self.dtypes.append(logits.dtype)
        return logits


def batch(seed, count=8):
    rng = np.random.RandomState(seed)
    label = rng.randint(0, 4, count)
    image = rng.normal(size=(count, 3, 8, 8)) + label[:, None, None, None]
    return mge.tensor(image, dtype="float32"), mge.tensor(label, dtype="int32")


def train(state, enabled, scaled, steps=20):
    """Losses, the dtypes within, and the scales of the training."""
    model = Net()
    model.load_state_dict(state)
    manager = GradManager().attach(model.parameters())
    optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = amp.GradScaler(init_scale=64.0, growth_interval=5) if scaled else None

    @amp.autocast(enabled=enabled)
    def step(image, label):
        with manager:
            logits = model(image)
            loss = F.nn.cross_entropy(logits, label)
            if scaler is None:
                manager.backward(loss)
            else:
                scaler.backward(manager, loss)
        optimizer.step().clear_grad()
        return loss

    losses, scales = [], []
    for number in range(steps):
        losses.append(float(step(*batch(number)).item()))
        scales.append(scaler.scale_factor if scaler else 1.0)
    assert all(p.dtype == np.float32 for p in model.parameters())
    return np.array(losses), set(model.dtypes), scales


def check_training(state):
    """Half precision computes in float16 and learns as float32 does."""
    exact, dtypes, _ = train(state, enabled=False, scaled=False)
    assert dtypes == {np.dtype("float32")}
    for scaled in (False, True):
        losses, dtypes, scales = train(state, enabled=True, scaled=scaled)
        assert np.dtype("float16") in dtypes, dtypes
        np.testing.assert_allclose(losses, exact, rtol=0.1, atol=0.05)
        assert losses[-3:].mean() < 0.7 * losses[:3].mean(), losses
    assert scales[0] == 64.0 and scales[-1] == 64.0 * 16, scales  # doubled at every fifth step
    return exact


def check_scaler():
    """Gradients that are not finite make the scale smaller and become none."""
    weight = mge.Parameter(np.ones(3, dtype="float32"))
    manager = GradManager().attach([weight])
    scaler = amp.GradScaler(init_scale=2.0**10, growth_factor=2.0, backoff_factor=0.25,
                            growth_interval=100)  # fmt: skip
    with manager:
        scaler.backward(manager, (weight * np.float32(3.0)).sum())
    np.testing.assert_allclose(weight.grad.numpy(), 3.0)
    assert scaler.scale_factor == 1024.0
    weight.grad = None
    with manager:
        scaler.backward(manager, (weight * np.float32("inf")).sum())
    assert weight.grad is None and scaler.scale_factor == 256.0
    with manager:
        manager.backward((weight * 2).sum(), dy=mge.tensor(scaler.scale_factor))
    np.testing.assert_allclose(weight.grad.numpy(), 512.0)
    scaler.unscale(manager.attached_tensors())
    np.testing.assert_allclose(weight.grad.numpy(), 2.0)
    state = scaler.state_dict()
    other = amp.GradScaler()
    other.load_state_dict(state)
    assert other.scale_factor == scaler.scale_factor


def check_settings():
    """Autocast as a context: its dtypes, and off again."""
    x = mge.tensor(np.ones((2, 3), dtype="float32"))
    layer = M.Linear(3, 2)
    with amp.autocast(low_prec_dtype="float16", high_prec_dtype="float32"):
        assert layer(x).dtype == np.float16
        assert F.matmul(x, x.T).dtype == np.float16
        assert F.exp(x).dtype == np.float32
    assert layer(x).dtype == np.float32
    amp.enabled = True
    try:
        assert layer(x).dtype == np.float16
    finally:
        amp.enabled = False


def check_format():
    """Channels last changes the order in memory, not the numbers."""
    model, (image, _) = Net(), batch(3)
    model.eval()
    expected = model(image).numpy()
    model = amp.convert_module_format(model)
    got = model(amp.convert_tensor_format(image))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-5)
    optimizer = SGD(model.parameters(), lr=1e-3)
    manager = GradManager().attach(model.parameters())
    with manager:
        manager.backward(F.nn.square_loss(model(amp.convert_tensor_format(image)), 0 * got))
    optimizer.step()
    assert all(np.isfinite(p.numpy()).all() for p in model.parameters())


def main():
    mge.random.seed(4)
    losses = check_training(Net().state_dict())
    check_scaler()
    check_settings()
    check_format()
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, in half precision, too")


if __name__ == "__main__":
    main()
