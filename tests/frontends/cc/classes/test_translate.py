"""What the translator makes of Python, and what it says of a form that it does not know."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path("frontends/cc/translate").absolute()))

from modules import ModuleClass  # noqa: E402
from names import camel, signatures, split_arguments  # noqa: E402
from python_source import Source, UntranslatableError  # noqa: E402
from units import Functions, Types  # noqa: E402

OPERATORS = """inline Tensor relu(const Tensor &x) {
inline Tensor elu(const Tensor &x, double alpha = 1.0) {
inline Tensor split(const Tensor &x, const Shape &sections = {1, 2}, int64_t axis = 0) {
"""
CLASS = '''
class Own(Module):
    """What it does."""

    def __init__(self, size, scale=2.0, **kwargs):
        super().__init__(**kwargs)
        self.size, self.scale = size, scale
        self.weight = Parameter(np.ones((size, 3), dtype=np.float32))

    def forward(self, x):
        """See the class."""
        {}
'''


def written(tmp_path, body, types=None):
    """(declaration, definition) of a module with this body of forward."""
    path = tmp_path / "own.py"
    path.write_text(CLASS.format(body))
    source = Source([str(path)], ["Module"])
    unit = ModuleClass(
        "Own", source, Functions({}, signatures(OPERATORS)), Types(source, types or {})
    )
    return unit.options() + unit.declaration(), unit.definition()


def test_a_module_is_a_class_with_options(tmp_path):
    declared, defined = written(tmp_path, "return F.elu(x * self.weight, alpha=self.scale)")
    assert "struct OwnOptions {\ndouble scale = 2.0;\n};" in declared
    assert "explicit Own(int64_t size, const OwnOptions &options = {});" in declared
    assert "/// What it does.\nclass Own : public Module {" in declared
    assert "Tensor weight{};" in declared
    assert "functional::elu((x * self.weight), self.scale)" in defined
    assert 'self.weight = Parts::parameter(self, "weight", filled(pack(size, 3), 1));' in defined


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return F.what(x)", "no operator what in C++, got F.what(x)"),
        ("return F.elu(x, beta=1)", "no argument beta in C++"),
        ("return F.elu(alpha=1.0)", "arguments ['x'] must be given"),
        ("return F.relu(x, 1, 2)", "there are 1 arguments in C++"),
        ("return x @ x", "this operator has no C++, got x @ x"),
        ("return [y for y in x if y]", "a condition in a list has no C++"),
        ("with x: pass", "this statement has no C++"),
        ("return lambda: x", "this has no C++"),
        ("ys = []", "the type of forward.ys must be in the table"),
        (
            "def step(y):\n            x = y\n            return x",
            "a name of the function around must not be given anew",
        ),
        ("self.other = F.relu(x)", "the type of Own.other must be in the table"),
    ],
)
def test_other_forms_are_named_with_their_place(tmp_path, body, message):
    with pytest.raises(UntranslatableError) as refused:
        written(tmp_path, body)
    assert message in str(refused.value)
    assert f"{tmp_path / 'own.py'}:12: " in str(refused.value)


def test_a_type_that_nothing_says_must_be_in_the_table(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(CLASS.format("return x").replace("scale=2.0", "scale=None"))
    source = Source([str(path)], ["Module"])
    with pytest.raises(UntranslatableError, match="the type of Own.scale must be in the table"):
        ModuleClass("Own", source, Functions({}, {}), Types(source, {})).options()


def test_signatures_of_a_header():
    found = signatures(OPERATORS)
    assert found["relu"] == ("Tensor", [("x", None)])
    assert found["split"][1] == [("x", None), ("sections", "{1, 2}"), ("axis", "0")]
    assert split_arguments("a, f(b, c), {d, e}") == ["a", "f(b, c)", "{d, e}"]
    assert [camel(each) for each in ("_kernel_size", "default", "T_0", "_")] == [
        "kernelSize", "default_", "t0", "other"]  # fmt: skip
