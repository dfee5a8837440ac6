"""jit.explain: kernels, memory, compilation and times of one compiled binding."""

import itertools
import json

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.jit import Spec, explain
from tessera.utils.profiler import Profiler

from tests.support.helper import floats


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = M.Linear(64, 128), M.Linear(128, 8)

    def forward(self, x):
        return F.softmax(self.second(F.relu(self.first(x))))


def called(function, *args, **options):
    traced = jit.trace(function, symbolic=True, **options)
    traced(*args), traced(*args)
    return traced


def test_steps_of_a_net():
    account = explain(called(Net(), tessera.Tensor(floats(32, 64))))
    assert [step.name for step in account.steps if step.kind == "library"] == ["matmul", "matmul"]
    first, relu, *_ = account.steps
    assert first.module == "Net.first" and first.line.startswith("test_explanation.py:")
    assert first.operations == 2 * 32 * 64 * 128
    assert first.bytes == 4 * (32 * 64 + 64 * 128 + 32 * 128)
    assert "threads" in first.choice or "thread" in first.choice
    assert relu.kind == "kernel" and relu.name == "add relu" and relu.code_bytes > 50
    assert [account.facts.operators[node].op for node in relu.nodes] == ["add", "relu"]
    assert account.title == "Net(x=float32[32, 64])"
    assert account.launches <= len(account.steps) and account.threads >= 1


def test_every_operator_has_its_step():
    account = explain(Net(), Spec((32, 64)))
    owners = [operator.step for operator in account.facts.operators]
    for step in account.steps:
        assert [owners[node] for node in step.nodes] == [step.number] * len(step.nodes)


def test_why_a_neighbour_has_a_kernel_of_its_own():
    account = explain(lambda x: x.sum(axis=1, keepdims=True).max(axis=0), Spec((100, 64)))
    (step,) = (step for step in account.steps if step.name == "max")
    (why,) = step.apart
    assert why.startswith("max apart from sum of test_explanation.py:")
    assert "must be over the same axes" in why and why in str(account)


def test_without_fusion_each_operator_has_a_kernel():
    account = explain(
        called(lambda x: F.exp(x) * 2, tessera.Tensor(floats(4)), without_fusion=True)
    )
    assert [step.name for step in account.steps] == ["exp", "mul"]


def test_memory_is_that_of_estimate():
    def function(x):
        return F.softmax(x @ x, -1) @ x

    account, planned = explain(function, Spec((300, 300))), jit.estimate(function, Spec((300, 300)))
    names = ("arena", "outputs", "constants", "rounding")
    assert [account.memory[name] for name in names] == [getattr(planned, name) for name in names]
    assert max(account.live) == account.peak.bytes <= planned.arena
    assert account.launches == planned.launches


def test_pieces_that_live_together_do_not_overlap():
    account = explain(Net(), Spec((32, 64)))
    for piece, other in itertools.combinations(account.pieces, 2):
        together = piece.first <= other.last and other.first <= piece.last
        ends = piece.offset + piece.bytes, other.offset + other.bytes
        assert not together or ends[0] <= other.offset or ends[1] <= piece.offset


def test_the_peak_has_the_tensors_of_its_step():
    def function(x):
        wide = F.concat([x, x, x, x])
        return (wide @ wide.T).sum() + x.sum()

    account = explain(function, Spec((100, 50)))
    step, total, pieces = account.peak.step, account.peak.bytes, account.peak.pieces
    assert total == sum(piece.bytes for piece in pieces)
    assert all(piece.first <= step <= piece.last for piece in pieces)
    rows = [account.piece_row(piece) for piece in pieces]
    assert rows[0]["bytes"] == 400 * 400 * 4 and rows[0]["type"] == "f32[400, 400]"
    assert rows[0]["location"].startswith("test_explanation.py:")


def test_passes_are_timed():
    names = [name for name, _ in explain(Net(), Spec((32, 64))).passes]
    assert {"expand-composites", "fuse-elementwise", "steps", "code"} <= set(names)
    assert names.index("fuse-elementwise") < names.index("steps") < names.index("code")


def test_times_come_from_a_profile():
    x = tessera.Tensor(floats(256, 64))
    traced = called(Net(), x)
    with_others = Profiler().start()
    for _ in range(3):
        traced(x)
    F.exp(x)
    with_others.stop()
    account = explain(traced).timed(with_others)
    assert account.runs == 3 and all(step.seconds > 0 for step in account.steps if step.calls)
    rates = account.rates(account.steps[0])
    work, seconds = account.steps[0].operations, account.steps[0].seconds
    assert rates["gflops"] == pytest.approx(work / seconds / 1e9)
    assert sum(account.rates(step)["share"] for step in account.steps) == pytest.approx(1)
    assert account.limits.gflops > 0 and account.limits.gbytes > 0
    assert "medians of 3 runs; the machine reaches" in str(account)


def test_a_profile_of_other_sizes_is_refused():
    small, large = tessera.Tensor(floats(2, 64)), tessera.Tensor(floats(256, 64))
    net = Net()
    traced, other = called(net, small), called(net, large)
    profiler = Profiler().start()
    other(large)
    profiler.stop()
    with pytest.raises(ValueError, match=r"explain: the profile must have a run of Net\(x=float32"):
        explain(traced).timed(profiler)


def test_several_kernels_in_one_launch():
    tensors = [tessera.Tensor(floats(4)) for _ in range(3)]
    traced = called(lambda *given: [each * 2 + 1 for each in given], *tensors)
    account = explain(traced)
    assert account.launches < len(account.steps)
    assert {step.launch for step in account.steps} == {0}
    profiler = Profiler().start()
    traced(*tensors)
    profiler.stop()
    timed = explain(traced).timed(profiler)
    assert [step.seconds is not None for step in timed.steps] == [True, False, False]


def test_a_loop_counts_its_trips():
    def run(x):
        return F.scan(lambda carry, each: (F.tanh(carry @ each), carry), x[0], x)

    x = tessera.Tensor(floats(7, 5, 5))
    traced = called(run, x)
    profiler = Profiler().start()
    traced(x)
    profiler.stop()
    account = explain(traced).timed(profiler)
    assert any(step.kind == "loop" and step.calls == 1 for step in account.steps)
    assert any(step.calls == 7 for step in account.steps)


def test_stages_of_sizes_that_data_decides():
    x = tessera.Tensor(np.arange(-5, 5, dtype=np.float32))
    traced = called(lambda x: F.exp(x[x > 0]).sum(), x)
    account = explain(traced)
    assert {step.part for step in account.steps} == set(range(len(account.facts.shapes)))
    assert {"mask_get", "exp sum"} <= {step.name for step in account.steps}


def test_a_loaded_program(tmp_path):
    traced = jit.trace(Net(), capture_as_const=True)
    x = tessera.Tensor(floats(3, 64))
    traced(x)
    traced.dump(str(tmp_path / "net.tess"), arg_names=["x"], dims={"x": {0: jit.Dim("batch")}})
    program = jit.load(tmp_path / "net.tess")
    with pytest.raises(ValueError, match="explain: the program must have run, or be given inputs"):
        explain(program)
    account = explain(program, Spec((5, 64)))
    assert account.steps[0].operations == 2 * 5 * 64 * 128
    program(x)
    assert explain(program).steps[0].operations == 2 * 3 * 64 * 128
    assert explain(program).memory["constants"] > 0


def test_json_has_all_facts():
    account = explain(Net(), Spec((32, 64)))
    facts = json.loads(account.to_json())
    assert facts["format"] == 1 and facts["memory"] == account.memory
    assert len(facts["steps"]) == len(account.steps)
    assert facts["steps"][0]["operations"] == account.steps[0].operations
    assert facts["peak"]["bytes"] == account.peak.bytes and facts["limits"] is None
    names = [value["name"] for value in facts["values"]]
    assert "first.weight" in names or "x" in names


def test_the_text_is_short_for_long_programs():
    def long(x):
        for number in range(100):
            x = (x @ x) + number
        return x

    account = explain(long, Spec((4, 4)))
    assert len(account.steps) == 200 and "160 more steps" in str(account)
    assert "more steps" not in account.text() and account.text(0).count("\n") < 30
    assert repr(account) == "Explanation('long', 200 steps)"


def test_a_program_without_temporaries():
    account = explain(lambda x: x + 1, Spec((3,)))
    assert account.pieces == [] and account.peak is None and "the arena is empty" in str(account)


ERRORS = [
    (lambda traced: None, "it was not called"),
    (lambda traced: traced(tessera.Tensor(floats(2, 64))), "the second call of a signature"),
]


@pytest.mark.parametrize(("before", "why"), ERRORS)
def test_a_trace_without_a_program(before, why):
    traced = jit.trace(Net())
    before(traced)
    with pytest.raises(RuntimeError, match=rf"explain: Net has no program \({why}"):
        explain(traced)


def test_a_trace_that_runs_eagerly():
    traced = jit.trace(lambda x: x * float(x.sum()))
    x = tessera.Tensor(floats(3))
    with pytest.warns(RuntimeWarning, match="runs eagerly"):
        traced(x), traced(x)
    with pytest.raises(RuntimeError, match="has no program .it runs eagerly"):
        explain(traced)


def test_limits_of_text():
    with pytest.raises(ValueError, match="explain: limit must be at least 0, got -1"):
        explain(Net(), Spec((2, 64))).text(-1)
