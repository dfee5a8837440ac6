"""The modes of networks: a dumped graph listed and dumped again; the function of variables."""

import os
import re
from dataclasses import replace

import tessera
from tessera import jit
from tessera.provider import partition
from tessera.utils.network import Network

from tests.random.engine import EXACT
from tests.random.files import at_size, can_be_free, dumped, free_dims
from tests.random.observe import SkippedError
from tests.random.program import REFUSALS
from tests.support.helper import as_list

# Python that looks at a value or a free size of a network has none to look at.
_REFUSAL = re.compile(
    r"value: a variable of a network must be|must stay an expression, got a use|"
    r"update: a tensor outside of a network must not"
)


def network(program):
    """Dumped, read as nodes, and dumped from them."""
    is_free = program.has_free and can_be_free(program)
    with dumped(program, free=is_free) as file:
        again = replace(file, path=os.path.join(os.path.dirname(file.path), "again.tess"))
        Network.load(file.path).dump(again.path, targets=())
        loaded = jit.load(again.path)
        return _at_sizes(again, is_free, lambda s: again.compared_to(loaded, "network", s))


def partitioned(program):
    """Dumped, and dumped again with parts that another engine runs."""
    with dumped(program) as file:
        again = replace(file, path=os.path.join(os.path.dirname(file.path), "parts.tess"))
        parts = partition(file.path, EXACT)
        names = [node.opdef.name for node in parts.all_oprs if node.opdef is not None]
        if not any(name.startswith(f"{EXACT.name}.") for name in names):
            raise SkippedError("no operator is claimed")
        parts.dump(again.path, targets=())
        return again.compared_to(jit.load(again.path), "partitioned", None)


def _at_sizes(file, is_free, compare):
    """`compare` at the size of the call, and at others of a free dimension that eager takes."""
    shown = compare(None)
    if not is_free:
        return shown
    first = next(each for each in file.program.inputs if each.free).shape[0]
    for size in (first + 3, 2):
        if not shown and _is_taken(file, size):
            shown = at_size(lambda size=size: compare(size), is_smaller=size < first)
    return shown


def _is_taken(file, size):
    try:
        file.expected(size)
    except REFUSALS:
        return False
    return True


def nodes(program):
    """Called with variables of a network, and dumped: the first call, of a new function."""
    if program.loss or program.stochastic or any(each.writes for each in program.statements):
        raise SkippedError("a network has no gradient, state or writes")
    made, function = Network(), program.instance()[0]
    dims = free_dims(program) if program.has_free and can_be_free(program) else {}
    inputs = {each.name: each for each in program.of_kind("argument")}
    variables = [
        made.make_input_node([*dims.get(name, {}).values(), *each.shape[name in dims :]],
                             each.dtype, name)
        for name, each in inputs.items()
    ]  # fmt: skip
    try:
        results = as_list(function(*variables))
    except (ValueError, TypeError) as error:
        if _REFUSAL.search(str(error)):
            raise SkippedError(f"refused: {error}") from None
        raise
    return _compared(program, made, variables, results, bool(dims))


def _compared(program, made, variables, results, is_free):
    """What the network of the results gives, with an output for each different one."""
    is_variable, place = tessera._core.is_graph_value, tessera._core.node_of
    results = [each if is_variable(each) else made.make_const(each) for each in results]
    made.add_output(*variables, *results)  # every input is one, so that a call may give it
    places = [place(var) for var in made.output_vars]
    order = [places.index(place(each)) for each in results]
    with dumped(program) as file:
        path = os.path.join(os.path.dirname(file.path), "nodes.tess")
        made.dump(path, targets=())
        loaded = jit.load(path)

        def run(tensors):
            found = as_list(loaded(**tensors))
            return {f"r{number}": found[index] for number, index in enumerate(order)}

        return _at_sizes(file, is_free, lambda size: file.compared(run, "nodes", size))
