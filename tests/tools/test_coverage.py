from tools.lint import coverage


def attr(name, kind="i64", **facts):
    return {"name": name, "kind": kind, "default": "", "optional": False, "cases": [], "min": "",
            "max": "", **facts}  # fmt: skip


def record(*samples, attrs=(), operands=None):
    operands = operands or [{"name": "x", "arity": "one", "dtypes": ["f32", "f64"]}]
    samples = [{"attrs": "", "dtypes": [], "shapes": ["2"], **each} for each in samples]
    return {"name": "pad", "attrs": attrs, "operands": operands, "samples": samples}


def missing(*args, **named):
    start = "coverage: a sample must have pad: "
    found = coverage.check([record(*args, **named)], [])
    return [each.removeprefix(start).removesuffix(", got none") for each in found]


def test_values_of_a_list():
    mode = attr("mode", "str", cases=["edge", "wrap"])
    assert missing({"attrs": 'mode="edge"'}, attrs=[mode]) == ["mode: wrap"]
    assert missing({"attrs": 'mode="edge"'}, {"attrs": 'mode="wrap"'}, attrs=[mode]) == []


def test_both_booleans_and_a_default():
    flag = attr("flag", "bool", default="false")
    assert missing({}, attrs=[flag]) == ["flag: True", "flag: given"]
    assert missing({}, {"attrs": "flag=true"}, attrs=[flag]) == []


def test_small_ends_of_a_range_stand_in_lists_too():
    size = attr("size", "i64_list", min="0", max="1e9")
    assert missing({"attrs": "size=[1, 2]"}, attrs=[size]) == ["size: 0.0"]
    assert missing({"attrs": "size=[1, 0]"}, attrs=[size]) == []


def test_dtypes_and_optional_operands():
    assert missing({"dtypes": ["f32"]}) == ["dtype: f64"]
    bias = {"name": "bias", "arity": "optional", "dtypes": ["f32"]}
    assert missing({}, operands=[*record()["operands"], bias]) == ["bias: given"]


def test_exemptions_say_why_and_are_needed():
    flag = attr("flag", "bool")
    exempt = [{"op": "pad", "what": "flag: True", "why": "it is slow"}]
    records = [record({"attrs": "flag=false"}, attrs=[flag])]
    assert list(coverage.check(records, exempt)) == []
    del exempt[0]["why"]
    assert list(coverage.check(records, exempt)) == [
        "coverage: an exemption must say why, got pad: flag: True"
    ]
    exempt = [{"op": "pad", "what": "flag: 3", "why": "it is slow"}]
    assert "coverage: an exemption must be needed, got pad: flag: 3" in coverage.check(
        records, exempt
    )
