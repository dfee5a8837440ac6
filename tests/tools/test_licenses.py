"""Each part of a wheel that others wrote has its licence text there."""

import pathlib

import pytest
from packaging.licenses import canonicalize_license_expression

from tools.commands import wheel_metadata

# Headers of Python, and a library that only the generator of operators links.
NOT_IN_THE_WHEEL = {"@python//:headers", "@llvm//:tblgen_backend"}
COMPONENTS = wheel_metadata.read_components()


def test_what_is_linked_has_a_text():
    listed = pathlib.Path("tests/tools/linked_targets").read_text().split()
    linked = {"@" + label.lstrip("@") for label in listed}
    named = {target for part in COMPONENTS for target in part.get("targets", ())}
    assert linked - NOT_IN_THE_WHEEL == named


def test_no_text_is_left_over_or_missing():
    folder = wheel_metadata.ROOT / "LICENSES"
    texts = {path.name for path in folder.glob("*.txt")}
    assert texts == {part["text"] for part in COMPONENTS}
    assert all((folder / name).stat().st_size > 100 for name in texts)


@pytest.mark.parametrize("part", COMPONENTS, ids=lambda part: part["name"])
def test_a_component_says_what_it_is(part):
    assert part.keys() <= {"name", "text", "license", "libraries", "targets", "source"}
    assert part.get("libraries") or part.get("targets")
    assert part["source"].startswith(("Debian: ", "PyPI: "))
    assert canonicalize_license_expression(part["license"]) == part["license"]


def test_no_component_is_under_the_gpl_alone():
    assert not [part["name"] for part in COMPONENTS if part["license"].endswith("GPL-2.0-or-later")]


def test_a_library_without_a_text_is_refused():
    with pytest.raises(SystemExit, match="must have a row in LICENSES/components.toml, got libodd"):
        wheel_metadata.files("tessera-1.dist-info", "1", ["libxxhash.so.0", "libodd.so.3"])


def test_the_wheel_names_every_licence_once():
    project = {"license": "Apache-2.0"}
    parts = [{"license": "MIT AND Apache-2.0"}, {"license": "BSD-2-Clause AND MIT"}]
    expression = wheel_metadata.license_expression(project, parts)
    assert expression == "Apache-2.0 AND BSD-2-Clause AND MIT"
