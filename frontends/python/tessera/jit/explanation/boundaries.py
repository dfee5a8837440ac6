"""Why neighbours do not share a kernel: the compiler's reasons beside the steps."""

from collections import defaultdict

from ..._place import line_and_module


def add_boundaries(facts, boundaries):
    """Fills in Step.apart from the reasons of the compiler, which speak of operators and lines;
    returns those of operators that are in no step, as ones that a later pass removed.
    """
    steps = _readers(facts)
    reasons, others = defaultdict(dict), {}
    for each in boundaries:
        line = line_and_module(each["producer_location"])[0]
        text = f"{each['reader']} apart from {each['producer']}" + (f" of {line}" if line else "")
        text += f": {each['why']}"
        reader = each["reader"], each["reader_location"]
        near = (*reader, each["producer"], each["producer_location"])
        where = steps.get(near) or steps.get(reader, ())
        for step in where:
            reasons[step][text] = None
        if not where:
            others[text] = None
    for step, texts in reasons.items():
        facts.steps[step].apart = tuple(texts)
    return tuple(others)


def _readers(facts):
    """Steps by the operator and place of one of their operators, and by these and those of what it
    reads from another step."""
    makers = {value: each for each in facts.operators for value in each.results}
    steps = defaultdict(set)
    for each in facts.operators:
        if each.step < 0:
            continue
        reader = each.op, facts.values[each.results[0]].location
        steps[reader].add(each.step)
        for value in each.operands:
            maker = makers.get(value)
            if maker is not None and maker.step != each.step:
                place = facts.values[maker.results[0]].location
                steps[(*reader, maker.op, place)].add(each.step)
    return steps
