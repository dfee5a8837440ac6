"""Trains a network on handwritten digits, traces it, dumps it, and runs it from C++: the same bits
everywhere.

    tools/dev demo [--seed N] [--epochs N] [--quick] [--device sim0]

Writes checkpoint, program, arrays and a picture to --output. Exit code 0 only if every check holds.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import tessera
from digits_net import HELD_OUT, Training, evaluate, load_digits
from tessera import jit
from tessera.utils import counters

BATCHES = (1, 7, HELD_OUT)
ACCURACY = 97.5
MAX_LAUNCH_RATIO = 0.6  # gradients of eager steps are fused, too
FIGURES = {  # what tess-run prints
    "latency": r"best ([\d.]+) ms",
    "planned": r"planned (\d+) bytes",
    "constants": r"constants (\d+)",
    "memory": r"allocator grew by (\d+)",
    "growth": r"process by (\d+)",
}


class Checks:
    """Prints each condition and remembers whether all held."""

    def __init__(self):
        self.failed = []

    def __call__(self, holds, what):
        print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if not holds:
            self.failed.append(what)
        return holds


def stage(text):
    """One line for each stage."""
    print(f"demo: {text}", flush=True)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_out"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--workers", type=int, default=0, help="processes of the DataLoader")
    parser.add_argument("--device", default=tessera.get_default_device(), help="where all runs")
    parser.add_argument("--quick", action="store_true", help="few samples; implies --untimed")
    parser.add_argument("--untimed", action="store_true", help="times are shown, not checked")
    parser.add_argument(
        "--tess-run",
        type=Path,
        default=os.environ.get("TESS_RUN"),
        help="the tess-run program; default: $TESS_RUN, else a wheel's, else where Bazel builds it",
    )
    options = parser.parse_args()
    tessera.set_default_device(options.device)
    options.target = tessera.get_default_device().target
    options.untimed |= options.quick or options.target != "host"
    options.epochs = options.epochs or (4 if options.quick else 20)
    options.tess_run = options.tess_run or find_tess_run()
    return options


def find_tess_run():
    """tess-run of a wheel, or where Bazel puts it, seen from the package's folder."""
    package = Path(tessera.__file__).resolve()
    if (package.parent / "bin" / "tess-run").is_file():
        return package.parent / "bin" / "tess-run"
    for folder in (*Path(tessera.__file__).absolute().parents, *package.parents, Path.cwd()):
        for name in ("tools/tess-run", "bazel-bin/tools/tess-run"):
            if (folder / name).is_file():
                return folder / name
    sys.exit(
        "digits.py: --tess-run must name the program, got none and found none beside the package"
    )


def train_eager(options, train, test, checks):
    """Step 1: eager training, and the same with a stop and a checkpoint after epoch 2."""
    stage(
        f"1 training eagerly, {len(train[0])} digits, {options.epochs} epochs, seed {options.seed}"
    )
    run = Training(train, options.seed, options.epochs, False, options.workers).run()
    percent = evaluate(run.model, *test)
    needed = 80.0 if options.quick else ACCURACY
    checks(percent >= needed, f"held-out accuracy {percent:.2f} % is at least {needed} %")

    checkpoint = options.output / "epoch2.ckpt"
    Training(train, options.seed, options.epochs, False, options.workers).run(until=2).save(
        checkpoint
    )
    resumed = Training(train, options.seed + 1, options.epochs, False, options.workers)
    resumed.restore(checkpoint).run()
    same = resumed.weights() == run.weights()
    checks(
        same,
        f"stopped after epoch 2 and resumed from {checkpoint}: the same bits as without the stop",
    )
    return run, percent


def train_traced(options, train, eager, checks):
    """Step 2: the same training, traced."""
    stage("2 training under jit.trace(symbolic=True)")
    run = Training(train, options.seed, options.epochs, True, options.workers).run()
    same = run.history.losses == eager.history.losses
    checks(same, f"{len(run.history.losses)} losses equal the eager ones bit for bit")
    checks(run.weights() == eager.weights(), "weights, statistics and momenta equal bit for bit")
    ours, theirs = run.history.launches[-1], eager.history.launches[-1]
    text = f"a traced step launches {ours} kernels, an eager one {theirs}"
    checks(ours <= MAX_LAUNCH_RATIO * theirs, f"{text}: at most {MAX_LAUNCH_RATIO} x")
    later = sum(run.history.allocations[2:])
    checks(
        later == 0,
        f"a traced step allocates nothing after its second call (got {later} allocations)",
    )
    after = len(run.history.seconds) // 4
    times = [statistics.quantiles(each.history.seconds[after:])[0] for each in (eager, run)]
    faster = times[0] / times[1]
    text = f"a step takes {times[0] * 1e3:.2f} ms eagerly and {times[1] * 1e3:.2f} ms traced"
    checks(options.untimed or faster > 1, f"{text}: {faster:.2f} x faster")
    return run, faster


def dump_program(options, model, test, checks):
    """Step 3: the inference function as a file, with a free batch size; loaded and compared."""
    path = options.output / "digits.tess"
    stage(f"3 dumping the inference function to {path}")
    model.eval()

    @jit.trace(symbolic=True, capture_as_const=True)
    def infer(image):
        return model(image)

    infer(tessera.tensor(test[0]))
    dims = {"image": {0: jit.Dim("batch", 1, 512)}}
    infer.dump(path, arg_names=["image"], output_names=["logits"], dims=dims,
               targets=[options.target])  # fmt: skip
    program = jit.load(path)
    results = {}
    for batch in BATCHES:
        image = tessera.tensor(test[0][:batch])
        with tessera.no_grad():
            eager = model(image).numpy()
        infer(image)  # recorded; the second call is compiled
        same = eager.tobytes() == infer(image).numpy().tobytes()
        checks(same, f"traced equals eager at batch {batch}")
        results[batch] = program(image=image).numpy()
        checks(eager.tobytes() == results[batch].tobytes(), f"loaded equals eager at batch {batch}")
    return path, results


def run_cpp(options, path, test, expected, checks):
    """Step 4: the file in tess-run, without Python."""
    stage(f"4 running {path} with {options.tess_run}")
    numbers = {}
    for batch in BATCHES:
        name = "" if batch == HELD_OUT else f"_{batch}"
        files = [options.output / f"{stem}{name}.npy" for stem in ("digits_test", "labels", "out")]
        np.save(files[0], test[0][:batch])
        np.save(files[1], test[1][:batch])
        files[2].unlink(missing_ok=True)
        numbers[batch] = run_once(options, path, *files)
        same = np.load(files[2]).tobytes() == expected[batch].tobytes()
        checks(same, f"C++ equals Python at batch {batch}, written to {files[2]}")
    if options.target != "host":
        return  # what tess-run tells of memory is the host's
    check_memory(numbers[HELD_OUT], checks)
    for what in ("latency", "memory"):
        one, many = numbers[1][what], numbers[HELD_OUT][what]
        text = f"{what} of batch 1 is at most a tenth of batch {HELD_OUT}'s: {one:g} and {many:g}"
        checks((options.untimed and what == "latency") or one <= many / 10, text)


def run_once(options, path, source, labels, target):
    """What tess-run prints of one run; its figures by name."""
    command = [options.tess_run, path, "--input", f"image={source}", "--output", f"logits={target}",
               "--labels", labels, "--device", options.device, "--threads", str(counters.threads()),
               "--repeat", "5" if options.quick else "50"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"digits.py: tess-run must succeed, got {done.returncode}: {done.stderr}")
    print("".join(f"       {line}\n" for line in done.stdout.splitlines()), end="")
    return {name: float(re.search(form, done.stdout)[1]) for name, form in FIGURES.items()}


def check_memory(numbers, checks):
    """The plan's prediction against what happened, at the full batch.

    Constants that kernels read where the file is mapped are planned and not allocated.
    """
    names = "memory", "planned", "growth", "constants"
    peak, planned, growth, constants = (numbers[name] for name in names)
    text = f"{peak:.0f} bytes, {planned:.0f} planned, constants of {constants:.0f}"
    checks(
        -0.02 * planned <= planned - peak <= constants + 0.02 * planned,
        f"allocator's peak within 2 % of the plan, but for constants in the file: {text}",
    )
    text = f"{growth:.0f} bytes, {1.2 * planned:.0f} allowed"
    checks(growth <= 1.2 * planned, f"the process's data grew by at most 20 % more: {text}")


def draw(options, eager, traced, test, logits):
    """Step 5: loss curves and digits with their predictions."""
    path = options.output / "demo.png"
    stage(f"5 drawing {path}")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(11, 4.5), layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=[3, 2])
    left, right = (figure.add_subfigure(part) for part in grid)
    axes = left.subplots()
    axes.semilogy(eager.history.losses, lw=3, alpha=0.4, label="eager")
    axes.semilogy(traced.history.losses, lw=1, ls="--", color="black", label="traced")
    axes.set(xlabel="step", ylabel="cross entropy", title="training loss")
    axes.legend()
    predicted = logits.argmax(1)
    wrong = np.flatnonzero(predicted != test[1])[:5]
    shown = [*wrong, *(i for i in range(20) if i not in wrong)][:15]
    right.suptitle("held-out digits: prediction (label)")
    for axes, i in zip(right.subplots(3, 5).flat, shown, strict=True):
        axes.imshow(test[0][i, 0], cmap="gray_r")
        colour = "black" if predicted[i] == test[1][i] else "red"
        axes.set_title(f"{predicted[i]} ({test[1][i]})", fontsize=9, color=colour)
        axes.axis("off")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main():
    """All five steps; the exit code."""
    options = parse_arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    start, checks = time.perf_counter(), Checks()
    train, test = load_digits(limit=512 if options.quick else None)
    eager, percent = train_eager(options, train, test, checks)
    traced, faster = train_traced(options, train, eager, checks)
    path, logits = dump_program(options, eager.model, test, checks)
    run_cpp(options, path, test, logits, checks)
    draw(options, eager, traced, test, logits[HELD_OUT])
    stage(f"{time.perf_counter() - start:.1f} s; everything is in {options.output.resolve()}")
    for what in checks.failed:
        stage(f"failed: {what}")
    answer = "no" if checks.failed else "yes"
    print(
        f"demo: accuracy {percent:.1f} %, eager == traced == loaded == C++: {answer}, "
        f"traced {faster:.2f} x faster"
    )
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
