"""What notebooks show of modules, traced functions and programs: their `_repr_html_`.

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
