"""Pictures for notebooks of modules, traced functions, graphs and programs: their `_repr_html_`.

>>> import tessera.module as M
>>> from tessera.utils.html import of_module
>>> of_module(M.Linear(3, 2)).count("<li>")
2
"""

from html import escape

from .._foreign_dtypes import as_dtype


def of_module(module, name=""):
    """A tree that opens and closes: each module with its settings and parameters."""
    count = sum(parameter.size for parameter in module.parameters())
    title = f"{type(module).__name__}({module._module_info_string()})"
    label = escape(f"{name}: {title}" if name else title)
    head = f"<code>{label}</code> {count:,} parameters"
    own = [
        f"<li><code>{escape(each)}: {as_dtype(value.dtype).name} {tuple(value.shape)}</code></li>"
        for each, value in module.named_tensors(recursive=False)
    ]
    below = [f"<li>{of_module(child, each)}</li>" for each, child in module.named_children()]
    body = f"<ul>{''.join(own + below)}</ul>"
    is_open = "" if name else " open"
    return f"<details{is_open}><summary>{head}</summary>{body}</details>"


def of_trace(traced):
    """The signatures that a traced function keeps, with what their programs take."""
    lines = traced.explain().splitlines() or ["no call yet"]
    items = "".join(f"<li><code>{escape(line)}</code></li>" for line in lines)
    return f"<div>trace of <code>{escape(traced.__name__)}</code></div><ul>{items}</ul>"


def of_program(program):
    """Inputs, outputs and free dimensions of a program from a file, and its graph to open."""
    rows = {"inputs": program.inputs, "outputs": program.outputs, "dims": program.dims}
    cells = "".join(
        f"<tr><th>{name}</th><td><code>{escape(str(value))}</code></td></tr>"
        for name, value in rows.items()
    )
    graph = f"<details><summary>graph</summary><pre>{escape(program.graph_text())}</pre></details>"
    return f"<div>Program <code>{escape(program.path)}</code></div><table>{cells}</table>{graph}"


def of_graph(graph):
    """The expressions of a traced module's graph, with the types of what they make and the user's
    lines; a call of a module opens, to its graph or to its parameters.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> from tessera.utils.html import of_graph
    >>> net = tm.trace_module(M.Sequential(M.ReLU()), F.zeros((2, 3)))
    >>> print(of_graph(net.graph).partition("<ul>")[0])
    <details open><summary><code>Sequential.Graph(inp: float32 (2, 3))</code></summary>
    """
    return _graph(graph, {id(graph)}, " open")


def _graph(graph, seen, is_open=""):
    inputs = ", ".join(_typed(node) for node in graph.inputs if not hasattr(node, "owner"))
    rows = [_expression(expr, seen) for expr in graph.own_exprs]
    rows.append(f"<li><code>{escape('return ' + _result(graph))}</code></li>")
    head = f"<summary><code>{escape(f'{graph.title}({inputs})')}</code></summary>"
    return f"<details{is_open}>{head}<ul>{''.join(rows)}</ul></details>"


def _result(graph):
    return ", ".join(_typed(node) for node in graph.outputs)


def _typed(node):
    """A node with the dtype and the shape of its tensor, where they are known."""
    shape = getattr(node, "__dict__", {}).get("shape")
    return f"{node.name}: {node.dtype} {shape}" if shape is not None else node.name


def _expression(expr, seen):
    types = ", ".join(_typed(node) for node in expr.outputs if _typed(node) != node.name)
    line = escape(expr.line or "")
    text = f'<code title="{line}">{escape(str(expr))}</code>'
    text += f" <small>{escape(types)}</small>" if types else ""
    below = [_graph(body, seen) for body in expr.bodies]
    called = getattr(expr, "graph", None)
    if called is not None and id(called) in seen:
        below.append(f"<code>{escape(called.title)}</code>, as above")
    elif called is not None:
        seen.add(id(called))
        below.append(_graph(called, seen))
    elif getattr(expr, "method", None) == "__call__" and expr.args[0].owner is not None:
        below.append(of_module(expr.args[0].owner))
    if not below:
        return f"<li>{text}</li>"
    inner = "".join(f"<li>{each}</li>" for each in below)
    return f"<li><details><summary>{text}</summary><ul>{inner}</ul></details></li>"
