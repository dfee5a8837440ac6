"""The package of another commit: a git worktree in the cache folder, built there.

The worktree has its own Python environment and Bazel output base, both kept for the next time; the
disk cache of Bazel is every checkout's.
"""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "bazel-bin/tools/python.runfiles/tessera/frontends/python"
EXTRAS = {
    "TESS_SAMPLES": "ops/samples.json",
    "TESS_CODECS": "tests/benchmarks/executable_codecs",
    "TESS_EAGER_CACHE": "tests/benchmarks/eager_cache",
    "TESS_QUANTIZED": "tests/benchmarks/quantized",
    "TESS_THRESHOLDS": "tests/benchmarks/thresholds",
}


def git(*arguments, tree=None):
    """What git prints; SystemExit with its error."""
    command = ["git", "-C", str(tree or ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: git {arguments[0]} must succeed, got {done.stderr.strip()}")
    return done.stdout.strip()


def commit_of(revision):
    """Its hash; SystemExit when the repository has no such commit."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", revision + "^{commit}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: --against must name a commit, got {revision!r}")
    return done.stdout.strip()


def folder_of_repository():
    """One for each repository: a worktree belongs to one."""
    common = git("rev-parse", "--path-format=absolute", "--git-common-dir")
    name = hashlib.sha256(common.encode()).hexdigest()[:12]
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tessera" / "against" / name


@contextlib.contextmanager
def locked(folder):
    """One comparison of a repository at a time: both would move the worktree."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"bench: {folder} must be used by one comparison, got another that runs")
        yield


def check_out(tree, commit):
    """The worktree at `commit`, made where there is none."""
    if (tree / ".git").exists():
        git("checkout", "--quiet", "--force", "--detach", commit, tree=tree)
        return
    git("worktree", "prune")
    git("worktree", "add", "--quiet", "--detach", str(tree), commit)


def run_build(tree, *targets):
    """tools/dev build of the worktree, its output on stderr; whether it succeeded."""
    quiet = ["--color=no", "--curses=no", "--show_progress_rate_limit=10", "--show_result=0"]
    command = [str(tree / "tools" / "dev"), "build", *quiet, *targets]
    # A worktree's commands see nothing of what this checkout's tools/dev has set.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, env=kept, stdout=sys.stderr, check=False).returncode == 0


def build(folder, revision):
    """(interpreter, environment) of the commit's package, built in the folder's worktree."""
    tree = folder / "tree"
    check_out(tree, commit_of(revision))
    if not run_build(tree, "//tools:python"):
        sys.exit(f"bench: {revision} must build, got the errors above")
    environment = {"PYTHONPATH": str((tree / PACKAGE).resolve())}
    for variable, path in EXTRAS.items():
        # An older commit may lack one; what needs it is then a row of this checkout only.
        has_it = run_build(tree, f"//{Path(path).parent}:{Path(path).name}")
        environment[variable] = str(tree / "bazel-bin" / path) if has_it else ""
    return str(tree / ".venv" / "bin" / "python"), environment
