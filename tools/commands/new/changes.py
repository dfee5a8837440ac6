"""Changes to files that are made together: nothing is written before all of them fit."""

import pathlib
import re
import subprocess
import sys


class RefusedError(Exception):
    """A name that is bad or taken, or a file that is not as a template needs it."""


def require(holds, text, got):
    if not holds:
        raise RefusedError(f"new: {text}, got {got}")


class Changes:
    """Files of a checkout as they will be, and the lines that a user edits."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts, self.edits = {}, []

    def read(self, path):
        if path not in self.texts:
            require((self.root / path).is_file(), f"{path} must be a file of the checkout", "none")
            return (self.root / path).read_text()
        return self.texts[path]

    def create(self, path, text):
        require(not (self.root / path).exists(), f"{path} must not be there", "a file")
        self.texts[path] = text

    def insert(self, path, anchor, text):
        """Puts `text` before the only place whose lines begin as `anchor`, a regular expression."""
        place = self._only(path, anchor).start()
        self.texts[path] = self.read(path)[:place] + text + self.read(path)[place:]

    def append(self, path, text):
        self.texts[path] = self.read(path) + text

    def insert_sorted(self, path, first, line):
        """Puts a line among the sorted lines of its indentation that follow the only `first`."""
        place, text = self._only(path, first).end(), self.read(path)
        for other in text[place:].splitlines(keepends=True):
            if _indent(other) != _indent(line) or other > line:
                break
            place += len(other)
        self.texts[path] = text[:place] + line + text[place:]

    def insert_before_end(self, path, first, end, text):
        """Puts `text` before the next line that begins as `end` behind the only `first`."""
        before = self.read(path)
        start = self._only(path, first).end()
        last = re.compile(rf"^{end}", re.MULTILINE).search(before, start)
        require(last, f"{path} must have an end {end} behind {first}", None)
        self.texts[path] = before[: last.start()] + text + before[last.start() :]

    def _only(self, path, pattern):
        found = list(re.finditer(rf"^{pattern}.*\n", self.read(path), re.MULTILINE))
        require(len(found) == 1, f"{path} must have one line {pattern}", len(found))
        return found[0]

    def edit(self, path, text):
        """Names the line with `text` as one that the user edits."""
        self.edits.append((path, text))

    def places_to_edit(self):
        for path, text in self.edits:
            lines = self.read(path).splitlines()
            yield f"{path}:{1 + next(i for i, line in enumerate(lines) if text in line)}"

    def write(self):
        """Writes all files, those of Python as the formatter wants them; their paths, in order."""
        texts = {path: _formatted(path, text, self.root) for path, text in self.texts.items()}
        for path, text in texts.items():
            (self.root / path).write_text(text)
        self.texts = texts
        return sorted(texts)


def _indent(line):
    return len(line) - len(line.lstrip(" ")) if line.strip() else -1


def _formatted(path, text, root):
    """Python with its imports in order, as ruff.toml says; other text as it is."""
    if not path.endswith(".py"):
        return text
    for step in (["check", "--select=I", "--fix", "--quiet"], ["format", "--quiet"]):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *step,
            "--no-cache",
            f"--stdin-filename={path}",
            "-",
        ]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=root)
        require(done.returncode == 0, f"{path} must be Python that ruff reads", done.stderr)
        text = done.stdout
    return text
