"""The project's macros. Each says what it adds to the plain rule; README.md has an example of each."""

load("//tests:thorough.bzl", "tagged")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//tools/bazel:link_alone.bzl", "link_alone")
load("@python//:interpreter.bzl", "EXT_SUFFIX")
load("@wheel_python//:interpreter.bzl", WHEEL_EXT_SUFFIX = "EXT_SUFFIX")

_WARNINGS = ["-Wextra", "-Wno-unused-parameter", "-Werror"]

# A wheel carries shared libraries in _libs; RPATH, unlike RUNPATH, holds for their dependencies too.
_EXTENSION_LINKOPTS = ["-Wl,--exclude-libs,ALL", "-Wl,--disable-new-dtags,-rpath,\\$$ORIGIN/_libs"]

# A plain interpreter can run a sanitized extension if the sanitizer's runtime is loaded first.
_RUNTIME = "LD_PRELOAD=/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.%s-x86_64.so"
_SANITIZER_ENV = {
    "//tools/bazel:asan": [_RUNTIME % "asan", "ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=0"],
    "//tools/bazel:tsan": [_RUNTIME % "tsan"],
    "//tools/bazel:ubsan": [_RUNTIME % "ubsan_standalone"],
    "//conditions:default": [],
}

# For tests of files: instrumented kernels are never in files, and plain programs load no sanitizer.
WITHOUT_SANITIZER = select({
    "//tools/bazel:asan": ["//tools/bazel:not_with_a_sanitizer"],
    "//tools/bazel:tsan": ["//tools/bazel:not_with_a_sanitizer"],
    "//tools/bazel:ubsan": ["//tools/bazel:not_with_a_sanitizer"],
    "//conditions:default": [],
})

def tess_cc_library(name, srcs = [], copts = [], is_whole = True, **kwargs):
    """cc_library with the project's warnings as errors. A build of //... also links it by itself, if it is whole: it calls
    no function that a program which links it defines."""
    cc_library(name = name, srcs = srcs, copts = _WARNINGS + copts, **kwargs)
    if not is_whole:
        return
    link_alone(
        name = name + "_alone",
        enabled = select({
            "//tools/bazel:asan": False,
            "//tools/bazel:fuzz": False,
            "//tools/bazel:tsan": False,
            "//tools/bazel:ubsan": False,
            "//conditions:default": True,
        }),
        library = ":" + name,
        tags = kwargs.get("tags", []),
        target_compatible_with = kwargs.get("target_compatible_with", []),
        testonly = kwargs.get("testonly", False),
        visibility = ["//visibility:private"],
    )

def tess_tblgen(name, src, outs, deps = [], tool = "@llvm//:mlir-tblgen", visibility = None):
    """One genrule for each {output: flags} of a TableGen tool, and a filegroup `name` of all outputs."""
    for out, flags in outs.items():
        native.genrule(
            name = name + "_" + out.replace("/", "_").replace(".", "_"),
            srcs = [src] + deps,
            outs = [out],
            cmd = "$(location %s) %s -I. -I/usr/lib/llvm-22/include $(location %s) -o $@" % (tool, flags, src),
            message = "tblgen",
            tools = [tool],
            visibility = visibility,
        )
    native.filegroup(name = name, srcs = outs.keys(), visibility = visibility)

def tess_lit_test(name, src, tools = [], data = [], size = "small", **kwargs):
    """sh_test that runs the `// RUN:` lines of one file with FileCheck, not and `tools` on PATH."""
    tools = tools + ["@llvm//:FileCheck", "@llvm//:not"]
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/bazel:run_lit.sh"],
        args = ["$(location %s)" % label for label in [src] + tools],
        data = [src] + tools + data,
        **kwargs
    )

def tess_cc_test(name, deps = [], copts = [], size = "small", **kwargs):
    """cc_test on the one shared Catch2 main, which writes a JUnit case for each TEST_CASE."""
    cc_test(
        name = name,
        size = size,
        copts = _WARNINGS + copts,
        deps = deps + ["//tools/bazel/catch2:main"],
        **tagged(name, kwargs)
    )

def tess_py_extension(name, srcs, deps = [], copts = [], is_for_wheel = False, **kwargs):
    """cc_binary of a nanobind module that exports PyInit_* and the OpenMP that oneDNN calls (runtime/threads) only, and an alias
    of its `name`: the path in the package without the suffix by which a Python knows the extensions made for it, as in
    _core.cpython-311-x86_64-linux-gnu.so. `is_for_wheel`: the Python is the one of `tools/dev wheel --python`."""
    repository, suffix = ("@wheel_python", WHEEL_EXT_SUFFIX) if is_for_wheel else ("@python", EXT_SUFFIX)
    native.alias(name = name, actual = name + suffix, **kwargs)
    script, order = "//tools/bazel:py_extension.lds", "//tools/bazel:hot_functions.txt"
    order_linkopts = ["-Wl,--symbol-ordering-file=$(location %s)" % order, "-Wl,--no-warn-symbol-ordering"]
    cc_binary(
        name = name + suffix,
        srcs = srcs,
        additional_linker_inputs = [script, order],
        copts = _WARNINGS + ["-fvisibility=hidden", "-fno-strict-aliasing"] + copts,
        linkopts = _EXTENSION_LINKOPTS + ["-Wl,--version-script=$(location %s)" % script] + order_linkopts,
        linkshared = True,
        deps = deps + [repository + "//:headers", repository + "//:nanobind"],
        **kwargs
    )

def tess_py_test(name, srcs, deps = [], env = {}, args = [], size = "small", **kwargs):
    """sh_test that runs pytest on `srcs` in the locked environment, a JUnit case for each function; tests/quick.py is there."""
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/bazel:run_pytest.sh"],
        args = ["%s=%s" % item for item in sorted(env.items())] + select(_SANITIZER_ENV) + ["--"] +
               ["$(location %s)" % src for src in srcs] + args,
        data = srcs + deps + ["//tests:quick.py", "@python//:py.sh"] + native.glob(["conftest.py"], allow_empty = True),
        **tagged(name, kwargs)
    )

def tess_forbid_dep(name, of, on, **kwargs):
    """genquery and sh_test: no target of `of` may depend, however deep, on a label that the regular expression `on` finds.
    Tools are run, not linked: what they depend on does not count."""
    paths = ["somepath({t}, filter('{on}', deps({t})))".format(t = target, on = on) for target in of]
    native.genquery(
        name = name + "_paths",
        testonly = True,
        expression = " union ".join(paths),
        opts = ["--notool_deps"],
        scope = of,
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tools/bazel:check_no_path.sh"],
        args = ["$(location :%s_paths)" % name],
        data = [":%s_paths" % name],
        **kwargs
    )
