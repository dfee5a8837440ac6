"""Loops: Scan where all elements of something are gone through, else Loop."""

from ..writer import exporter

_MANY = 1 << 62  # the length of a loop that only its guard ends


@exporter("scan")
def _scan(writer, row, operands):
    constants, carried = row["constants"], row["carried"]
    start, first_x = operands[constants : constants + carried], constants + carried
    xs = operands[first_x:]
    if row["guarded"] and xs:
        raise NotImplementedError("a loop that data ends must go through no elements")
    inputs = row["body"]["inputs"]
    for number, value in zip(inputs, operands[:constants], strict=False):
        writer.values[number] = value
    if xs:
        return _through(writer, row, start, xs, inputs[constants:])
    return _until(writer, row, start, inputs[constants:])


def _through(writer, row, start, xs, inputs):
    body = writer.body(row["body"], inputs, row["body"]["outputs"])
    count = len(row.outputs) - len(start)
    backward = int(row["reverse"])
    return writer.node(
        "Scan",
        [*start, *xs],
        outputs=len(row.outputs),
        body=body,
        num_scan_inputs=len(xs),
        scan_input_directions=[backward] * len(xs),
        scan_output_directions=[backward] * count if count else None,
    )


def _until(writer, row, start, inputs):
    """A guard of bool ends the loop; one of int64 is the number of trips, known before each."""
    if row["reverse"]:
        raise NotImplementedError("a loop without elements must go forwards")
    trip, going = writer.fresh(), writer.fresh()

    def _condition(trip_number, guard):
        if not row["guarded"]:
            return writer.node("Identity", [going])
        if guard.dtype == "bool":
            return writer.node("Identity", [guard])
        return writer.node("Less", [trip_number, guard])

    body = writer.body(
        row["body"],
        inputs,
        row["body"]["outputs"],
        before=[(trip, "int64"), (going, "bool")],
        condition=lambda guard: _condition(_next(writer, trip), guard),
    )
    length = row["length"]
    most = None if length is None or length >= _MANY else writer.constant(length, "int64")
    starts = None
    if row["guarded"]:
        starts = _condition(writer.constant(0, "int64"), start[0])
    return writer.node("Loop", [most, starts, *start], outputs=len(row.outputs), body=body)


def _next(writer, trip):
    return writer.node("Add", [trip, writer.constant(1, "int64")])
