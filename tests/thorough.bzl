"""Tests that the quick subset leaves out, each with the reason: they take seconds, and no part of them says enough.

The macros give them the tag `thorough`, and `//tests:thorough` does not build when a name here is no target."""

THOROUGH = {
    "tests/compiler/kernel:layout_test": "operands of every class at ranks 1 to 4 are one sweep",
    "tests/e2e:digits_test": "trains the network of the demo to its accuracy",
    "tests/e2e:failed_dump_test": "kills writers at 50 moments",
    "tests/e2e:wheel_test": "packs, installs and runs the wheel",
    "tests/eager:sim_records_test": "the samples of records:sim_test, by C++",
    "tests/frontends/python/array_api:array_api_test": "9 000 calls of the standard in all dtypes, counted as a whole",
    "tests/frontends/python/compilation:cache_test": "damages entries of the disk cache, and compiles after each",
    "tests/frontends/python/data:loader_test": "waits for workers that stall, time out or are killed",
    "tests/frontends/python/process:shutdown_test": "waits for processes that end in the middle of work",
    "tests/frontends/python/serialization:atomic_test": "kills a thousand writers",
    "tests/onnx:nodes_0_test": "ONNX's own tests of nodes; records_test has ours",
    "tests/onnx:nodes_1_test": "another third of nodes_0_test",
    "tests/onnx:nodes_2_test": "another third of nodes_0_test",
    "tests/onnx:traced_test": "the models of nodes_0_test, traced",
    "tests/opinfo:activations_test": "PyTorch's calls in all dtypes, counted as a whole; oracles have ours",
    "tests/opinfo:elementwise_test": "another family of activations_test",
    "tests/opinfo:fourier_test": "another family of activations_test",
    "tests/opinfo:indexing_test": "another family of activations_test",
    "tests/opinfo:layers_test": "another family of activations_test",
    "tests/opinfo:linalg_test": "another family of activations_test",
    "tests/opinfo:losses_test": "another family of activations_test",
    "tests/opinfo:movement_test": "another family of activations_test",
    "tests/opinfo:reductions_test": "another family of activations_test",
    "tests/random:records_test": "every record at sizes that threads and libraries share",
    "tests/records:attributes_test": "10 000 random values of attributes, compiled without a cache",
    "tests/records:ops_1_test": "the samples of ops_2_test with another number of threads",
    "tests/runtime/cuda:ptx_records_test": "ptxas assembles every kernel for two GPUs; ptx_test has one of each kind",
    "tests/runtime:container_test": "writes 2 GiB",
}

def tagged(name, kwargs):
    """The arguments of a test, with the tag where it stands in the table."""
    if native.package_name() + ":" + name not in THOROUGH:
        return kwargs
    return dict(kwargs, tags = kwargs.get("tags", []) + ["thorough"], visibility = ["//tests:__pkg__"])
