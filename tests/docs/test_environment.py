"""The page of the environment has each variable that the library reads, and no other."""

import re
from pathlib import Path

ROOT = Path("docs/conf.py").resolve().parents[1]  # of the checkout
FOLDERS = ("runtime", "compiler", "eager", "frontends", "ir", "ops", "tools")
READ = re.compile(r"""(?:getenv|fromEnvironment|environ\.get|environ)[(\[]"(TESS\w+)""")
IN_SCRIPTS = {"TESS_BAZEL_STARTUP", "TESS_BAZEL_FLAGS", "TESS_PYTHON"}


def read_in(folder):
    """Names of variables that C++ and Python files below the folder read."""
    files = [path for kind in ("cpp", "h", "py") for path in (ROOT / folder).rglob(f"*.{kind}")]
    return {name for path in files for name in READ.findall(path.read_text(encoding="utf-8"))}


def test_the_page_has_all_variables():
    read = set().union(*map(read_in, FOLDERS)) - {"TESS_OPERATORS"}
    text = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(TESS\w+)(?:=\d+)?`", text))
    assert len(read) > 9
    assert told - IN_SCRIPTS == read


def test_a_variable_is_found_in_each_form():
    forms = ['std::getenv("TESS_A")', 'fromEnvironment("TESS_B")', 'os.environ.get("TESS_C", x)']
    forms.append('os.environ["TESS_D"]')
    found = [READ.findall(form) for form in forms]
    assert found == [["TESS_A"], ["TESS_B"], ["TESS_C"], ["TESS_D"]]
