from tools.lint import statics

RECORDS = [
    {
        "name": "sum",
        "attrs": [
            {"name": "axes", "static": "loops", "axis": 0},
            {"name": "base", "static": "formulas", "axis": None},
            {"name": "keepdims", "static": "", "axis": None},
        ],
    },
    {"name": "norm", "attrs": [{"name": "ord", "static": "formulas", "axis": None}]},
]


def test_what_is_static_is_listed():
    assert statics.statics(RECORDS) == [("sum", "base", "formulas"), ("norm", "ord", "formulas")]


def test_too_many_are_a_finding():
    assert list(statics.check(RECORDS, 2)) == []
    assert list(statics.check(RECORDS, 1)) == [
        "statics: at most 1 attributes must be static, got 2: sum.base, norm.ord"
    ]
