"""The wheel on a bare machine: a root with Debian's packages of Python, the wheel, NumPy and what
the demo reads its data with; no compiler, no LLVM, no Bazel. The pages of docs/ are followed there.
"""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import zipfile

import pytest
import tessera
from packaging.requirements import Requirement

from tests import quick
from tools.commands import make_wheel, wheel_metadata

# The interpreter and shells, what pages call in these, and what every wheel may rely on (PEP 600).
DEBIAN = ["python3.11-minimal", "libpython3.11-stdlib", "libstdc++6", "zlib1g", "dash", "bash",
          "coreutils", "grep"]  # fmt: skip
# Packages that the demo reads with, and those that pages install.
DISTRIBUTIONS = [
    "numpy",
    "scikit-learn",
    "matplotlib",
    "tqdm",
    "pip",
    "onnx",
    "ml_dtypes",
    "fast-sugiyama",
]
DOCS = pathlib.Path("docs")
# A reader's process for its arguments, which are pages, in an empty folder.
READER = """
import os, pathlib, sys, tempfile, warnings
sys.path[0] = "/work"
os.chdir("/work")  # the pages are found from here
import pages
os.chdir(tempfile.mkdtemp())
warnings.simplefilter("error")
reader = pages.Session(os.environ)
for page in sys.argv[1:]:
    reader.run(pages.ROOT / page)
"""
BUILDS_CPP = {"docs/howto/deploy.md", "docs/howto/custom_op.md"}  # the bare root has no compiler
SITE = "usr/local/lib/python3.11/dist-packages"
# Runs its arguments after the first, the new root.
ENTER = """set -e
mount --rbind /proc "$0/proc"
mount --rbind /dev "$0/dev"
exec chroot "$0" "$@"
"""
PYTHON = "/usr/bin/python3.11"
OPTIONS = ["--no-index", "--quiet", "--break-system-packages"]  # the root is the wheel's alone
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


def inside(root, *command):
    """What a command prints, run in the root with nothing of the environment here."""
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    done = subprocess.run(
        [shutil.which("unshare"), *UNSHARE[1:], "/bin/sh", "-c", ENTER, root, *command],
        capture_output=True, text=True, env=path | {"PATH": path["PATH"] + ":/usr/sbin:/sbin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def debian_packages(names):
    """Debian's packages and all that they depend on."""
    pending, found = list(names), set()
    while pending:
        if (name := pending.pop()) in found:
            continue
        found.add(name)
        query = ["dpkg-query", "--show", "--showformat", "${Pre-Depends},${Depends}", name]
        depends = subprocess.run(query, capture_output=True, text=True).stdout
        pending += re.findall(r"(?:^|,)\s*([a-z0-9.+-]+)", depends)
    return sorted(found)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def copy_debian(root):
    query = ["dpkg-query", "--listfiles", *debian_packages(DEBIAN)]
    listed = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    for path in map(pathlib.Path, listed):
        if path.is_absolute() and path.is_file() and path.parts[:3] != ("/", "usr", "share"):
            copy(path, root / path.parent.resolve().relative_to("/") / path.name)
    for name in ("bin", "lib", "lib64"):  # as Debian has them
        (root / name).symlink_to(f"usr/{name}")


def distributions(names):
    """Distributions and all that they require."""
    pending, found = list(names), {}
    while pending:
        if (name := pending.pop()) in found:
            continue
        found[name] = importlib.metadata.distribution(name)
        for needed in map(Requirement, found[name].requires or ()):
            if not needed.marker or needed.marker.evaluate({"extra": ""}):
                pending.append(needed.name)
    return found.values()


def copy_distributions(site):
    for distribution in distributions(DISTRIBUTIONS):
        for file in distribution.files:
            if ".." not in file.parts and file.locate().is_file():
                copy(file.locate(), site / file)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode:
        pytest.skip("namespaces: a process may not have its own here")
    root = tmp_path_factory.mktemp("root")
    copy_debian(root)
    copy_distributions(root / SITE)
    for name in ("proc", "dev", "tmp", "work"):
        (root / name).mkdir()
    programs = ("tools/tess-run", "ops/tblgen/tess-tblgen")
    make_wheel.main(pathlib.Path(tessera.__file__).parent, root / "work", *programs)
    examples = pathlib.Path("frontends/examples")
    for name in ("digits.py", "digits_net.py"):
        copy(examples / name, root / "work" / name)
    shutil.copytree(DOCS, root / "work" / "docs")
    copy(pathlib.Path("tests/docs/pages.py"), root / "work" / "pages.py")
    (root / "work" / "reader.py").write_text(READER)
    return root


@pytest.fixture(scope="module")
def installed(root):
    """The root, in which pip has installed the wheel."""
    wheel = next((root / "work").glob("*.whl"))
    inside(root, PYTHON, "-m", "pip", "install", *OPTIONS, f"/work/{wheel.name}")
    return root


def sessions():
    """Pages that one reader follows in one process: the tutorial together, others alone."""
    code = [path for path in DOCS.rglob("*.md") if "```python" in path.read_text(encoding="utf-8")]
    pages = {path.as_posix() for path in code} - BUILDS_CPP
    index = (DOCS / "tutorial" / "index.md").read_text(encoding="utf-8")
    names = re.findall(r"^[a-z_]+$", index.split("{toctree}")[1], re.MULTILINE)
    tutorial = [f"docs/tutorial/{name}.md" for name in ("index", *names)]
    return [tutorial, *([page] for page in sorted(pages - {*tutorial}))]


def test_the_root_is_bare(root):
    programs = {path.name for path in (root / "usr/bin").iterdir()}
    assert "python3.11" in programs and not programs & {"gcc", "cc", "ld", "bazel", "clang"}
    assert not list(root.glob("usr/lib/**/libLLVM*"))


def test_glibc_of_2_34_is_enough(root):
    wheel = next((root / "work").glob("*.whl"))
    with zipfile.ZipFile(wheel) as content:
        content.extractall(root / "work" / "content")
    files = [*(root / "work" / "content").glob("tessera/**/*.so*"), pathlib.Path("tools/tess-run")]
    assert len(files) > 3
    for file in files:
        read = ["objdump", "--dynamic-syms", file]
        symbols = subprocess.run(read, capture_output=True, text=True, check=True).stdout
        newest = max(map(int, re.findall(r"GLIBC_2\.(\d+)", symbols)))
        assert newest <= 34, file


def test_each_bundled_library_has_its_licence(root):
    components = wheel_metadata.read_components()
    with zipfile.ZipFile(next((root / "work").glob("*.whl"))) as content:
        names = content.namelist()
    libraries = [pathlib.Path(name).name for name in names if name.startswith("tessera/_libs/")]
    assert len(libraries) > 5 and not wheel_metadata.without_text(libraries, components)
    # a row of a library that is bundled no longer
    claimed = [name for part in components for name in part.get("libraries", ())]
    assert not [name for name in claimed if not any(map(re.compile(name).match, libraries))]
    texts = {name.partition("/licenses/LICENSES/")[2] for name in names}
    assert {part["text"] for part in components} <= texts


def test_the_wheel_is_small(root):
    assert next((root / "work").glob("*.whl")).stat().st_size < 60e6


def test_linear_algebra_has_its_libraries(installed):
    """OpenBLAS is opened when it is first needed, and needs libraries of the wheel itself."""
    program = "import tessera.functional as F; print(F.matinv(F.full((1, 1), 2.0)).item())"
    assert inside(installed, PYTHON, "-c", program) == "0.5\n"


@pytest.mark.parametrize(
    "pages", quick.few(sessions(), 3), ids=lambda pages: pages[0][len("docs/") : -3]
)
def test_a_newcomer_can_follow(installed, pages):
    inside(installed, PYTHON, "/work/reader.py", *pages)


def test_the_wheel_runs_the_demo(installed):
    root = installed
    assert "Runs a .tess file" in inside(root, "tess-run", "--help")
    assert "Print the graph" in inside(root, "tess-dump", "--help")
    printed = inside(root, PYTHON, "/work/digits.py", "--quick", "--output", "/work/out",
                     "--tess-run", "/usr/local/bin/tess-run")  # fmt: skip
    assert "FAIL" not in printed and "C++: yes" in printed
    file = next((root / "work/out").glob("*.tess")).name
    assert "input " in inside(root, "tess-dump", f"/work/out/{file}")


def test_the_name_says_what_the_files_ask_of_the_system(root):
    wheel = next((root / "work").glob("*.whl"))
    assert re.fullmatch(r"tessera-.*-cp311-cp311-manylinux_2_3[45]_x86_64.whl", wheel.name)
