"""Failures that nobody waited for: print raises them, and the process ends with status 1."""

import subprocess
import sys

import pytest
import tessera
import tessera.functional as F  # noqa: N812

BAD = "embedding: index must be in [-3, 2], got 7"
FAILING = """
import sys
import tessera
import tessera.functional as F
bad = F.embedding(tessera.tensor([7]), F.ones((3, 2)))
"""


def failing():
    return F.embedding(tessera.tensor([7]), F.ones((3, 2)))


@pytest.mark.parametrize("shown", [str, "{}".format, print, lambda x: f"{x}", lambda x: f"{x:>3}"])
def test_the_text_of_a_failed_tensor_is_its_error(shown):
    bad = failing()
    with pytest.raises((IndexError, TypeError)) as raised:
        shown(bad)
    if raised.type is IndexError:
        assert BAD in str(raised.value) and "test_unseen.py:" in str(raised.value)


def test_repr_shows_the_error():
    bad = failing()
    assert BAD in repr(bad) and BAD in f"{bad!r}" and BAD in str([bad])
    with pytest.raises(IndexError):
        tessera.sync()


def _run(code):
    command = [sys.executable, "-c", FAILING + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("", 1),
        ("sys.exit(0)", 1),
        ("sys.exit(7)", 7),
        ("print(repr(bad))", 1),
        ("raise KeyError", 1),
    ],
)
def test_a_process_whose_failure_nobody_saw_ends_with_an_error(code, status):
    done = _run(code)
    assert done.returncode == status
    assert BAD in done.stderr and "IndexError" in done.stderr
    assert "<string>:5" in done.stderr  # the line that called it


def test_what_was_written_before_is_not_lost():
    done = _run("sys.stdout.write('kept')\nimport atexit; atexit.register(print, ' too')")
    assert (done.stdout, done.returncode) == ("kept too\n", 1)


TWO = "other = F.embedding(tessera.tensor([8]), F.ones((3, 2)))\nboth = bad + other\n"


def test_one_error_tells_of_two_failures():
    done = _run(TWO + "try:\n    both.numpy()\nexcept IndexError as e:\n    print(e)")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert BAD in first and "<string>:5" in first
    assert second.startswith("also embedding: ") and "got 8" in second and "<string>:6" in second


def test_a_second_failure_is_not_lost_with_the_first():
    done = _run(TWO + "try:\n    bad.numpy()\nexcept IndexError:\n    pass")
    assert done.returncode == 1 and "got 8" in done.stderr and BAD not in done.stderr


@pytest.mark.parametrize("seen", ["bad.numpy()", "tessera.sync()", "print(bad)"])
def test_a_failure_that_was_seen_ends_nothing(seen):
    done = _run(f"try:\n    {seen}\nexcept IndexError:\n    print('seen')")
    assert (done.stdout, done.returncode, done.stderr) == ("seen\n", 0, "")
