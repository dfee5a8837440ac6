"""Metadata of a wheel: the table of pyproject.toml, and the licences of all parts of the wheel."""

import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).parents[2]


def read_project():
    """Returns the table [project] of pyproject.toml, the one home of the metadata."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read_components():
    """Returns the rows of LICENSES/components.toml: parts of the wheel that others wrote."""
    return tomllib.loads((ROOT / "LICENSES" / "components.toml").read_text())["component"]


def license_files(project):
    """Returns the paths of the texts, relative to the checkout, in the order of `license-files`."""
    return [
        path.relative_to(ROOT).as_posix()
        for pattern in project["license-files"]
        for path in sorted(ROOT.glob(pattern))
    ]


def without_text(libraries, components):
    """Returns the shared libraries, by file name, that no component claims."""
    known = tuple(name for part in components for name in part.get("libraries", ()))
    return [name for name in libraries if not name.startswith(known)]


def license_expression(project, components):
    """Joins the licences of sources and components into one SPDX expression, each once."""
    terms = {term for part in components for term in part["license"].split(" AND ")}
    return " AND ".join([project["license"], *sorted(terms - {project["license"]})])


def header_lines(project, version, components):
    yield from ("Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}")
    yield f"Summary: {project['description']}"
    yield f"Author: {', '.join(author['name'] for author in project['authors'])}"
    yield f"Keywords: {','.join(project['keywords'])}"
    yield f"License-Expression: {license_expression(project, components)}"
    yield from (f"License-File: {name}" for name in license_files(project))
    yield from (f"Classifier: {name}" for name in project["classifiers"])
    yield f"Requires-Python: {project['requires-python']}"
    yield from (f"Requires-Dist: {needed}" for needed in project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        yield from (f'Requires-Dist: {needed}; extra == "{extra}"' for needed in needs)
    yield "Description-Content-Type: text/markdown"


def entry_points(project):
    """Returns the text of entry_points.txt: commands that are functions of the package."""
    rows = (f"{name} = {function}\n" for name, function in project["scripts"].items())
    return "[console_scripts]\n" + "".join(rows)


def files(info, version, libraries):
    """Returns METADATA, entry_points.txt and the licence texts, by their names in the wheel.

    `info` is its .dist-info, `libraries` are the file names of its shared libraries.
    """
    project, components = read_project(), read_components()
    if missing := without_text(libraries, components):
        sys.exit(
            "make_wheel: each bundled library must have a row in LICENSES/components.toml, "
            f"got {', '.join(missing)} without one"
        )
    lines = "".join(f"{line}\n" for line in header_lines(project, version, components))
    metadata = f"{lines}\n{(ROOT / project['readme']).read_text()}"
    texts = {f"{info}/licenses/{name}": ROOT / name for name in license_files(project)}
    return {
        f"{info}/METADATA": metadata.encode(),
        f"{info}/entry_points.txt": entry_points(project).encode(),
        **{name: path.read_bytes() for name, path in texts.items()},
    }
