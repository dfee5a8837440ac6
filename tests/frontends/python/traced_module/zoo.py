"""Modules of the examples and of the programs, each with arguments for a call."""

import importlib
import os
import re
import sys

import numpy as np
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812

_ROOT = os.path.realpath(__file__).split("/tests/")[0]
_IMPORT = re.compile(r"^(import|from) megengine\b", re.MULTILINE)


def _floats(*shape):
    return ts.tensor(np.random.RandomState(0).randn(*shape).astype(np.float32))


def _ints(high, *shape):
    return ts.tensor(np.random.RandomState(0).randint(0, high, shape).astype(np.int32))


def _example(name):
    folder = os.path.join(_ROOT, "frontends/examples")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def _program(name):
    """A program of tests/programs, which imports tessera by its other name."""
    with open(os.path.join(_ROOT, "tests/programs", f"{name}.py"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("import megengine as mge", "import tessera as mge")
    text = text.replace("megengine", "tessera")
    space = type(sys)(f"program_{name}")
    sys.modules[space.__name__] = space
    exec(compile(text, name, "exec"), vars(space))
    return space


def _attention_mask(program):
    return _ints(program.WORDS, 2, program.LENGTH), ts.tensor([3, program.LENGTH])


EXAMPLES = {
    "ctc": lambda: (_example("ctc").Reader(16), (_floats(2, 48, 8),)),
    "dcgan": lambda: (_example("dcgan").DCGAN(8), (_floats(2, 16),)),
    "dcgan.Discriminator": lambda: (_example("dcgan").Discriminator(8), (_floats(2, 1, 8, 8),)),
    "detector": lambda: (_example("detector").Detector(8), (_floats(2, 3, 32, 32),)),
    "digits_net": lambda: (_example("digits_net").Net(), (_floats(2, 1, 8, 8),)),
    "dqn": lambda: (_example("dqn").QNetwork(8), (_floats(2, 4),)),
    "gpt": lambda: (_example("gpt").GPT(30, 16, 2, 2), (_ints(30, 2, 12),)),
    "mobilenet": lambda: (_example("mobilenet").MobileNetV2(10, 0.25), (_floats(2, 3, 32, 32),)),
    "resnet18": lambda: (_example("resnet").resnet18(10, 8), (_floats(2, 3, 32, 32),)),
    "resnet50": lambda: (_example("resnet").resnet50(10, 8), (_floats(2, 3, 32, 32),)),
    "shufflenet": lambda: (
        _example("shufflenet").ShuffleNetV2(10, (8, 16, 32, 64), (2, 2, 2), 8),
        (_floats(2, 3, 32, 32),),
    ),
    "transformer": lambda: (
        _example("transformer").Transformer(16, 2, 2),
        (_ints(10, 2, 4), _ints(20, 2, 9)),
    ),
    "unet": lambda: (_example("unet").UNet(3, 2, (4, 8, 16)), (_floats(2, 3, 16, 16),)),
    "vae": lambda: (_example("vae").VAE(16), (_floats(2, 8, 8),)),
    "vit": lambda: (_example("vit").ViT(8, 2, 16, 2, 2), (_floats(2, 1, 8, 8),)),
    "networks.ResNet18": lambda: (_example("networks").ResNet18(), (_floats(1, 3, 32, 32),)),
    "networks.EncoderLayer": lambda: (_example("networks").EncoderLayer(), (_floats(1, 8, 256),)),
}

PROGRAMS = {
    "custom_gradients": lambda: (_program("custom_gradients").Net(), (_floats(2, 3),)),
    "dcgan": lambda: (_program("dcgan").Generator(), (_floats(2, 8),)),
    "dcgan.Discriminator": lambda: (_program("dcgan").Discriminator(), (_floats(2, 1, 8, 8),)),
    "detector": lambda: (_program("detector").Detector(8), (_floats(2, 1, 32, 32),)),
    "lenet": lambda: (_program("lenet").LeNet(), (_floats(2, 1, 32, 32),)),
    "mixed_precision": lambda: (_program("mixed_precision").Net(), (_floats(2, 3, 8, 8),)),
    "network_editing": lambda: (_program("network_editing").Net(), (_floats(2, 6),)),
    "random_numbers": lambda: (_program("random_numbers").VAE(), (_floats(2, 6),)),
    "tracing": lambda: (_program("tracing").Net(), (_floats(2, 2, 6, 6),)),
}


def language_model():
    """A model that is given its state, a tuple."""
    model = _program("language_model").LanguageModel()
    return model, (_ints(5, 12, 4), model.start())


def encoder():
    """A model with a list of blocks, and lengths."""
    program = _program("transformer")
    return program.Encoder(), _attention_mask(program)


def resnet_zoo():
    """A network of the program's blocks."""
    program = _program("resnet_zoo")
    return program.ResNet(program.Bottleneck, (1, 1, 1, 1)), (_floats(2, 3, 32, 32),)


def resnet_of_basic_blocks():
    """A network of the program's other blocks."""
    program = _program("resnet_zoo")
    return program.ResNet(program.BasicBlock, (1, 1, 1, 1)), (_floats(2, 3, 32, 32),)


PROGRAMS.update(language_model=language_model, transformer=encoder, resnet_zoo=resnet_zoo)
PROGRAMS["resnet_zoo.BasicBlock"] = resnet_of_basic_blocks
ALL = {**{f"examples/{k}": v for k, v in EXAMPLES.items()},
       **{f"programs/{k}": v for k, v in PROGRAMS.items()}}  # fmt: skip

__all__ = ["ALL", "EXAMPLES", "F", "M", "PROGRAMS"]
