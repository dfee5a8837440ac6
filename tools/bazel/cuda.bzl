"""The CUDA toolkit as a repository: headers and ptxas where it is installed, else one constraint that says what is missing."""

_FOUND = """
package(default_visibility = ["//visibility:public"])

exports_files(["ptxas.sh"])

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

exports_files(["ptxas.sh"])

constraint_setting(name = "toolkit")

constraint_value(name = "toolkit_in_CUDA_HOME_or_usr_local_cuda", constraint_setting = ":toolkit")

cc_library(name = "headers")
"""

def _cuda_toolkit_impl(ctx):
    home = ctx.path(ctx.os.environ.get("CUDA_HOME") or "/usr/local/cuda")
    found = home.get_child("include").get_child("cuda.h").exists and home.get_child("bin").get_child("ptxas").exists
    if found:
        ctx.symlink(home.get_child("include"), "include")
        ctx.file("ptxas.sh", "#!/bin/sh\nexec %s/bin/ptxas \"$@\"\n" % home, executable = True)
    else:
        text = "cuda: the toolkit must be in CUDA_HOME or /usr/local/cuda, got none in %s" % home
        ctx.file("ptxas.sh", "#!/bin/sh\necho '%s' >&2\nexit 127\n" % text, executable = True)
    ctx.file("BUILD.bazel", _FOUND if found else _MISSING)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)

# For targets that need --config=cuda and the toolkit; they are skipped elsewhere.
CUDA_ONLY = select({
    "//tools/bazel:cuda": ["@cuda//:toolkit_in_CUDA_HOME_or_usr_local_cuda"],
    "//conditions:default": ["//tools/bazel:only_with_config_cuda"],
})
