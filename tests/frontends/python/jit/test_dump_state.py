"""What a dumped function updates is state of the loaded program."""

import threading

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.optimizer import SGD

from tests.support.helper import as_list, same_bits
from tests.support.networks import Net, tensor


def dropout():
    return lambda x: F.dropout(x, 0.5)


def counter():
    count = tessera.Tensor(np.zeros((), "int32"))

    def call(x):
        count._reset(count + 1)
        return x * count

    return call


def running_mean():
    return Net().train().__call__


def momentum():
    net = Net().train()
    opt = SGD(net.parameters(), lr=0.05, momentum=0.9)
    gm = GradManager().attach(net.parameters())

    def step(x):
        with gm:
            loss = (net(x) ** 2).sum()
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    return step


def large():
    total = tessera.Tensor(np.zeros((4, 2000), "float32"))

    def call(x):
        total._reset(total + x.sum())
        return total.sum(axis=1)

    return call


MAKERS = [dropout, counter, running_mean, momentum, large]


def dumped(function, path, **options):
    """Traced, called twice, dumped."""
    traced = jit.trace(function, capture_as_const=True)
    traced(tensor(4, 6))
    traced(tensor(4, 6, seed=1))
    traced.dump(path, arg_names=["x"], training=True, **options)


@pytest.mark.parametrize("allow_code", [False, True])
@pytest.mark.parametrize("make", MAKERS)
def test_calls_go_on_where_the_dump_was(make, allow_code, tmp_path):
    function = make()
    dumped(function, tmp_path / "f.tess")
    program = jit.load(tmp_path / "f.tess", allow_code=allow_code)
    assert program.inputs == ["x"] and program.outputs == ["output0"]
    for seed in range(2, 5):
        x = tensor(4, 6, seed=seed)
        assert same_bits(program(x), function(x)), seed


@pytest.mark.parametrize("make", MAKERS)
def test_two_loads_are_two_states(make, tmp_path):
    dumped(make(), tmp_path / "f.tess")
    first, second = jit.load(tmp_path / "f.tess"), jit.load(tmp_path / "f.tess")
    x = tensor(4, 6, seed=2)
    results = [first(x).numpy() for _ in range(3)]
    assert not same_bits(results[0], results[1])
    assert all(same_bits(second(x), each) for each in results)


def test_free_dimension(tmp_path):
    function = counter()
    dumped(function, tmp_path / "f.tess", dims={"x": {0: jit.Dim("n", 1, 32)}})
    program = jit.load(tmp_path / "f.tess")
    for rows in (1, 7, 32):
        assert same_bits(program(tensor(rows, 6)), function(tensor(rows, 6)))


def test_a_variable_that_is_only_written(tmp_path):
    last = tessera.Tensor(np.zeros(6, "float32"))

    def call(x, y):
        last._reset(x[0])
        y += 1
        return x * 2

    traced = jit.trace(call, capture_as_const=True)
    traced(tensor(4, 6), tensor(2))
    traced.dump(tmp_path / "f.tess", arg_names=["x", "y"])
    program = jit.load(tmp_path / "f.tess")
    assert program.outputs[0] == "output0" and len(program.outputs) == 2
    assert same_bits(program.state_dict()["unread"], tensor(4, 6)[0])
    x, y = tensor(4, 6, seed=1), tensor(2)
    results = as_list(program(x, y))
    assert same_bits(results[0], x * 2) and same_bits(results[1], y + 1)
    assert same_bits(program.state_dict()["unread"], x[0])
    assert same_bits(last, tensor(4, 6)[0])


def test_state_dict(tmp_path):
    dumped(counter(), tmp_path / "f.tess")
    program = jit.load(tmp_path / "f.tess")
    before = program.state_dict()
    assert [each.item() for each in before.values()] == [2]
    program(tensor(4, 6))
    (name,) = before
    assert before[name].item() == 2 and program.state_dict()[name].item() == 3
    before[name] += 40
    assert program.state_dict()[name].item() == 3
    program.load_state_dict(before)
    assert same_bits(program(tensor(4, 6)), tensor(4, 6) * 43) and before[name].item() == 42


def test_state_dict_refuses(tmp_path):
    dumped(counter(), tmp_path / "f.tess")
    program = jit.load(tmp_path / "f.tess")
    (name,) = program.state_dict()
    with pytest.raises(ValueError, match=r"f.tess: state must be one of the program's, got z$"):
        program.load_state_dict({name: tessera.Tensor(np.zeros((), "int32")), "z": tensor(1)})
    with pytest.raises(ValueError, match=rf"f.tess: state {name} must be i32\[\], got f32\[2\]$"):
        program.load_state_dict({name: tensor(2)})
    with pytest.raises(TypeError, match="load_state_dict: values must be Tensor, got"):
        program.load_state_dict({name: 3})
    assert program.state_dict()[name].item() == 2
    plain = jit.trace(lambda x: x + 1, capture_as_const=True)
    plain(tensor(2))
    plain.dump(tmp_path / "plain.tess")
    assert jit.load(tmp_path / "plain.tess").state_dict() == {}


def test_state_keeps_its_shape(tmp_path):
    grown = tessera.Tensor(np.zeros(1, "float32"))
    traced = jit.trace(lambda x: grown._reset(F.concat([grown, x])), capture_as_const=True)
    traced(tensor(2))
    with pytest.raises(
        ValueError,
        match=r"dump: an updated tensor must keep its dtype and shape, got captured0 of f32\[3\]",
    ):
        traced.dump(tmp_path / "f.tess")


def test_equal_names_are_two_keys(tmp_path):
    counts = [tessera.Tensor(np.zeros((), "int32")) for _ in range(2)]
    counts[0].name = counts[1].name = "count"

    def call(x):
        for step, count in enumerate(counts):
            count._reset(count + step + 1)
        return x * counts[0] * counts[1]

    dumped(call, tmp_path / "f.tess")
    state = jit.load(tmp_path / "f.tess").state_dict()
    assert {name: value.item() for name, value in state.items()} == {"count": 2, "count_2": 4}


def test_threads_share_a_program(tmp_path):
    traced = jit.trace(counter(), capture_as_const=True)
    traced(tensor(1, 1))
    traced.dump(tmp_path / "f.tess")
    program, results = jit.load(tmp_path / "f.tess"), []

    def calls():
        for _ in range(50):
            results.append(program(tessera.Tensor(np.ones((1, 1), "float32"))).item())

    threads = [threading.Thread(target=calls) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(2, 152))
