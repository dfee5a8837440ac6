"""ONNX's own node tests: all pass but those that are listed with a cause, which must fail."""

import pytest

from tests.onnx import node_cases

_LISTED = node_cases.listed()
_ERRORS = {
    "AssertionError": AssertionError,
    "NotImplementedError": NotImplementedError,
    "TypeError": TypeError,
}


@pytest.mark.parametrize("case", node_cases.own_part(), ids=lambda case: case.name)
def test_node(case):
    cause = _LISTED.get(case.name)
    if cause is None:
        node_cases.run(case)
        return
    with pytest.raises(_ERRORS[cause["error"]], match=cause["match"]):
        node_cases.run(case)


def test_listed_cases_exist_and_are_few():
    cases = node_cases.all_cases()
    assert set(_LISTED) <= set(cases)
    assert len(cases) - len(_LISTED) >= 1600
