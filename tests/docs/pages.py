"""The pages of docs/ as programs: blocks of code with what they show, and tables of names."""

import ast
import contextlib
import doctest
import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path.cwd()  # of the runfiles, where tests start
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
_INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_COMPARED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Part:
    """A block or a row of a table: what a reader may type, and where it stands."""

    kind: str
    code: str
    page: Path
    line: int

    def __str__(self):
        return f"{self.page.relative_to(DOCS)}:{self.line}"


def parts_of(page):
    """Blocks and rows of the page, in order; directives are left out."""
    text = page.read_text(encoding="utf-8")
    found = [
        Part(match[1], match[2], page, text.count("\n", 0, match.start()) + 2)
        for match in _FENCE.finditer(text)
        if not match[1].startswith("{")
    ]
    blank = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    found += [
        Part("row", match[1], page, blank.count("\n", 0, match.start()) + 1)
        for match in _ROW.finditer(blank)
    ]
    return sorted(found, key=lambda part: part.line)


def rows_of(page):
    """Cells of the rows of the page's tables whose second column is Tessera's."""
    rows, is_ours = [], False
    for part in parts_of(page):
        if part.kind != "row":
            continue
        cells = [cell.strip() for cell in part.code.replace(r"\|", "\0").split("|")]
        cells = [cell.replace("\0", "|") for cell in cells]
        if cells[1:2] == ["Tessera"]:
            is_ours = True
        elif is_ours and not set(cells[0]) <= {"-"}:
            rows.append((part, cells))
    return rows


def missing_of(page):
    """Names that the page says are not there yet."""
    text = page.read_text(encoding="utf-8").partition("\n## Not yet\n")[2]
    return code_in(text)


def code_in(cell):
    """What stands between backticks."""
    return _CODE.findall(cell)


class Session:
    """A reader who types everything that some pages show, one after the other."""

    def __init__(self, environment):
        self.names, self.environment = {"__name__": "__main__"}, environment

    def run(self, page):
        """Runs the blocks, compares each `output` with what came before it, then tries the rows."""
        shown = None
        for part in parts_of(page):
            if part.kind == "output":
                assert shown is not None, f"{part}: an output must follow a block, got none"
                _compare(part, shown)
                shown = None
            elif part.kind != "row":
                assert not shown, f"{part}: what the block above shows must follow it, got {shown}"
                shown = self._run_block(part)
        assert not shown, f"{page.name}: what the last block shows must follow it, got {shown}"
        for part, cells in rows_of(page):
            self._try_row(part, cells[1])
        for name in missing_of(page):
            assert not self._is_there(name), f"{page.name}: {name} must not be there yet, got it"

    def _run_block(self, part):
        if part.kind == "python":
            return self._run_python(part)
        if part.kind == "sh":
            return self._run_shell(part)
        raise AssertionError(f"{part}: a block must be python, sh or output, got {part.kind}")

    def _run_python(self, part):
        code = compile("\n" * (part.line - 1) + part.code, str(part.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.names)
        return out.getvalue()

    def _run_shell(self, part):
        done = subprocess.run(
            ["bash", "-e", "-c", part.code], capture_output=True, text=True, env=self.environment
        )
        assert done.returncode == 0, f"{part}: {done.stdout}{done.stderr}"
        return done.stdout

    def _try_row(self, part, cell):
        codes = code_in(cell)
        assert codes, f"{part}: a row must have code of Tessera, got {cell!r}"
        for code in codes:
            try:
                exec(code, dict(self.names))
            except Exception as error:
                raise AssertionError(f"{part}: {code} must run, got {error!r}") from error

    def _is_there(self, name):
        try:
            exec(name, dict(self.names))
        except AttributeError:
            return False
        return True


def _compare(part, shown):
    checker = doctest.OutputChecker()
    example = doctest.Example("", part.code)
    if not checker.check_output(example.want, shown, _COMPARED):
        difference = checker.output_difference(example, shown, _COMPARED)
        raise AssertionError(f"{part}: the output must be what the block shows\n{difference}")


def includes_of(page):
    """(file, options) of each file that the page shows parts of."""
    text = page.read_text(encoding="utf-8")
    for match in _INCLUDE.finditer(text):
        options = dict(re.findall(r"^:([\w-]+): (.*)$", match[2], re.MULTILINE))
        yield Path(match[1]), options


def imports_of(page):
    """The packages that the page's Python imports."""
    for part in parts_of(page):
        for node in ast.walk(ast.parse(part.code)) if part.kind == "python" else ():
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def is_python(code):
    """Whether `code` has the form of Python."""
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True
