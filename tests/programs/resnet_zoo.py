"""Residual networks as a model zoo has them: blocks, initial values, checkpoints, training on."""

import os
import tempfile

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.hub as hub
import megengine.module as M  # noqa: N812
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import SGD


class BasicBlock(M.Module):
    """Two 3x3 convolutions beside a shortcut."""

    expansion = 1

    def __init__(self, inputs, channels, stride=1, norm=M.BatchNorm2d):
        super().__init__()
        self.conv1 = M.Conv2d(inputs, channels, 3, stride, padding=1, bias=False)
        self.bn1 = norm(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, 1, padding=1, bias=False)
        self.bn2 = norm(channels)
        self.downsample = shortcut(inputs, channels, stride, norm)

    def forward(self, x):
        identity = self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += identity
        return F.relu(x)


class Bottleneck(M.Module):
    """1x1, 3x3 in groups, 1x1, beside a shortcut."""

    expansion = 4

    def __init__(self, inputs, channels, stride=1, norm=M.BatchNorm2d, groups=2):
        super().__init__()
        outputs = channels * self.expansion
        self.conv1 = M.Conv2d(inputs, channels, 1, bias=False)
        self.bn1 = norm(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, stride, padding=1, groups=groups, bias=False)
        self.bn2 = norm(channels)
        self.conv3 = M.Conv2d(channels, outputs, 1, bias=False)
        self.bn3 = norm(outputs)
        self.downsample = shortcut(inputs, outputs, stride, norm)

    def forward(self, x):
        identity = self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = self.bn3(self.conv3(x))
        return F.relu(x + identity)


def shortcut(inputs, outputs, stride, norm):
    if inputs == outputs and stride == 1:
        return M.Identity()
    return M.Sequential(M.Conv2d(inputs, outputs, 1, stride, bias=False), norm(outputs))


class ResNet(M.Module):
    """A stem, layers of blocks, and a classifier."""

    def __init__(self, block, layers, classes=10, width=8):
        super().__init__()
        self.inputs = width
        self.conv1 = M.Conv2d(3, width, 3, stride=1, padding=1, bias=False)
        self.bn1 = M.BatchNorm2d(width)
        self.maxpool = M.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self.make_layer(block, width, layers[0])
        self.layer2 = self.make_layer(block, 2 * width, layers[1], stride=2)
        self.fc = M.Linear(self.inputs, classes)
        self.init_weights()

    def make_layer(self, block, channels, blocks, stride=1):
        layers = []
        for index in range(blocks):
            layers.append(block(self.inputs, channels, stride if index == 0 else 1))
            self.inputs = channels * block.expansion
        return M.Sequential(*layers)

    def init_weights(self):
        for module in self.modules():
            if isinstance(module, M.Conv2d):
                M.init.msra_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, M.BatchNorm2d):
                M.init.ones_(module.weight)
                M.init.zeros_(module.bias)
            elif isinstance(module, M.Linear):
                M.init.msra_uniform_(module.weight, a=5**0.5)
                fan_in, _ = M.init.calculate_fan_in_and_fan_out(module.weight)
                M.init.uniform_(module.bias, -(fan_in**-0.5), fan_in**-0.5)

    def extract_features(self, x):
        outputs = {"stem": self.maxpool(F.relu(self.bn1(self.conv1(x))))}
        outputs["res1"] = self.layer1(outputs["stem"])
        outputs["res2"] = self.layer2(outputs["res1"])
        return outputs

    def forward(self, x):
        x = self.extract_features(x)["res2"]
        x = F.avg_pool2d(x, x.shape[-1])
        return self.fc(F.flatten(x, 1))


@hub.pretrained("https://localhost/resnet_small.pkl")
def resnet_small(**kwargs):
    """Basic blocks; `pretrained=True` would fetch its values."""
    return ResNet(BasicBlock, [1, 1], **kwargs)


def resnext_small(**kwargs):
    return ResNet(Bottleneck, [1, 2], **kwargs)


def batch(seed):
    rng = np.random.RandomState(seed)
    label = rng.randint(0, 4, 16)
    image = rng.normal(size=(16, 3, 16, 16)) + 0.7 * label[:, None, None, None]
    return mge.tensor(image, dtype="float32"), mge.tensor(label, dtype="int32")


def make(create):
    model = create(classes=4)
    names = ("weight", "bias")
    decayed = [p for name, p in model.named_parameters() if name.endswith(names[0])]
    others = [p for name, p in model.named_parameters() if name.endswith(names[1])]
    groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    optimizer = SGD(groups, lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
    return model, optimizer, GradManager().attach(model.parameters())


def train(model, optimizer, manager, steps):
    losses = []
    for step in steps:
        image, label = batch(step)
        with manager:
            loss = F.nn.cross_entropy(model(image), label, label_smooth=0.1)
            manager.backward(loss)
            optimizer.step().clear_grad()
        losses.append(loss.item())
    return losses


def check_resuming(create, path):
    """Training that stops, is saved and goes on has the losses of training that does not stop."""
    mge.random.seed(5)
    state = create(classes=4).state_dict()
    whole = make(create)
    whole[0].load_state_dict(state)
    losses = train(*whole, range(12))
    assert losses[-1] < 0.8 * losses[0], losses

    first = make(create)
    first[0].load_state_dict(state)
    before = train(*first, range(7))
    kept = {"epoch": 7, "state_dict": first[0].state_dict(), "optimizer": first[1].state_dict()}
    mge.save(kept, path)

    loaded = mge.load(path)
    second = make(create)
    second[0].load_state_dict(loaded["state_dict"])
    second[1].load_state_dict(loaded["optimizer"])
    after = train(*second, range(loaded["epoch"], 12))
    assert before + after == losses, (before, after, losses)
    return losses


def check_state(model):
    """Names and kinds of what a checkpoint holds."""
    state = model.state_dict()
    assert list(state)[:3] == ["bn1.bias", "bn1.running_mean", "bn1.running_var"]
    assert state["bn1.running_mean"].shape == (8,) and isinstance(state["fc.bias"], np.ndarray)
    assert state["layer2.0.downsample.0.weight"].shape[2:] == (1, 1)
    other = resnet_small(classes=7)
    del state["fc.weight"], state["fc.bias"]
    missing = other.load_state_dict(state, strict=False)
    np.testing.assert_array_equal(other.conv1.weight.numpy(), model.conv1.weight.numpy())
    try:
        other.load_state_dict(state)
    except KeyError as error:
        assert "fc.weight" in str(error)
    else:
        raise AssertionError("a checkpoint without fc.weight was taken")
    return missing


def check_inference(model):
    """A module in eval mode uses running statistics: one picture's result is that of its batch."""
    image, _ = batch(1)
    assert model.training and model.bn1.training
    model.eval()
    assert not any(module.training for module in model.modules())
    together = model(image).numpy()
    alone = np.concatenate([model(image[i : i + 1]).numpy() for i in range(len(image))])
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-4)
    features = model.extract_features(image)
    assert features["res2"].shape[1] == model.fc.in_features
    frozen = M.BatchNorm2d(8, freeze=True)
    frozen.load_state_dict(model.bn1.state_dict())
    expected = model.bn1(features["stem"]).numpy()
    np.testing.assert_allclose(frozen(features["stem"]).numpy(), expected, rtol=1e-5, atol=1e-5)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for create in (resnet_small, resnext_small):
            losses = check_resuming(create, os.path.join(folder, "checkpoint.pkl"))
            print(f"{create.__name__}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    mge.random.seed(5)
    model = resnet_small(classes=4)
    train(model, *make(lambda **_: model)[1:], range(8))
    check_state(model)
    check_inference(model)


if __name__ == "__main__":
    main()
