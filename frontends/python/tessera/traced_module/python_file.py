"""A traced module as a file of Python, with its tensors beside it."""

import json
import os

from .. import _core
from ..functional import zeros
from ..module import Module, ModuleDict, ModuleList, Sequential
from ..tensor import Parameter, Tensor
from .attributes import attribute_of
from .descriptions import description_of
from .expr import CallMethod, Constant, GetAttr
from .layout import laid_out
from .node import ModuleNode
from .numbering import Names
from .python_code import PythonWriter, path_text
from .python_names import PACKAGE, PublicNames

_SUFFIX = ".safetensors"


def write(traced, path):
    """See TracedModule.to_python."""
    path = os.fspath(path)
    if not path.endswith(".py"):
        raise ValueError(f"to_python: path must end in .py, got {path!r}")
    file = _File(traced)
    text = file.text()
    PACKAGE.save(file.state(), path[: -len(".py")] + _SUFFIX)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


class _File:
    """The text of the whole, and the tensors by their names."""

    def __init__(self, traced):
        self._root = traced
        self._own = frozenset(vars(type(traced)("Module")))
        self._classes, self._constants = {}, {}  # names by texts; {id: attribute} by modules' ids
        taken = {node.name for node in traced.graph.nodes()}
        taken.update(body.name for expr in traced.graph.exprs() for body in expr.bodies)
        self._public, self._names = PublicNames(taken), Names()
        self._ts = self._public.alias("tessera")
        self._base = self._public.name_of(Module)
        for name in ("os", "load", *self._public.names):
            self._names.take(name)

    def text(self):
        """The whole text."""
        name = self._class_of(self._root, list(self._shared()))
        head = [f'"""{name}, as it was traced: `load()` gives it with its tensors."""', "",
                "import os", "", *self._public.lines()]  # fmt: skip
        classes = [line for text in self._classes for line in ("", "", *text.splitlines())]
        modes = [f"    {line}" for line in self._modes()]
        lines = [
            "",
            "",
            "def load(path=None):",
            '    """Makes the module with the tensors of `path`; None: the file beside it."""',
            "    if path is None:",
            f'        path = os.path.splitext(os.path.abspath(__file__))[0] + "{_SUFFIX}"',
            f"    net = {name}()",
            f"    net.load_state_dict({self._ts}.load(path))",
            *modes,
            "    return net",
        ]
        return "\n".join([*head, *classes, *lines]) + "\n"

    def state(self):
        """The tensors by their names, those of constants among them."""
        state = dict(self._root.state_dict())
        for path, module in self._modules():
            for item, name in self._constants.get(id(module), {}).values():
                whole = f"{path}.{name}" if path else name
                if isinstance(item, Tensor):
                    state[whole] = item.numpy()
                else:
                    state.update(item.state_dict(prefix=f"{whole}."))
        return state

    def _modules(self):
        """(path, module) of each path."""
        yield "", self._root
        for path, item, _ in self._root._every():
            if isinstance(item, Module):
                yield path, item

    def _modes(self):
        """Lines that set whether modules are in training, where they differ from new ones."""
        known = {"": True}
        for path, module in self._modules():
            known[path] = module.training
            above = known.get(path.rpartition(".")[0], self._root.training) if path else True
            if module.training != above:
                place = path_text(self._root, "net", path)
                yield f"{place}.train({module.training})" if module.training else f"{place}.eval()"

    def _shared(self):
        """Lines that put what stands at several paths into all of them."""
        first = {}
        for path, item, _ in self._root._every():
            known = first.setdefault(id(item), path)
            if known != path and any(True for _ in _tensors_of(item)):
                holder = path.rpartition(".")[0]
                if isinstance(attribute_of(self._root, holder) if holder else None, tuple):
                    raise ValueError(
                        f"to_python: what is shared must not be in a tuple, got {path} of "
                        f"{self._root.class_name}"
                    )
                yield (f"{path_text(self._root, 'self', path)} = "
                       f"{path_text(self._root, 'self', known)}")  # fmt: skip

    # Classes.

    def _class_of(self, module, more=()):
        """The name of the class for a TracedModule, which is written where it is a new one."""
        constants = self._constants[id(module)] = _constants_of(module)
        by_id = {key: name for key, (_, name) in constants.items()}
        init = [f"self.{name} = {self.made(value)}" if name.isidentifier()
                else f"setattr(self, {json.dumps(name)}, {self.made(value)})"
                for name, value in self._members(module, constants)]  # fmt: skip
        init += more
        lines = [f'    """{module.class_name}, as it was traced."""']
        if init:
            lines += ["", "    def __init__(self):", "        super().__init__()"]
            lines += [f"        {line}" for line in init]
        for number, graph in enumerate(module.graphs):
            self_name = graph.inputs[0].name
            writer = PythonWriter(self._public, by_id, self_name)
            name = f"forward_{number}" if number else "forward"
            lines += ["", *writer.function_lines(graph, name, "    ")]
        body = "\n".join(_tidy(each for line in lines for each in laid_out(line)))
        return self._named(module.class_name, body)

    def _named(self, wanted, body):
        for text, name in self._classes.items():
            if text.partition("\n")[2] == body and name.rstrip("0123456789_") == wanted:
                return name
        name = self._names.free(wanted)
        self._classes[f"class {name}({self._base}):\n{body}"] = name
        return name

    def _members(self, module, constants):
        for key, value in vars(module).items():
            if key not in self._own:
                yield key, value
        for item, name in constants.values():
            yield name, item

    def made(self, value):
        """The text that makes an attribute; its tensors begin with zeros."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            items = ", ".join(map(self.made, value))
            text = f"{items}," if isinstance(value, tuple) and len(value) == 1 else items
            return f"[{text}]" if isinstance(value, list) else f"({text})"
        if isinstance(value, dict):
            items = (f"{json.dumps(key)}: {self.made(item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, Module):
            return self._module(value)
        return PythonWriter(self._public, {}, "self").literal(value)

    def _tensor(self, value):
        shape, dtype = tuple(map(int, value.shape)), value.dtype.name
        if _core.quantization(value.dtype) is None:
            more = "" if dtype == "float32" else f', dtype="{dtype}"'
            text = f"{self._public.name_of(zeros)}({shape}{more})"
        else:  # a state brings the scales of a weight along
            kind = _core.quantization(value.dtype)[0]
            numbers = f"{self._public.name_of(zeros)}({shape})"
            text = f'{numbers}.astype("{kind}<1.0>")'
        return f"{self._ts}.Parameter({text})" if isinstance(value, Parameter) else text

    def _module(self, module):
        kind = type(module)
        if kind is ModuleList:
            return f"{self._public.name_of(kind)}([{', '.join(map(self.made, module))}])"
        if kind is ModuleDict:
            return f"{self._public.name_of(kind)}({self.made(dict(module.items()))})"
        if hasattr(module, "_graphs"):
            if (keys := _chained(module)) is not None:
                return self._sequential(module, keys)
            return f"{self._class_of(module)}()"
        _, args, kwargs = description_of(module)
        texts = [*map(self.made, args), *(f"{k}={self.made(v)}" for k, v in kwargs.items())]
        return f"{self._public.name_of(kind)}({', '.join(texts)})"

    def _sequential(self, module, keys):
        items = {key: vars(module)[key] for key in keys}
        name = self._public.name_of(Sequential)
        if keys == list(map(str, range(len(keys)))):
            return f"{name}({', '.join(map(self.made, items.values()))})"
        return f"{name}({self.made(items)})"


def _tensors_of(item):
    """The item, where it is a tensor, or the tensors of the module."""
    return [item] if isinstance(item, Tensor) else item.tensors()


def _constants_of(module):
    """{id: (tensor or module, attribute)} of what belongs to the graphs of a module themselves."""
    names, found = Names(), {}
    for key in vars(module):
        names.take(key)
    for graph in module.graphs:
        for expr in graph.every_expr(recursive=False):
            if isinstance(expr, Constant) and id(expr.value) not in found:
                found[id(expr.value)] = expr.value, names.free(expr.result.name)
    return found


def _chained(module):
    """The keys of the modules that a Sequential calls, each by the result of the one before; None:
    it does something else.
    """
    if module.class_name != "Sequential" or len(module.graphs) != 1:
        return None
    graph = module.graphs[0]
    if len(graph.inputs) != 2 or len(graph.signature.parameters) != 1:
        return None
    value, keys = graph.inputs[1], []
    for expr in graph.own_exprs:
        if isinstance(expr, GetAttr) and isinstance(expr.result, ModuleNode):
            continue
        if not _is_call(expr, value):
            return None
        keys.append(expr.args[0].expr.name)
        value = expr.result
    children = [key for key, _ in module.named_children()]
    is_all = sorted(keys) == sorted(children) and graph.output_tree is value
    return keys if is_all else None


def _is_call(expr, value):
    """Whether it calls a module of its own with just that value."""
    if not (isinstance(expr, CallMethod) and expr.method == "__call__" and not expr.modes):
        return False
    return len(expr.args) == 2 and expr.args[1] is value and not (
        expr.kwargs or expr.variant or not isinstance(expr.args[0].expr, GetAttr)
    )  # fmt: skip


def _tidy(lines):
    """Lines without blanks at their ends, and without empty ones where a block begins."""
    before = ""
    for line in lines:
        line = line.rstrip()
        if line or (before and not before.endswith(":")):
            yield line
        before = line
