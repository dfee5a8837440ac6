from tools.lint import statics

RECORDS = [
    {
        "name": "sum",
        "attrs": [{"name": "axes", "static": "loops"}, {"name": "keepdims", "static": ""}],
    },
    {"name": "norm", "attrs": [{"name": "ord", "static": "formulas"}]},
]


def test_what_is_static_is_listed():
    assert statics.statics(RECORDS) == [("sum", "axes", "loops"), ("norm", "ord", "formulas")]


def test_too_many_are_a_finding():
    assert list(statics.check(RECORDS, 2)) == []
    assert list(statics.check(RECORDS, 1)) == [
        "statics: at most 1 attributes must be static, got 2: sum.axes, norm.ord"
    ]
