"""The networks of examples/networks.py in PyTorch."""

from harness import torch
from networks import HEADS, LAYERS, MLP_SIZES, STAGES, WIDTH


def torch_training(model, loss, optimizer):
    """The same step in PyTorch."""

    def step(inputs, target):
        value = loss(model(inputs), target)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
        return value

    return step


def torch_mlp():
    """mlp() in PyTorch."""
    from torch import nn, optim

    first, second, third, last = MLP_SIZES
    model = nn.Sequential(
        nn.Linear(first, second), nn.ReLU(), nn.Linear(second, third), nn.ReLU(),
        nn.Linear(third, last),
    )  # fmt: skip
    adam = optim.Adam(model.parameters(), lr=1e-3)
    return torch_training(model, nn.functional.cross_entropy, adam)


def torch_resnet18():
    """resnet18() in PyTorch."""
    from torch import nn, optim

    def conv_norm(inputs, outputs, size, stride):
        conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
        return [conv, nn.BatchNorm2d(outputs)]

    class TorchBlock(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            first, second = conv_norm(inputs, outputs, 3, stride), conv_norm(outputs, outputs, 3, 1)
            self.main = nn.Sequential(*first, nn.ReLU(), *second)
            same = stride == 1 and inputs == outputs
            self.side = (
                nn.Sequential() if same else nn.Sequential(*conv_norm(inputs, outputs, 1, stride))
            )

        def forward(self, x):
            return torch.relu(self.main(x) + self.side(x))

    layers, inputs = [*conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for outputs, stride in STAGES:
        layers += [TorchBlock(inputs, outputs, stride), TorchBlock(outputs, outputs, 1)]
        inputs = outputs
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    sgd = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return torch_training(model, nn.functional.cross_entropy, sgd)


def torch_encoder():
    """encoder() in PyTorch."""
    from torch import nn, optim

    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    sgd = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return torch_training(model, nn.functional.mse_loss, sgd)
