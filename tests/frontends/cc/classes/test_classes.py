"""Every module and optimizer of C++ gives the bits of the Python class that it is written from."""

import ast
import os
import pathlib
import subprocess
import tomllib

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera import optimizer, random
from tessera._tree import flatten
from tessera.autodiff import GradManager

from tests.frontends.cc.classes import cases

CLIPS = ("clip_1.0", "clip_2.0", "clip_inf", "clip_value")
AVERAGES = ("ema", "swa")
SCHEDULES = {**cases.SCHEDULES, **cases.SCHEDULES_BY_HAND}
CASES = [*cases.MODULES, *cases.OPTIMIZERS, *SCHEDULES, *CLIPS, *AVERAGES]
TABLE = tomllib.loads(pathlib.Path("frontends/cc/translate/classes.toml").read_text())


def drawn(rng, kind, *shape):
    """The values of an input."""
    if kind == "indices":
        return rng.integers(0, shape[0], shape[1:]).astype(np.int32)
    if kind == "boxes":
        corners = np.sort(rng.uniform(0, 7, (shape[0], 2, 2)), axis=1)
        return np.column_stack([np.zeros(shape[0]), *corners.reshape(shape[0], 4).T]).astype("f")
    values = rng.normal(size=shape).astype(np.float32)
    return np.abs(values) if kind == "positive" else values


def made(call):
    """The module of a case."""
    return eval(f"M.{call}", {"M": M})  # noqa: S307


def listed(result):
    """The tensors of a result."""
    return [each for each in flatten(result)[0] if each is not None]


def called(net, tensors):
    """What the module makes of them; an LSTM's state is a pair."""
    if isinstance(net, M.LSTM) and len(tensors) == 3:
        return net(tensors[0], tuple(tensors[1:]))
    return net(*tensors)


def state_of(net, rng):
    """Values unlike the initial ones, in the form that a state has."""
    return {
        name: (np.abs(rng.normal(size=value.shape)) + 0.1).astype(value.dtype)
        for name, value in net.state_dict().items()
    }


def ran_module(name):
    """({name: array} that C++ is given, and what has to come of it)."""
    call, *inputs = cases.MODULES[name]
    rng = np.random.default_rng(len(name))
    random.seed(5)
    net = made(call)
    expected = {f"initial/{key}": value for key, value in net.state_dict().items()}
    state = state_of(net, rng)
    net.load_state_dict(state)
    given = {f"state/{key}": value for key, value in state.items()}
    tensors = [tessera.Tensor(drawn(rng, *each)) for each in inputs]
    given |= {f"input/{i}": each.numpy() for i, each in enumerate(tensors)}
    manager = GradManager()
    watched = {f"grad/{key}/0": each for key, each in net.named_parameters()}
    watched |= {f"input_grad/{i}/0": x for i, x in enumerate(tensors) if x.dtype == np.float32}
    manager.attach(list(watched.values()))
    random.seed(6)
    with manager:
        results = listed(called(net, tensors))
        weights = [rng.normal(size=each.shape).astype(np.float32) for each in results]
        manager.backward(results, [tessera.Tensor(each) for each in weights])
    given |= {f"weight/{i}": each for i, each in enumerate(weights)}
    expected |= {f"result/{i}": each.numpy() for i, each in enumerate(results)}
    expected |= {k: each.grad.numpy() for k, each in watched.items() if each.grad is not None}
    expected |= {f"after/{key}": value for key, value in net.state_dict().items()}
    net.eval()
    expected |= {f"eval/{i}": y.numpy() for i, y in enumerate(listed(called(net, tensors)))}
    return given, expected


def ran_optimizer(name):
    """The same of an optimizer."""
    rng, dtype = np.random.default_rng(1), "float16" if name.endswith("fp16") else "float32"
    values = [rng.normal(size=shape).astype(dtype) for shape in cases.SHAPES]
    given = {f"param/{i}": value for i, value in enumerate(values)}
    params = [tessera.Parameter(value) for value in values]
    call = eval(f"optimizer.{cases.OPTIMIZERS[name]}", {"optimizer": optimizer, "params": params})
    expected = {}
    for step in range(cases.STEPS):
        for i, param in enumerate(params):
            given[f"grad/{step}/{i}"] = rng.normal(size=param.shape).astype(dtype)
            param.grad = tessera.Tensor(given[f"grad/{step}/{i}"])
        call.step()
        expected |= {f"step/{step}/{i}": param.numpy() for i, param in enumerate(params)}
    for number, state in call.state_dict()["state"].items():
        expected |= {f"state/{number}.{key}": value for key, value in state.items()}
    return given, expected | {"state/lr": np.float64(call.param_groups[0]["lr"])}


def rates_of(name):
    """The learning rates of a schedule."""
    sgd = optimizer.SGD([tessera.Parameter([0.0])], lr=0.5)
    schedule = eval(SCHEDULES[name], {**vars(optimizer), "optimizer": sgd})  # noqa: S307
    rates = [sgd.param_groups[0]["lr"]]
    for metric in cases.METRICS:
        schedule.step(metric) if name == "plateau" else schedule.step()
        rates.append(sgd.param_groups[0]["lr"])
    return np.array(rates)


def clipped(name, grads):
    """Gradients, clipped."""
    params = [tessera.Parameter(np.zeros_like(grad)) for grad in grads]
    for param, grad in zip(params, grads, strict=True):
        param.grad = tessera.Tensor(grad)
    if name == "clip_value":
        optimizer.clip_grad_value(params, -0.5, 0.25)
        norm = {}
    else:
        ord = float(name.partition("_")[2])
        norm = {"norm/0": optimizer.clip_grad_norm(params, 0.5, ord).numpy()}
    return {f"{i}/0": param.grad.numpy() for i, param in enumerate(params)} | norm


def averaged(name, first):
    """The averages of a tensor that grows, and what the tensor has while they are applied."""
    param = tessera.Parameter(first)
    make = {"ema": lambda: optimizer.EMA([param], 0.75), "swa": lambda: optimizer.SWA([param])}
    averages = make[name]()
    for factor in (2, 3, 4):
        param._reset(tessera.Tensor(first) * factor)
        averages.update()
    expected = {"average/0": averages.averages[0].numpy()}
    again = make[name]()
    again.load_state_dict(averages.state_dict())
    expected["again/0"] = again.update().averages[0].numpy()
    with averages.applied():
        expected["applied/0"] = param.numpy()
    return expected | {"own/0": param.numpy()}


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """({case: what has to come}, {case: what came}, the lines that C++ wrote)."""
    folder = tmp_path_factory.mktemp("classes")
    wanted, given = {}, {"metrics/all": np.array(cases.METRICS)}
    for name in [*cases.MODULES, *cases.OPTIMIZERS]:
        of_case, wanted[name] = (ran_module if name in cases.MODULES else ran_optimizer)(name)
        given |= {f"{name}/{key}": value for key, value in of_case.items()}
    for name in SCHEDULES:
        wanted[name] = {"rates": rates_of(name)}
    grads = [np.random.default_rng(3).normal(size=shape).astype("f") for shape in cases.SHAPES]
    given |= {f"clip/{i}": grad for i, grad in enumerate(grads)}
    wanted |= {name: clipped(name, grads) for name in CLIPS}
    wanted |= {name: averaged(name, grads[0]) for name in AVERAGES}
    tessera.save(given, folder / "given")
    command = [os.environ["RUN_CASES"], folder / "given", folder / "results"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    came = {name: {} for name in wanted}
    for key, value in tessera.load(folder / "results").items():
        name, _, what = key.partition("/")
        came[name][what] = value.numpy()
    return wanted, came, done.stdout.splitlines()


@pytest.mark.parametrize("name", CASES)
def test_cpp_gives_the_bits_of_python(run, name):
    wanted, came = run[0][name], run[1][name]
    assert sorted(came) == sorted(wanted)
    for what, value in wanted.items():
        assert came[what].shape == value.shape and came[what].dtype == value.dtype, what
        assert came[what].tobytes() == value.tobytes(), what


@pytest.mark.parametrize("name", cases.MODULES)
def test_parameters_are_in_one_order(run, name):
    names = [line.split()[1] for line in run[2] if line.split()[0] == name]
    assert names == [each for each, _ in made(cases.MODULES[name][0]).named_parameters()]


def refusal(call):
    """What Python says."""
    params = [tessera.Parameter([0.0])]
    names = {**vars(optimizer), **{name: getattr(M, name) for name in M.__all__}}
    names |= {"params": params, "optimizer": optimizer.SGD(params, lr=0.5)}
    with pytest.raises((ValueError, TypeError)) as refused:
        eval(call, names)  # noqa: S307
    return str(refused.value)


REFUSED = {**cases.REFUSED_MODULES, **cases.REFUSED_OPTIMIZERS, **cases.REFUSED_SCHEDULES,
           "decay": "EMA(params, 1.5)", "nothing": "SWA([])"}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_in_the_same_words(run, name):
    start = f"refused {name} "
    assert [line.removeprefix(start) for line in run[2] if line.startswith(start)] == [
        refusal(REFUSED[name])
    ]


def classes_of(texts):
    """The classes that calls name."""
    return {ast.parse(text).body[0].value.func.id for text in texts}


def test_every_class_of_python_is_here_or_has_a_reason():
    modules = {name for name in M.__all__ if isinstance(getattr(M, name), type)}
    optimizers = {name for name in optimizer.__all__ if isinstance(getattr(optimizer, name), type)}
    lists = ("modules", "optimizers", "schedules", "by_hand", "python_only")
    known = set().union(*(TABLE[each] for each in lists))
    assert known == modules | optimizers
    assert all(len(reason) > 10 for reason in TABLE["python_only"].values())


def test_every_class_has_a_case():
    assert classes_of(call for call, *_ in cases.MODULES.values()) | cases.CALLED_OTHERWISE == {
        *TABLE["modules"]
    }
    assert classes_of(cases.OPTIMIZERS.values()) == {*TABLE["optimizers"]}
    assert classes_of(cases.SCHEDULES.values()) == {*TABLE["schedules"]}
