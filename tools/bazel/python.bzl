"""The project's Python environment as a repository: headers, nanobind built from its wheel's sources, a launcher.

Another one has the headers of the Python that `tools/dev wheel --python` builds for. Sources that `tools/dev setup` puts
beside the environment are repositories, too."""

_FIND_NANOBIND = "import nanobind, os; print(os.path.dirname(nanobind.__file__))"
_FIND_HEADERS = "import sysconfig; print(sysconfig.get_path('include')); print(sysconfig.get_config_var('EXT_SUFFIX'))"

_BUILD = """
package(default_visibility = ["//visibility:public"])

exports_files(["py.sh"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
)

cc_library(
    name = "nanobind",
    srcs = ["nanobind/src/nb_combined.cpp"],
    hdrs = glob(["nanobind/include/**/*.h"]),
    copts = ["-fvisibility=hidden", "-fno-strict-aliasing", "-w"],
    includes = ["nanobind/include", "nanobind/ext/robin_map/include"],
    textual_hdrs = glob(
        ["nanobind/src/*.h", "nanobind/src/*.cpp", "nanobind/ext/robin_map/include/tsl/*.h"],
        exclude = ["nanobind/src/nb_combined.cpp"],
    ),
    deps = [":headers"],
)
"""

def _interpreter(ctx):
    return ctx.os.environ.get("TESS_PYTHON") or str(ctx.path(Label("//:WORKSPACE")).dirname) + "/.venv/bin/python"

def _ask(ctx, python, code):
    probe = ctx.execute([python, "-c", code])
    if probe.return_code:
        fail("python: an environment with nanobind must exist (tools/dev setup makes it), got %s: %s" %
             (python, probe.stderr))
    return probe.stdout.strip().split("\n")

def _link_headers(ctx, python):
    """What an extension for the interpreter `python` is built with, and the end of its file's name."""
    include, suffix = _ask(ctx, python, _FIND_HEADERS)
    ctx.symlink(include, "include")
    ctx.symlink(_ask(ctx, _interpreter(ctx), _FIND_NANOBIND)[0], "nanobind")
    ctx.file("interpreter.bzl", "EXT_SUFFIX = \"%s\"\n" % suffix)

def _python_environment_impl(ctx):
    python = _interpreter(ctx)
    _link_headers(ctx, python)
    lock = ctx.os.environ.get("TESS_LOCK", "none")
    ctx.file("py.sh", "#!/bin/sh\n# lock: %s\nexec %s \"$@\"\n" % (lock, python), executable = True)
    ctx.file("BUILD.bazel", _BUILD)

# TESS_LOCK is the hash of the locked requirements: a new lock makes the repository anew and runs the tests again.
python_environment = repository_rule(
    implementation = _python_environment_impl,
    environ = ["TESS_PYTHON", "TESS_LOCK"],
    local = True,
)

def _wheel_python_impl(ctx):
    _link_headers(ctx, ctx.os.environ.get("TESS_WHEEL_PYTHON") or _interpreter(ctx))
    ctx.file("py.sh", "")
    ctx.file("BUILD.bazel", _BUILD)

# Headers of the interpreter TESS_WHEEL_PYTHON, by default the environment's own.
wheel_python = repository_rule(
    implementation = _wheel_python_impl,
    environ = ["TESS_PYTHON", "TESS_LOCK", "TESS_WHEEL_PYTHON"],
    local = True,
)

# Only sources that the BSD licence covers: string_utils.cc has the GPL alone.
_DUCC = """
cc_library(
    name = "fft",
    srcs = ["src/ducc0/infra/mav.cc", "src/ducc0/infra/threading.cc"],
    hdrs = glob(["src/ducc0/fft/*.h", "src/ducc0/infra/*.h", "src/ducc0/math/*.h"]),
    copts = ["-w"],
    defines = ["DUCC0_NO_LOWLEVEL_THREADING"],
    includes = ["src"],
    visibility = ["//visibility:public"],
)
"""

def _ducc_sources_impl(ctx):
    folder = ctx.path(_interpreter(ctx)).dirname.dirname.get_child("src").get_child("ducc0")
    if not folder.exists:
        fail("ducc0: its sources must be there (tools/dev setup fetches them), got no %s" % folder)
    ctx.symlink(folder.get_child("src"), "src")
    ctx.file("BUILD.bazel", _DUCC)

ducc_sources = repository_rule(implementation = _ducc_sources_impl, environ = ["TESS_PYTHON", "TESS_LOCK"], local = True)
