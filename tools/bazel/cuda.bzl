"""The CUDA toolkit as a repository: headers where it is installed, else one constraint that says what is missing. ptxas as another."""

_FOUND = """
package(default_visibility = ["//visibility:public"])

constraint_setting(name = "toolkit", default_constraint_value = ":toolkit_in_CUDA_HOME_or_usr_local_cuda")

constraint_value(name = "toolkit_in_CUDA_HOME_or_usr_local_cuda", constraint_setting = ":toolkit")

# Headers only: libcuda, cuBLASLt and cuDNN are opened at run time, nothing links them.
cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/*.h", "include/crt/*.hpp"]),
    defines = ["TESS_CUDA_TOOLKIT=1"],
    includes = ["include"],
)
"""

# No platform has a value of this setting: Bazel skips targets that need it, and names it as the reason.
_MISSING = """
package(default_visibility = ["//visibility:public"])

constraint_setting(name = "toolkit")

constraint_value(name = "toolkit_in_CUDA_HOME_or_usr_local_cuda", constraint_setting = ":toolkit")

cc_library(name = "headers")
"""

def _cuda_toolkit_impl(ctx):
    home = ctx.path(ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda")
    found = home.get_child("include").get_child("cuda.h").exists and home.get_child("bin").get_child("ptxas").exists
    if found:
        ctx.symlink(home.get_child("include"), "include")
    ctx.file("BUILD.bazel", _FOUND if found else _MISSING)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)

# From the wheel that tools/python/ptxas.lock pins, by pip; only ptxas is kept.
_FETCH = """
import glob, os, subprocess, sys, zipfile
command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]
subprocess.run([*command, "--dest=wheel", "--requirement", sys.argv[1]], check=True)
with zipfile.ZipFile(glob.glob("wheel/*.whl")[0]) as wheel:
    name = next(each for each in wheel.namelist() if each.endswith("/bin/ptxas"))
    with open("ptxas", "wb") as out:
        out.write(wheel.read(name))
os.chmod("ptxas", 0o755)
"""

def _ptxas_impl(ctx):
    tool = ctx.path((ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda") + "/bin/ptxas")
    if not tool.exists:
        python = ctx.os.environ.get("TESS_PYTHON") or str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"
        ctx.execute([python, "-c", _FETCH, ctx.path(Label("//tools:python/ptxas.lock"))])
        tool = ctx.path("ptxas")
    text = "ptxas: it must be in CUDA_HOME or /usr/local/cuda, or pip must get the wheel of tools/python/ptxas.lock, got none"
    run = "exec %s \"$@\"" % tool if tool.exists else "echo '%s' >&2\nexit 127" % text
    ctx.file("ptxas.sh", "#!/bin/sh\n%s\n" % run, executable = True)
    ctx.file("BUILD.bazel", "exports_files([\"ptxas.sh\"])\n")

ptxas = repository_rule(
    implementation = _ptxas_impl,
    environ = ["CUDA_HOME", "TESS_PYTHON"],
)

# For targets that need the toolkit; they are skipped elsewhere.
CUDA_ONLY = ["@cuda//:toolkit_in_CUDA_HOME_or_usr_local_cuda"]
