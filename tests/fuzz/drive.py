"""Runs random calls (calls.py) in a process of its own and says which call ended it.

`python -m tests.fuzz.drive --seed S --count N`; the status is 0 when nothing was found.
"""

import argparse
import subprocess
import sys
import tempfile

SECONDS_A_CALL = 0.5  # some hundred times the usual


def run(command, deadline):
    """What is wrong with a process that tells each call before it makes it; "" when nothing is."""
    with tempfile.TemporaryFile("w+b") as log:
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            status = child.wait(timeout=deadline)
            ended = f"signal {-status}" if status < 0 else f"status {status}"
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            status, ended = 1, f"its deadline of {deadline:.0f} s"
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    findings = [line for i, line in enumerate(lines) if is_finding(lines, i)]
    if status == 0 and not findings:
        return ""
    return "\n".join(findings) if findings else "\n".join([f"ended by {ended} at", *lines[-30:]])


def is_finding(lines, index):
    """A line of the report: what is wrong, and the call before it."""
    return any(line.startswith("FINDING") for line in lines[max(0, index - 1) : index + 1])


def command_of(seed, count):
    """The process for a seed."""
    return [sys.executable, "-m", "tests.fuzz.calls", "--seed", str(seed), "--count", str(count)]


def main():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    report = run(command_of(arguments.seed, arguments.count), 60 + arguments.count * SECONDS_A_CALL)
    print(report or f"seed {arguments.seed}: {arguments.count} calls, nothing found")
    sys.exit(bool(report))


if __name__ == "__main__":
    main()
