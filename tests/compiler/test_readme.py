"""The README of compiler/lowering shows forms: each is what tess-opt makes of the one before."""

import os
import re
import subprocess
from pathlib import Path

_BLOCK = re.compile(
    r"^```mlir(?: tess-opt(?P<options>[^\n]*))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def _blocks():
    return list(_BLOCK.finditer(Path(os.environ["README"]).read_text()))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _matches(shown: str, text: str) -> bool:
    """Whether the lines are those shown, where `...` stands for any of them."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line + "\n") for line in _lines(shown)
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in _lines(text))) is not None


def test_each_form_is_made_of_the_one_before():
    source, forms = "", 0
    for block in _blocks():
        if block["options"] is None:
            source = block["text"]
            continue
        command = [os.environ["TESS_OPT"], *block["options"].split()]
        done = subprocess.run(
            command, input=source, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        source = done.stdout
        assert _matches(block["text"], source), f"{block['options']} gives\n{source}"
        forms += 1
    assert forms == 3
