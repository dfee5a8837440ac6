"""The lists are whole: each OpInfo is in the table or has a reason, and enough calls agree."""

from pathlib import Path

from tests.opinfo import differences, runs, table

READERS = {family: runs.recorded(family) for family in table.FAMILIES}
WANTED = 8000


def test_each_info_is_in_one_place():
    known = set(READERS["elementwise"].document["infos"])
    rows, without = set(table.all_rows()), set(differences.without_counterpart())
    assert rows & without == set()
    assert rows | without == known


def test_each_row_is_recorded():
    for family, reader in READERS.items():
        assert set(reader.document["calls"]) == set(table.rows(family))


def test_rows_without_a_call_are_those_with_a_reason():
    """A row none of whose samples was recorded would check nothing."""
    silent = {
        op
        for reader in READERS.values()
        for op, samples in reader.document["calls"].items()
        if not samples
    }
    assert silent == set()


def test_differences_are_of_known_kinds_and_rows():
    rows = set(table.all_rows())
    for row in differences.differences():
        assert row["what"] in differences.KINDS
        assert row["why"]
        assert set(row["calls"]) <= rows
        assert all(count > 0 for count in row["calls"].values())


def test_each_difference_stands_on_the_page():
    """Programs come with the habits of PyTorch: what means something else is told."""
    page = Path("docs/coming/pytorch_differences.md").read_text()
    assert [row["why"] for row in differences.differences() if row["why"] not in page] == []


def test_enough_calls_agree():
    """Each listed difference is counted as a call of its own, which is more than there are."""
    calls = sum(
        len(runs.calls(reader.document, op))
        for reader in READERS.values()
        for op in reader.document["calls"]
    )
    different = sum(sum(row["calls"].values()) for row in differences.differences())
    assert calls - different >= WANTED
