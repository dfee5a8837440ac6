from tools.lint import own_code

RECORDS = [
    {"name": "add", "functions": [], "elementwise": True},
    {"name": "sum", "functions": [], "elementwise": False},
    {"name": "slice", "functions": ["rule: slice"], "elementwise": False},
    {"name": "conv", "functions": ["shapeRule: conv", "kernel: conv"], "elementwise": False},
]


def table(**given):
    return {
        "least": 33,
        "most_lines": 1,
        "files": [],
        "others": [],
        "reasons": {"views": "slice"},
        **given,
    }


def test_records_by_reason():
    text, problems = own_code.figures(RECORDS, table(), [])
    assert problems == []
    assert text[:2] == ["views: slice", "a kernel of the runtime: conv"]
    assert text[2] == "records that are not elementwise without C++: 33.3 % (1 of 3)"


def test_reasons_that_do_not_fit():
    _, problems = own_code.figures(RECORDS, table(reasons={"views": "sum conv"}), [])
    assert problems == [
        "own_code: sum must name a function, got the reason only",
        "own_code: slice must have a reason for its functions, got none",
        "own_code: conv must be a record without a kernel, got another",
    ]


def test_limits(monkeypatch):
    monkeypatch.setattr(own_code.sources, "read", lambda name: "int x;\n" * 6)
    _, problems = own_code.figures(RECORDS, table(least=40), [])
    assert problems == [
        "own_code: at least 40 % of the records that are not elementwise must name no C++, "
        "got 33.3 %"
    ]
    file = "ops/LossRules.cpp"
    text, problems = own_code.figures(RECORDS, table(files=[file]), [file])
    assert file in text[-1]
    assert problems[0].startswith("own_code: C++ of operators must have at most 1 lines")
