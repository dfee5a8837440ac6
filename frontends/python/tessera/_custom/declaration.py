"""Operands, results and parameters of an operator, by the signatures of Python functions."""

import inspect

from .. import _core

ABI = _core.custom_op_abi()  # numbers of custom_op_abi.h by name
_KINDS = {int: "int", float: "float", bool: "bool", str: "str", list: "ints", tuple: "ints"}


def refused(name, must, got):
    """The error of a declaration."""
    return ValueError(f"custom_op: {must}, got {got} of {name}")


def _kind(name, parameter):
    annotation = parameter.annotation
    if isinstance(annotation, str):
        annotation = {kind.__name__: kind for kind in _KINDS}.get(annotation.split("[")[0])
    annotation = getattr(annotation, "__origin__", annotation)
    if annotation is inspect.Parameter.empty and parameter.default is not parameter.empty:
        annotation = type(parameter.default)
    if annotation not in _KINDS:
        raise refused(
            name, f"parameter {parameter.name} must be an int, float, bool, str or list[int]",
            getattr(annotation, "__name__", annotation),
        )  # fmt: skip
    return _KINDS[annotation]


def value_of(name, flags=0):
    """An input, an output or a state of any dtype, as `_core.add_custom_op` takes it."""
    return name, ABI["TESS_ANY_DTYPE"], flags


def _text(value):
    return str(list(value)) if isinstance(value, list | tuple) else str(value)


class Declaration:
    """The names of an operator's operands, results and parameters."""

    def __init__(self, name, forward, outputs, states, hidden, random, training):
        self.name = name
        self.outputs, self.states = tuple(outputs), tuple(states)
        self.hidden = tuple(hidden)
        given = [p for p in inspect.signature(forward).parameters.values() if p.name != "self"]
        positional = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        names = [p.name for p in positional]
        self.inputs = [n for n in names if n not in self.states]
        if names[len(self.inputs) :] != list(self.states):
            raise refused(
                name, f"forward must take its states {self.states} behind its inputs", names
            )
        spare = {"rng"} if random else set()
        spare |= {"is_training"} if training else set()
        self.parameters = [
            self._parameter(p) for p in given if p.kind is p.KEYWORD_ONLY and p.name not in spare
        ]
        missing = spare - {p.name for p in given if p.kind is p.KEYWORD_ONLY}
        if missing:
            raise refused(name, f"forward must take {sorted(missing)} by keyword", names)

    def _parameter(self, parameter):
        has_default = parameter.default is not parameter.empty
        default = _text(parameter.default) if has_default else None
        kind = _kind(self.name, parameter)
        return parameter.name, kind, "", default, None, None, []

    def reads(self, backward):
        """Numbers of the gradients, inputs and outputs that `backward` names."""
        outputs = [*self.outputs, *self.hidden]
        gradients, inputs, results = [], [], []
        order = []
        for p in inspect.signature(backward).parameters.values():
            if p.name == "self" or p.kind is p.KEYWORD_ONLY:
                continue
            if p.name.startswith("d_") and p.name[2:] in outputs:
                gradients.append(outputs.index(p.name[2:]))
                order.append(("gradient", gradients[-1]))
            elif p.name in self.inputs:
                inputs.append(self.inputs.index(p.name))
                order.append(("input", inputs[-1]))
            elif p.name in outputs:
                results.append(outputs.index(p.name))
                order.append(("output", results[-1]))
            else:
                known = [*(f"d_{n}" for n in outputs), *self.inputs, *outputs]
                raise refused(self.name, f"backward must read values among {known}", p.name)
        rank = {"gradient": 0, "input": 1, "output": 2}
        if [rank[kind] for kind, _ in order] != sorted(rank[kind] for kind, _ in order):
            raise refused(self.name, "backward must read gradients, then inputs, then outputs",
                          [p for p in inspect.signature(backward).parameters])  # fmt: skip
        return gradients, inputs, results

    def spec(self, functions, version, doc, onnx, inplace, flags, data_sized):
        """The dict that `_core.add_custom_op` takes."""
        flags_of_output = {n: ABI["TESS_DATA_SIZED"] for n in data_sized}
        flags_of_output.update((n, ABI["TESS_HIDDEN"]) for n in self.hidden)
        names = (*self.outputs, *self.hidden)
        has_backward = functions.backward_function is not None
        reads = self.reads(functions.backward_function) if has_backward else (None, None, None)
        places = [(self.inputs.index(a), self.outputs.index(b)) for a, b in inplace]
        return {
            "name": self.name,
            "version": version,
            "summary": (doc or self.name).strip().splitlines()[0],
            "doc": doc or "",
            "onnx": onnx,
            "flags": flags,
            "inputs": [value_of(n) for n in self.inputs],
            "outputs": [value_of(n, flags_of_output.get(n, 0)) for n in names],
            "states": [value_of(n) for n in self.states],
            "parameters": self.parameters,
            "inplace": places,
            "reads_gradients": reads[0],
            "reads_inputs": reads[1],
            "reads_outputs": reads[2],
            "has_backward": has_backward,
        }


def flags_of(random, training, vmap):
    """The flags of an operator."""
    flags = {"TESS_USES_RANDOM": random, "TESS_USES_TRAINING": training, "TESS_MAPS_BATCH": vmap}
    return sum(ABI[name] for name, is_set in flags.items() if is_set)
