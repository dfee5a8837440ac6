"""The operators of a recording as nodes of ONNX."""

import contextlib
import functools
import re
from collections import namedtuple

import numpy as np

from .. import _core
from .._custom.registry import row_of
from .brought import name_of
from .package import defs, helper, numpy_helper, onnx
from .registry import fields
from .sizes import SizeNodes
from .values import element_type_of, stored

_EXPORTERS = {}
# Records that take complex numbers as pairs: exporters/complex_numbers.py.
_OF_PAIRS = {"abs", "cast", "conj", "fft_c2c", "imag", "real"}
_VARIADIC = 2  # of the arities of operands: 0 is one, 1 an optional one

Value = namedtuple("Value", "name dtype shape")
"""A tensor of the graph that is written: its name, the name of its dtype, and its sizes."""


def exporter(*records, needs=()):
    """Registers `function(writer, row, *values)` for records; `values` are the operands, a list for
    each variadic one, None for one that is left out. It returns the name of the result, or a tuple
    of them. `needs`: ONNX's operators that it writes in the place of the one of the field.
    """

    def _register(function):
        for name in records:
            _EXPORTERS[name] = function, needs
        return function

    return _register


def known_records(opset):
    """The records that are written as they are: composites among them are not taken apart."""
    return {name for name in {*_EXPORTERS, *fields()} if _is_known(name, opset)}


@functools.cache
def _is_known(name, opset):
    _, field, attributes = fields().get(name, (None, None, None))
    needed = [field] if field else []
    if name in _EXPORTERS:
        needed = _EXPORTERS[name][1] or needed
    elif attributes is None:
        return False
    return all(defs.has(each, opset, "") for each in needed)


class Row:
    """One operator of a recording. `row["axis"]` is an attribute."""

    def __init__(self, row, values):
        self.name, self.attributes, inputs, segments, outputs, self.place = row
        self.outputs, self.results = outputs, [values[number] for number in outputs]
        self.operands = [values[number] for number in inputs]
        self.segments = segments

    def __getitem__(self, name):
        return self.attributes[name]

    def grouped(self, arities):
        """The operands as the record lists them: a list for a variadic one, by `arities`."""
        segments = self.segments
        if not segments and _VARIADIC not in arities:
            return self.operands
        if not segments:  # what the others leave
            extra = len(self.operands) - len(arities) + 1
            segments = [extra if arity == _VARIADIC else 1 for arity in arities]
        groups, rest = [], list(self.operands)
        for count, arity in zip(segments, arities, strict=True):
            own, rest = rest[:count], rest[count:]
            groups.append(own if arity == _VARIADIC else own[0] if own else None)
        return groups


class Writer:
    """Nodes and constants of one graph."""

    def __init__(self, view, opset, arg_names, dims=(), quantization="exact"):
        """`dims`: (argument, axis, name) of free dimensions, of which equal names are one.
        `quantization`: "exact" or "qdq", how numbers are rounded to integers.
        """
        self.opset, self.nodes, self.initializers = opset, [], {}
        self.top, self.quantization = self.nodes, quantization
        self.arrays = {}  # of constants, by name
        self.domains = {}  # of operators that users bring, in the order of their nodes
        self.view, self.number = view, 0
        self.values = [
            Value(f"v{number}", stored(row["dtype"]), tuple(row["shape"]))
            for number, row in enumerate(view["values"])
        ]
        for name, number in zip(arg_names, view["arguments"], strict=True):
            self.values[number] = self.values[number]._replace(name=name)
        self.taken = set(arg_names)
        self.pairs = {}  # names of complex numbers that are pairs: the operators that made them
        self.arities = _arities()
        self.dim_names = list(dict.fromkeys(name for _, _, name in dims))
        places = {self.dim_names.index(name): (arg_names[i], axis) for i, axis, name in dims}
        self.sizes = SizeNodes(self, {f"d{number}": place for number, place in places.items()})

    def fresh(self):
        """A name that nothing has."""
        while True:
            self.number += 1
            name = f"t{self.number}"
            if name not in self.taken:
                return name

    def node(self, op_type, inputs, outputs=1, **attributes):
        """Adds a node; the name of its output, or the names where there are several. Inputs are
        values or names, None where one is left out.
        """
        names = [self.fresh() for _ in range(outputs)]
        inputs = ["" if each is None else getattr(each, "name", each) for each in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        if not defs.has(op_type, self.opset, ""):
            raise NotImplementedError(f"opset {self.opset} must have {op_type}")
        attributes = {name: value for name, value in attributes.items() if value is not None}
        missing = set(attributes) - set(defs.get_schema(op_type, self.opset, "").attributes)
        if missing:
            raise NotImplementedError(
                f"opset {self.opset} must have {op_type} with {missing.pop()}"
            )
        self.nodes.append(helper.make_node(op_type, inputs, names, **attributes))
        return names[0] if outputs == 1 else tuple(names)

    def pair(self, name):
        """Notes that the output of a node is complex numbers as pairs along a last axis."""
        self.pairs[name] = self.row
        return name

    def want_pair(self, value):
        """The value. NotImplementedError: it must be such."""
        if value.name not in self.pairs:
            raise NotImplementedError(
                "complex numbers must come from a Fourier transform or a cast"
            )
        return value

    def constant(self, array, dtype=None):
        """The name of a constant."""
        array = np.asarray(array) if dtype is None else np.asarray(array).astype(_numpy(dtype))
        key = array.dtype.name, array.shape, array.tobytes()
        if key not in self.initializers:
            made = numpy_helper.from_array(array, self.fresh())
            self.initializers[key], self.arrays[made.name] = made, array
        return self.initializers[key].name

    def int4(self, array):
        """The name of a constant of int4."""
        return self.constant(array.astype(helper.tensor_dtype_to_np_dtype(onnx.TensorProto.INT4)))

    def array_of(self, name):
        """The elements of a constant; None where the name is that of another value."""
        return self.arrays.get(name)

    def ints(self, values):
        """The name of int64[n], a constant unless sizes are expressions.

        NotImplementedError: every size must be known.
        """
        values = list(values)
        if None in values:
            raise NotImplementedError("sizes must be numbers or follow from free dimensions")
        if not any(isinstance(value, str) for value in values):
            return self.constant(np.array(values, "int64"))
        return self.node("Concat", [self.sizes.name_of(value) for value in values], axis=0)

    @contextlib.contextmanager
    def outermost(self):
        """Nodes are those of the outermost graph, whatever body is written."""
        inner, self.nodes = self.nodes, self.top
        yield
        self.nodes = inner

    def info(self, value):
        """The description of an input or output."""
        shape = [self._dim_text(size) for size in value.shape]
        return helper.make_tensor_value_info(value.name, element_type_of(value.dtype), shape)

    def _dim_text(self, size):
        """Expressions with the names of the dimensions."""
        if not isinstance(size, str):
            return size
        return re.sub(r"\bd(\d+)\b", lambda found: self.dim_names[int(found[1])], size)

    def cast(self, name, dtype):
        """A node that converts to Tessera's dtype."""
        return self.node("Cast", [name], to=element_type_of(dtype))

    def graph(self, name, results, output_names):
        """The whole graph: `results` are the numbers of the outputs."""
        for number, row in enumerate(self.view["values"]):
            if row["tensor"] is not None and row["kind"] in ("captured", "constant"):
                constant = self.constant(row["tensor"].numpy())
                self.values[number] = self.values[number]._replace(name=constant)
        for row in self.view["operators"]:
            self._write(Row(row, self.values))
        outputs = []
        for number, output in zip(results, output_names, strict=True):
            value = self.values[number]
            if value.name in self.pairs:
                row = self.pairs[value.name]
                raise NotImplementedError(
                    f"export: results must be real, got {row.name} at {row.place or 'no line'}"
                )
            self.nodes.append(helper.make_node("Identity", [value.name], [output]))
            outputs.append(self.info(value._replace(name=output)))
        inputs = [self.info(self.values[number]) for number in self.view["arguments"]]
        constants = list(self.initializers.values())
        return helper.make_graph(self.nodes, name, inputs, outputs, constants)

    def body(self, body, inputs, outputs, before=(), condition=None):
        """A graph within a node: `inputs` and `outputs` are numbers of values, `before` are (name,
        dtype) of inputs of rank 0 that come first; `condition` writes the first output, for the
        value of the first of `outputs`.
        """
        outer, self.nodes = self.nodes, []
        for row in body["operators"]:
            self._write(Row(row, self.values))
        results = []
        if condition is not None:
            guard = self.values[outputs[0]] if outputs else None
            results.append(self.info(Value(condition(guard), "bool", ())))
        for number in outputs:
            value = self.values[number]
            results.append(self.info(value._replace(name=self.node("Identity", [value]))))
        given = [self.info(Value(name, dtype, ())) for name, dtype in before]
        given += [self.info(self.values[number]) for number in inputs]
        graph = helper.make_graph(self.nodes, self.fresh(), given, results)
        self.nodes = outer
        return graph

    def _write(self, row):
        try:
            names = self._names_of(row)
        except (NotImplementedError, TypeError) as error:
            if isinstance(error, TypeError) and not self.dim_names:
                raise
            why = f" ({error})" if str(error) else ""
            raise NotImplementedError(
                f"export: operators must be those that ONNX has, got {row.name} at "
                f"{row.place or 'no line'}{why}"
            ) from None
        for number, name in zip(row.outputs, names, strict=False):
            self.values[number] = self.values[number]._replace(name=name)

    def _names_of(self, row):
        self.row = row
        if row.name not in _OF_PAIRS and any(each.name in self.pairs for each in row.operands):
            raise NotImplementedError("complex numbers are pairs there")
        if "." in row.name:  # an operator of a user's
            return self._node_of_user(row)
        groups = row.grouped(self.arities.get(row.name, ()))
        if row.name in _EXPORTERS:
            names = _EXPORTERS[row.name][0](self, row, *groups)
            return names if isinstance(names, tuple) else (names,)
        _, field, attributes = fields().get(row.name, (None, None, None))
        if attributes is None:
            raise NotImplementedError
        attributes = {ours: row[own] for ours, own in attributes.items()}
        names = self.node(field, row.operands, len(row.outputs), **attributes)
        return names if isinstance(names, tuple) else (names,)

    def _node_of_user(self, row):
        """A node of another domain, with all parameters as attributes; the names of its outputs."""
        found = row_of(row.name.replace(".", "::", 1))
        if not (found and name_of(found)):
            raise NotImplementedError
        domain, op_type = name_of(found)
        names = [self.fresh() for _ in row.outputs]
        attributes = {name: value for name, value in row.attributes.items() if value is not None}
        inputs = [each.name for each in row.operands]
        node = helper.make_node(op_type, inputs, names, domain=domain, **attributes)
        self.nodes.append(node)
        self.domains[domain] = None
        return names


def _arities():
    arities = {row["name"]: [each[1] for each in row["operands"]] for row in _core.op_table()}
    return {**arities, "scan": [_VARIADIC]}  # which is no record


def _numpy(dtype):
    return helper.tensor_dtype_to_np_dtype(element_type_of(dtype))
