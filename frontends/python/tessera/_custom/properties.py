"""Operators by MXNet's names: CustomOp computes, CustomOpProp describes."""

import inspect

import numpy as np

from .. import _core
from .declaration import ABI, flags_of, value_of
from .functions import arrays_of
from .registry import add

_REQUESTS = {ABI[f"TESS_{name.upper()}"]: name for name in ("null", "write", "inplace", "add")}
_LIBRARY = "custom"


class NDArray(np.ndarray):
    """An array over a tensor's memory."""

    def asnumpy(self):
        """The array itself, as NumPy's."""
        return self.view(np.ndarray)


class CustomOp:
    """Computes an operator; a class of the user's derives from it."""

    def forward(self, is_train, req, in_data, out_data, aux):
        """Computes `out_data` of `in_data`, by `assign`; may change `aux`.

        Raises:
            NotImplementedError: the class has none.
        """
        raise NotImplementedError(f"{type(self).__name__}: forward must be given, got none")

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Computes `in_grad`, by `assign`; values that are not declared to be read are None.

        Raises:
            NotImplementedError: the class has none.
        """
        raise NotImplementedError(f"{type(self).__name__}: backward must be given, got none")

    def assign(self, dst, req, src):
        """Writes `src` to `dst` as `req` says: "null", "write", "inplace" or "add"."""
        if req == "add":
            dst += src
        elif req != "null":
            dst[...] = src


class CustomOpProp:
    """Describes an operator; a class of the user's derives from it.

    Args:
        need_top_grad: whether `backward` reads the gradients of outputs; a loss does not.
    """

    def __init__(self, need_top_grad=False):
        self.need_top_grad_ = need_top_grad

    def list_arguments(self):
        """Names of inputs."""
        return ["data"]

    def list_outputs(self):
        """Names of outputs."""
        return ["output"]

    def list_auxiliary_states(self):
        """Names of arrays that `forward` may change."""
        return []

    def infer_shape(self, in_shape):
        """Shapes of inputs, outputs and states, of those of inputs."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type):
        """Dtypes of inputs, outputs and states, of those of inputs."""
        outputs, states = len(self.list_outputs()), len(self.list_auxiliary_states())
        return in_type, [in_type[0]] * outputs, [in_type[0]] * states

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """The entries of the three lists that `backward` reads."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """The CustomOp for these shapes.

        Raises:
            NotImplementedError: the class has none.
        """
        raise NotImplementedError(f"{type(self).__name__}: create_operator must be given, got none")


class _Functions:
    """The functions of a registered class, as the kernel calls them."""

    def __init__(self, name, prop_class, prop):
        self.name, self.prop_class, self.prop = name, prop_class, prop
        self.num_inputs = len(prop.list_arguments())
        self.num_outputs = len(prop.list_outputs())
        self.props, self.operators = {}, {}
        counts = {"grad": self.num_outputs, "in": self.num_inputs, "out": self.num_outputs}
        ids = [[(kind, i) for i in range(n)] for kind, n in counts.items()]
        read = prop.declare_backward_dependency(*ids)
        self.reads = [
            sorted(i for kind, i in read if kind == wanted) for wanted in ("grad", "in", "out")
        ]

    def _prop(self, parameters):
        key = tuple(sorted(parameters.items()))
        if key not in self.props:
            self.props[key] = self.prop_class(**parameters)
        return self.props[key]

    def _operator(self, parameters, arrays):
        key = tuple(sorted(parameters.items())), tuple((a.shape, a.dtype) for a in arrays)
        if key not in self.operators:
            shapes, dtypes = [list(a.shape) for a in arrays], [a.dtype.type for a in arrays]
            self.operators[key] = self._prop(parameters).create_operator("cpu", shapes, dtypes)
        return self.operators[key]

    def infer(self, metas, parameters):
        """(dtype, sizes) of each output; None where sizes have no numbers yet."""
        parameters.pop("is_training", None)
        if any(n < 0 for _, shape in metas for n in shape):
            return None
        prop, given = self._prop(parameters), metas[: self.num_inputs]
        shapes = prop.infer_shape([list(shape) for _, shape in given])[1]
        dtypes = prop.infer_type([np.dtype(dtype).type for dtype, _ in given])[1]
        return [
            (np.dtype(d).name, [int(n) for n in s]) for d, s in zip(dtypes, shapes, strict=True)
        ]

    def forward(self, inputs, outputs, states, parameters, draws):
        """Computes the outputs."""
        is_train = parameters.pop("is_training")
        given, made, aux = (arrays_of(each, NDArray) for each in (inputs, outputs, states))
        requests = [_REQUESTS[each[3]] for each in outputs]
        self._operator(parameters, given).forward(is_train, requests, given, made, aux)

    def backward(self, inputs, outputs, states, parameters, draws):
        """Computes the gradients that are wanted."""
        parameters.pop("is_training", None)
        values = iter(arrays_of(inputs, NDArray))
        counts = self.num_outputs, self.num_inputs, self.num_outputs
        grads, data, results = ([None] * n for n in counts)
        for place, numbers in zip((grads, data, results), self.reads, strict=True):
            for number in numbers:
                place[number] = next(values)
        wanted = arrays_of(outputs, NDArray)
        requests = ["null" if each is None else _REQUESTS[each[3]] for each in outputs]
        known = [each for each in data if each is not None]
        operator = self._operator(parameters, known if len(known) == len(data) else wanted)
        operator.backward(requests, grads, data, results, wanted, [])


def _parameters(prop_class):
    rows = []
    for p in list(inspect.signature(prop_class.__init__).parameters.values())[1:]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        default = None if p.default is p.empty else str(p.default)
        rows.append((p.name, "str", "", default, None, None, []))
    return rows


def register(reg_name):
    """Makes an operator of a class that derives from CustomOpProp: `Custom(..., op_type=reg_name)`.

    Parameters of its `__init__` are parameters of the operator; they come as texts.

    Raises:
        ValueError: the name is taken, or is no identifier.
    """

    def _decorate(prop_class):
        parameters = _parameters(prop_class)
        defaults = {row[0]: row[3] or "0" for row in parameters}
        prop = prop_class(**defaults)
        functions = _Functions(reg_name, prop_class, prop)
        spec = {
            "name": f"{_LIBRARY}::{reg_name}",
            "version": "0",
            "summary": f"the operator {reg_name}",
            "doc": inspect.getdoc(prop_class) or "",
            "onnx": None,
            "flags": flags_of(random=False, training=True, vmap=False),
            "inputs": [value_of(name) for name in prop.list_arguments()],
            "outputs": [value_of(name) for name in prop.list_outputs()],
            "states": [value_of(name) for name in prop.list_auxiliary_states()],
            "parameters": parameters,
            "inplace": [],
            "reads_gradients": functions.reads[0],
            "reads_inputs": functions.reads[1],
            "reads_outputs": functions.reads[2],
            "has_backward": True,
        }
        add(_core.add_custom_op(spec, functions))
        return prop_class

    return _decorate
