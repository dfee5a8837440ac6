"""Accounts of programs of any size, as the extension would write them."""

SHAPE = [64, 256]
OPERATORS = ("matmul", "add", "relu", "mul", "exp", "sum")


def account_of(count, modules=True):
    """A net of `count` operators in blocks of layers, with edges that skip a layer and, in its
    second half, such that come from the first, as a gradient's do."""
    values, nodes = [], []

    def _value(kind, place, name=""):
        size = 4 * SHAPE[0] * SHAPE[1]
        values.append({"kind": kind, "dtype": "f32", "shape": SHAPE, "bytes": size, "name": name,
                       "location": place, "base": -1, "packing": ""})  # fmt: skip
        return len(values) - 1

    history, weight = [_value("input", "", "image")], _value("input", "", "weight")
    for number in range(count):
        layer = number // 6
        place = f"train.py:{10 + number % 6}"
        place += f" (net.block{layer // 4}.layer{layer % 4})" if modules else ""
        op, operands = OPERATORS[number % 6], [history[-1]]
        if op == "matmul":
            operands.append(weight)
        if op == "add" and number > 7:
            operands.append(history[-7])
        if number > count // 2 and number % 5 == 0 and op != "matmul":
            operands.append(history[count - number])
        history.append(_value("temporary", place))
        nodes.append({"op": op, "operands": operands, "results": [history[-1]]})
    return _account(values, nodes)


def _account(values, nodes):
    part = {"shapes": "1F", "values": values, "nodes": nodes, "batches": []}
    part["steps"] = list(_steps(nodes, values))
    part["plan"] = list(_plan(part["steps"]))
    memory = {
        "arena": 1 << 20,
        "outputs": 65536,
        "constants": 0,
        "rounding": 0,
        "saved_per_trip": 0,
    }
    apart = {
        "reader": "add",
        "reader_location": values[3]["location"],
        "producer": "matmul",
        "producer_location": "train.py:10",
        "why": "a call must be alone",
    }
    launches = len(part["steps"])
    return {
        "target": "cpu:x86-64-v3",
        "launches": launches,
        "threads": 2,
        "memory": memory,
        "parts": [part],
        "passes": [["code", 0.01]],
        "boundaries": [apart],
        "rewrites": [],
    }


def _steps(nodes, values):
    """A call for each product, a kernel for the operators between two."""
    first = 0
    while first < len(nodes):
        is_call = nodes[first]["op"] == "matmul"
        own = range(first, min(first + (1 if is_call else 5), len(nodes)))
        name = " ".join(nodes[number]["op"] for number in own)
        yield {"kind": "library" if is_call else "kernel", "name": name, "nodes": list(own),
               "operands": nodes[own[0]]["operands"], "results": nodes[own[-1]]["results"],
               "location": values[nodes[first]["results"][0]]["location"], "operations": 4096,
               "choice": "own:contract, 2 threads, by the rule" if is_call else ""}  # fmt: skip
        first = own[-1] + 1


def _plan(steps):
    for number, step in enumerate(steps):
        last = min(number + (1, 2, 5, 20)[number % 4], len(steps) - 1)
        yield [step["results"][0], number * 65536 % (1 << 20), 65536, number, last]
