"""An explanation as text."""

from ..._page.texts import aligned, size

_PEAK_ROWS = 10


def text_of(account, limit):
    """All of it; `limit` steps at most, those that take the most time or, without a profile, the
    first; None: all."""
    parts = [_head(account), _compilation(account), _memory(account), _layouts(account, limit)]
    return "\n".join([line for part in parts for line in part] + _steps(account, limit))


def _head(account):
    kinds = f"{len(account.steps)} steps in {account.launches} launches"
    return [account.title, f"{kinds} on {account.threads} threads, for {account.target}"]


def _compilation(account):
    if not account.passes:
        return ["compiled elsewhere: the code is from a file"]
    total = sum(seconds for _, seconds in account.passes)
    ordered = sorted(account.passes, key=lambda each: -each[1])
    parts = ", ".join(f"{name} {1e3 * seconds:.2f}" for name, seconds in ordered if seconds > 1e-5)
    return [f"compiled in {1e3 * total:.2f} ms: {parts}"] + [f"fast: {x}" for x in account.rewrites]


def _memory(account):
    kinds = ("arena", "outputs", "constants", "rounding")
    total = sum(account.memory[each] for each in kinds)
    parts = ", ".join(f"{each} {size(account.memory[each])}" for each in kinds)
    lines = [f"memory of a run: {size(total)} ({parts})"]
    peak = account.peak
    if peak is None:
        return [*lines, "the arena is empty"]
    lines.append(
        f"peak of the arena: {size(peak.bytes)} at {account.step_text(peak.step)}, of which"
    )
    rows = [account.piece_row(piece) for piece in peak.pieces[:_PEAK_ROWS]]
    table = [("bytes", "tensor", "type", "steps", "offset", "line")]
    table += [
        (size(row["bytes"]), row["tensor"], row["type"], f"{row['first']}..{row['last']}",
         str(row["offset"]), row["location"]) for row in rows
    ]  # fmt: skip
    lines += indented(table, len(table[0]))
    rest = peak.pieces[_PEAK_ROWS:]
    return [*lines, *([f"  {len(rest)} more: {size(sum(p.bytes for p in rest))}"] if rest else [])]


def _layouts(account, limit):
    packed = account.packed
    lines = [f"  {value} {value.type}: {value.packing}" for value in packed[:limit]]
    rest = len(packed) - len(lines)
    lines += [f"  {rest} more"] if rest else []
    head = f"{len(packed)} tensors stay in a layout of the library between its calls"
    moved = sum(step.bytes for step in account.conversions)
    copies = f"{len(account.conversions)} steps convert or move, {size(moved)} read and written"
    return [head, *lines, copies]


def _steps(account, limit):
    """A table of steps, and behind it why they are apart."""
    is_timed, order = account.runs > 0, account.steps
    if is_timed:
        order = [step for step in order if step.seconds is not None]
        order = sorted(order, key=lambda step: -step.seconds)
    shown = order[:limit]
    head = ("step", "kind", "operators", "implementation", "line")
    numbers = ("us", "share", "GFLOP/s", "GB/s", "of limit") if is_timed else ("MFLOP", "bytes")
    rows = [(*head, *numbers)]
    for step in shown:
        work = (f"{step.operations / 1e6:.2f}", size(step.bytes))
        texts = (str(step.number), step.kind, step.name, step.choice, step.location)
        rows.append((*texts, *(_times(account, step) if is_timed else work)))
    lines = [_bounds(account)] if is_timed else []
    lines += indented(rows, len(head))
    rest = len(order) - len(shown)
    lines += [f"  {rest} more steps"] if rest else []
    apart = [f"  step {step.number}: {why}" for step in shown for why in step.apart]
    apart += [f"  {why}" for why in account.apart]
    return lines + (["kernels that neighbours do not share:", *apart] if apart else [])


def _bounds(account):
    limits = account.limits
    return (
        f"medians of {account.runs} runs; the machine reaches {limits.gflops:.1f} GFLOP/s and "
        f"{limits.gbytes:.1f} GB/s"
    )


def _times(account, step):
    rates = account.rates(step)
    return (
        f"{1e6 * step.seconds:.1f}",
        f"{100 * rates['share']:.1f} %",
        f"{rates['gflops']:.2f}",
        f"{rates['gbytes']:.2f}",
        f"{100 * rates['of_limit']:.0f} %",
    )


def indented(rows, texts):
    """Lines of a table, whose first `texts` columns are text."""
    return [f"  {line}" for line in aligned(rows, texts).splitlines()]
