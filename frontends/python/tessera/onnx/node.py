"""One node of a graph: its attributes, and what it knows of its inputs before anything runs."""

from .. import _core
from .package import defs, helper, onnx
from .values import array_of

_KINDS = onnx.AttributeProto


class Node:
    """A node of ONNX. `node["axis"]` is an attribute, the schema's default where it is not given,
    None where there is none. `opset` is None for an operator of a domain of its own, which has no
    schema; its `op_type` begins with the domain.
    """

    def __init__(self, proto, opset, make_graph, folder):
        self.op_type, self.name = proto.op_type, proto.name
        if opset is None:
            self.op_type = f"{proto.domain}.{proto.op_type}"
        self.inputs, self.outputs = list(proto.input), list(proto.output)
        self.opset = opset
        self.constants = {}  # arrays of inputs that are known, by place
        self.element_types = {}  # of ONNX, of inputs where the file tells, by place
        self.version, self.min_inputs, self.attributes = 1, 0, {}
        if opset is not None:
            self._read(defs.get_schema(proto.op_type, opset, ""))
        for attribute in proto.attribute:
            self.attributes[attribute.name] = self._value(attribute, make_graph, folder)
        for name, value in self.attributes.items():
            if isinstance(value, bytes):
                self.attributes[name] = value.decode()

    def _read(self, schema):
        self.version, self.min_inputs = schema.since_version, schema.min_input
        for name, attribute in schema.attributes.items():
            if attribute.default_value.type:
                self.attributes[name] = helper.get_attribute_value(attribute.default_value)

    def _value(self, attribute, make_graph, folder):
        if attribute.type == _KINDS.GRAPH:
            return make_graph(attribute.g)
        if attribute.type == _KINDS.TENSOR:
            return array_of(attribute.t, str(self), folder)
        return helper.get_attribute_value(attribute)

    def __getitem__(self, name):
        return self.attributes.get(name)

    def __str__(self):
        """For messages: the operator, and which node it is."""
        return f"onnx: {self.op_type} in node {self.name!r} of outputs {self.outputs}"

    def refuse(self, what, got):
        """NotImplementedError: `what` must hold of the node, which it does not."""
        raise NotImplementedError(f"{self}: {what}, got {got}")

    def sizes(self, place, value):
        """The integers in an input as numbers, or expressions of sizes where a trace records: those
        of a constant, else those that the tensor holds.
        """
        if place in self.constants:
            return self.constants[place].tolist()
        found = _core.sizes_of(value)
        return found.tolist() if hasattr(found, "tolist") else found

    def number(self, place, value):
        """The one number in an input. A traced function may ask for an integer, which is a size."""
        if place in self.constants:
            return self.constants[place].reshape(-1)[0].item()
        if value.dtype.kind in "iu":
            found = _core.sizes_of(value)
            found = found.tolist() if hasattr(found, "tolist") else found
            return found[0] if isinstance(found, list) else found
        return value.reshape(-1)[0].item() if value.shape else value.item()

    def axes(self, place=None, value=None, name="axes"):
        """A list of axes: an input in newer versions of the operator, an attribute in older ones;
        None where neither is given.
        """
        if value is not None:
            found = self.sizes(place, value)
            return found if isinstance(found, list) else [found]
        found = self[name]
        return found if found is None else list(found)
