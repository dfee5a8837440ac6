"""An explanation as one HTML page, which asks for nothing outside of it."""

from pathlib import Path

from ..._page.writing import page_of, write_text
from .groups import edges_of, edges_within, first_operator, groups_of, last_operator
from .layout import layers_of

MOST_OPERATORS = 100_000  # of a page: a browser draws what is open, but holds all of it
_MOST_PIECES = 2000  # that the picture of the arena shows, the largest ones
_FOLDER = Path(__file__).parent


def write_page(account, path):
    """Writes the page of an Explanation to `path`, which it returns."""
    count = len(account.facts.operators)
    if count > MOST_OPERATORS:
        raise ValueError(
            f"to_html: operators of a page must be at most {MOST_OPERATORS}, got {count}: to_json "
            "has them all"
        )
    page = page_of(
        account.title,
        _summary(account),
        _FOLDER / "main.html",
        [_FOLDER / "graph.js", _FOLDER / "tables.js"],
        _data_of(account),
    )
    return write_text("to_html", path, page)


def _summary(account):
    """The head of the text, without tables."""
    lines = account.text(0).splitlines()
    return [line for line in lines[1:] if line and not line.startswith(" ")][:6]


def _data_of(account):
    facts = account.facts
    root = groups_of(facts, account.title)
    edges = edges_of(facts)
    peak = account.peak
    pieces = sorted(facts.pieces, key=lambda piece: -piece.bytes)[:_MOST_PIECES]
    return {
        "operators": [_operator(facts, each) for each in facts.operators],
        "edges": edges,
        "groups": _groups(root, edges_within(root, edges)),
        "steps": [_step(account, each) for each in account.steps],
        "limits": account.limits and [account.limits.gflops, account.limits.gbytes],
        "arena": account.memory["arena"],
        "live": account.live,
        "peak": peak and peak.step,
        "pieces": [account.piece_row(piece) for piece in pieces],
        "allPieces": len(facts.pieces),
    }


def _operator(facts, operator):
    value = facts.values[operator.results[0]]
    reads = [f"{facts.values[v]} {facts.values[v].type}" for v in operator.operands]
    return [operator.op, operator.step, value.location, f"{value} {value.type}", reads]


def _step(account, step):
    row = {
        "kind": step.kind,
        "name": step.name,
        "choice": step.choice,
        "place": step.location,
        "operators": list(step.nodes),
        "mflop": round(step.operations / 1e6, 3),
        "bytes": step.bytes,
        "launch": step.launch,
        "apart": step.apart,
    }
    if step.seconds is not None:
        rates = account.rates(step)
        row |= {"us": round(1e6 * step.seconds, 2), "gflops": round(rates["gflops"], 2)}
        row |= {"gbytes": round(rates["gbytes"], 2), "limit": round(100 * rates["of_limit"], 1)}
    return row


def _groups(root, edges):
    """All groups, the root first: label, parent, layers of children (a group of number g is
    -1 - g), and the range of their operators."""
    numbers, rows, queue = {id(root): 0}, [], [root]
    for group in queue:  # grows while it is walked
        for child in group.children:
            if not isinstance(child, int):
                numbers[id(child)] = len(queue)
                queue.append(child)
        names = [c if isinstance(c, int) else -1 - numbers[id(c)] for c in group.children]
        layers = layers_of(len(names), edges.get(id(group), ()))
        parent = -1 if group.parent is None else numbers[id(group.parent)]
        span = [first_operator(group), last_operator(group)] if group.children else [0, -1]
        rows.append([group.label, parent, [[names[c] for c in layer] for layer in layers], *span])
    return rows
