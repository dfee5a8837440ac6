"""Where the parts of an operator, pass, module or optimizer stand: the one list of these paths."""

RECORDS = "ops/records/{family}.td"
SURFACE = "ops/ops.pyi.ref"
EXPORTERS = "frontends/python/tessera/onnx/exporters/elementwise.py"
REDUCTION = "Reduction"  # the family of reductions, whose functions are in functional.math
REDUCTION_EXPORTERS = "frontends/python/tessera/onnx/exporters/reductions.py"
REFUSALS = "tests/records/refusals/refusals.py"
ELEMWISE = "frontends/python/tessera/module/elemwise.py"  # names of functional.elemwise are known
# The families of elementwise records, and the module of Python that their functions are in.
FAMILIES = {
    "Activation": "functional.nn",
    "Elementwise": "functional.elemwise",
    "Math": "functional.math",
}

PASSES = "compiler/transforms/{file}"
PIPELINE = "compiler/Pipeline.cpp"
PASS_TESTS = "tests/compiler/{file}"

PACKAGE = "frontends/python/tessera/{kind}/{file}.py"
PACKAGE_README = "frontends/python/tessera/{kind}/README.md"
CLASSES = "frontends/cc/translate/classes.toml"
CASES = "tests/frontends/cc/classes/cases.py"
ARGUMENTS = "frontends/python/tessera/module/_arguments.py"
MODULE_TESTS = "tests/frontends/python/module/test_layers.py"
BATCHES = "tests/frontends/python/module/test_module_batches.py"
FORMULAS = "tests/support/optimizer_formulas.py"

_PYTHON, _CLASSES = "//tests/frontends/python", "//tests/frontends/cc/classes/..."
# The tests of what is written; lints and the package's own tests see all of it.
TESTS = {
    "op": (
        "//tests/ops/...",
        "//tests/records/...",
        "//tests/onnx:records_test",
        f"{_PYTHON}/module/...",
    ),
    "pass": ("//tests/compiler/...", "//tests/random:random_test"),
    "module": (f"{_PYTHON}/module/...", _CLASSES),
    "optimizer": (f"{_PYTHON}/optimizer/...", _CLASSES),
}
TESTS_OF_ALL = (f"{_PYTHON}/package/...", "//tools/lint/...")
