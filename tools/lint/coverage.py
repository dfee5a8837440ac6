"""Lint: the samples of every record together use what the record allows.

Each value of an attribute that is one of a list, both booleans, an optional one given and left out,
small ends of its range and, where it has a default, some other value; an optional operand given and
left out; each dtype of the first operand. Ranks 0 to 5, sizes 0 and 1 and views are no matter of
samples: //tests/records:variants_test makes them of samples by rule and fails where it cannot. What
no sample can have is in coverage.toml, with why.
"""

import ast
import json
import os
import re
from pathlib import Path

from tools.lint import sources

_SMALL_END = 64  # largest end of a range that a sample can reach


def values_of(record, attr):
    """What the samples give the attribute; None where it is left out."""
    pattern = re.compile(rf"(?:^|;)\s*{attr['name']}\s*=\s*([^;]*)")
    found = [pattern.search(sample["attrs"]) for sample in record["samples"]]
    return [each and _value(each[1].strip()) for each in found]


def _value(text):
    """A number, a truth value, a list or a name."""
    text = {"true": "True", "false": "False"}.get(text, text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def wanted_of(attr):
    """The values that an attribute must be given in some sample."""
    if attr["kind"] == "bool":
        return [True, False]
    if attr["cases"]:
        return attr["cases"]
    ends = [float(attr[end]) for end in ("min", "max") if attr[end]]
    return [end for end in ends if abs(end) <= _SMALL_END]


def missing_values(record):
    """(attribute, value) that no sample has."""
    for attr in record["attrs"]:
        name, given = attr["name"], values_of(record, attr)
        default = _value(attr["default"])
        used = [default if each is None else each for each in given]
        used += [part for each in used if isinstance(each, list) for part in each]
        yield from ((name, value) for value in wanted_of(attr) if value not in used)
        if attr["optional"] and None not in given:
            yield name, "left out"
        if (attr["optional"] or attr["default"]) and all(each in (None, default) for each in given):
            yield name, "given"


def operands_of(record, sample):
    """The operand of each shape of a sample: a variadic one takes what the others leave."""
    extra = len(sample["shapes"]) - sum(each["arity"] == "one" for each in record["operands"])
    for operand in record["operands"]:
        count = {"one": 1, "variadic": extra, "optional": min(extra, 1)}[operand["arity"]]
        extra -= 0 if operand["arity"] == "one" else count
        yield from [operand] * count


def missing_operands(record):
    """(operand, "given") or (operand, "left out") of an optional one."""
    for operand in record["operands"]:
        counts = {
            sum(each is operand for each in operands_of(record, sample))
            for sample in record["samples"]
        }
        if operand["arity"] == "optional":
            words = {0: "left out", 1: "given"}
            yield from ((operand["name"], words[count]) for count in (0, 1) if count not in counts)


def missing_dtypes(record):
    """("dtype", dtype) of the first operand that no sample runs with."""
    if record["operands"]:
        allowed = record["operands"][0]["dtypes"]
        used = {dtype for sample in record["samples"] for dtype in sample["dtypes"] or allowed}
        yield from (("dtype", dtype) for dtype in allowed if dtype not in used)


def missing_in(record):
    """ "what: which" of all that the record's samples do not use."""
    for find in (missing_values, missing_operands, missing_dtypes):
        yield from (f"{what}: {which}" for what, which in find(record))


def check(records, exempt):
    known = {f"{entry['op']}: {entry['what']}" for entry in exempt}
    missing = {f"{r['name']}: {each}" for r in records if r["samples"] for each in missing_in(r)}
    for each in sorted(missing - known):
        yield f"coverage: a sample must have {each}, got none"
    for each in sorted(known - missing):
        yield f"coverage: an exemption must be needed, got {each}"
    for entry in exempt:
        if not entry.get("why"):
            yield f"coverage: an exemption must say why, got {entry['op']}: {entry['what']}"


if __name__ == "__main__":
    runfiles = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    records = json.loads((runfiles / "ops/samples.json").read_text())
    sources.report(list(check(records, sources.read_table("coverage.toml")["exempt"])))
