"""The operator that holds a program of a provider, and its callable."""

import hashlib

import numpy as np

from .. import _core
from .._custom.declaration import ABI, value_of
from .._custom.functions import arrays_of
from .._custom.registry import add
from ..device import get_default_device
from ..tensor import Tensor
from .signature import Signature

_READY = 16  # operators that exist for files to be loaded: one for each number of outputs
_operators = {}  # (name of a provider, number of outputs): callable
_providers = {}  # by name


class _Functions:
    """The functions of the operators of one provider, as the kernel calls them."""

    def __init__(self, provider):
        self.provider, self.executables = provider, {}

    def executable(self, digest, program=None):
        """The program that the provider opened, which is kept to the end of the process; `program`
        gives its bytes, and is called where it was not opened yet.
        """
        found = self.executables.get(digest)
        if found is None:
            if program is None:
                raise LookupError(
                    f"{self.provider.name}: the program must be opened where only the engine tells "
                    f"sizes, got {digest[:12]} from a file"
                )
            found = self.executables[digest] = self.provider.open(program())
        return found

    def infer(self, metas, parameters):
        """(dtype, sizes) of each output; None where the engine needs numbers for open sizes."""
        signature = Signature.parse(parameters["signature"])
        given = [tuple(shape) for _, shape in metas[1:]]
        _check_ranks(self.provider.name, signature, metas[1:])
        shapes = signature.shapes(given)
        if shapes is None and any(size < 0 for shape in given for size in shape):
            return None
        if shapes is None:
            shapes = self.provider.infer(self.executable(parameters["digest"]), given)
        return [
            (value.dtype, [int(size) for size in shape])
            for value, shape in zip(signature.outputs, shapes, strict=True)
        ]

    def forward(self, inputs, outputs, states, parameters, draws):
        """Computes the outputs."""
        given = arrays_of(inputs[1:], np.ndarray)
        for each in given:
            each.flags.writeable = False
        executable = self.executable(
            parameters["digest"], lambda: arrays_of(inputs[:1], np.ndarray)[0].tobytes()
        )
        self.provider.run(executable, given, arrays_of(outputs, np.ndarray))


def _check_ranks(caller, signature, metas):
    """Checks all but sizes, for which inference also has examples."""
    found = [(dtype, len(shape)) for dtype, shape in metas]
    wanted = [(value.dtype, len(value.shape)) for value in signature.inputs]
    if found != wanted:
        raise ValueError(f"{caller}: operands must have dtypes and ranks {wanted}, got {found}")


def register(provider):
    """Makes the operators of a provider, which files name; once for each name.

    ValueError: another provider must not have the name.
    """
    functions = _providers.get(provider.name)
    if functions is None:
        if not provider.name.isidentifier():
            raise ValueError(f"provider: name must be an identifier, got {provider.name!r}")
        functions = _providers[provider.name] = _Functions(provider)
        for count in range(1, _READY + 1):
            operator_of(provider, count)
    if functions.provider is not provider:
        raise ValueError(f"provider: names must differ, got {provider.name!r} twice")
    return functions


def operator_of(provider, count):
    """The operator of a provider for programs of `count` outputs."""
    key = provider.name, count
    if key not in _operators:
        spec = _spec(provider, count)
        _operators[key] = add(_core.add_custom_op(spec, _providers[provider.name]))[0]
    return _operators[key]


def _spec(provider, count):
    doc = (
        f"A program of {provider.name}.\n\nIts operands are the program's bytes and the inputs; "
        "`signature` has the dtypes and shapes of inputs and outputs, `digest` is the SHA-256 of "
        "the bytes."
    )
    return {
        "name": f"{provider.name}::program{count}",
        "version": provider.version,
        "summary": f"a program of {provider.name}",
        "doc": doc,
        "onnx": None,
        "flags": 0,
        "inputs": [value_of("program"), value_of("inputs", ABI["TESS_VARIADIC"])],
        "outputs": [value_of(f"out{i}") for i in range(count)],
        "states": [],
        "parameters": [(name, "str", "", None, None, None, []) for name in ("signature", "digest")],
        "inplace": [],
        "reads_gradients": None,
        "reads_inputs": None,
        "reads_outputs": None,
        "has_backward": False,
    }


class ProviderOperator:
    """A program of a provider as a callable: called with tensors, by position or by name, it gives
    its output, or a tuple of them. It runs eagerly, and in traces and Networks as one operator.
    """

    def __init__(self, provider, program, name="program"):
        functions = register(provider)
        self.__name__, self.provider, self.program = name, provider, bytes(program)
        self._digest = hashlib.sha256(self.program).hexdigest()
        executable = functions.executable(self._digest, lambda: self.program)
        self.signature = provider.signature(executable)
        self._text = self.signature.text()
        self._operands = {}  # the program as a tensor, by its device
        self._operand_on(get_default_device())
        self._operator = operator_of(provider, len(self.signature.outputs))

    @property
    def inputs(self):
        """The names of the inputs."""
        return [value.name for value in self.signature.inputs]

    @property
    def outputs(self):
        """The names of the outputs."""
        return [value.name for value in self.signature.outputs]

    def __call__(self, *args, **kwargs):
        """The output, or a tuple of them.

        TypeError: every input must be given once, with its dtype. ValueError: sizes must be those
        of the program.
        """
        given = [self._converted(*each) for each in self._in_order(args, kwargs)]
        self.signature.check(self.__name__, [(_dtype_of(each), each.shape) for each in given])
        operand = self._operand_on(given[0].device if given else get_default_device())
        return self._operator(operand, given, signature=self._text, digest=self._digest)

    def _operand_on(self, device):
        found = self._operands.get(device)
        if found is None:
            held = np.frombuffer(self.program, np.uint8)
            found = self._operands[device] = Tensor(held, dtype="uint8", device=device)
        return found

    def _in_order(self, args, kwargs):
        """(Value, argument) of each input."""
        names = self.inputs
        rest = names[len(args) :]
        if len(args) > len(names) or set(kwargs) != set(rest):
            got = [f"{len(args)} by position", *kwargs]
            raise TypeError(f"{self.__name__}: inputs must be {names}, got {got}")
        values = [*args, *(kwargs[name] for name in rest)]
        return zip(self.signature.inputs, values, strict=True)

    def _converted(self, value, argument):
        return argument if isinstance(argument, Tensor) else Tensor(argument, dtype=value.dtype)

    def __reduce__(self):
        return ProviderOperator, (self.provider, self.program, self.__name__)

    def __repr__(self):
        return f"ProviderOperator({self.__name__!r}, {self.provider.name}, {self._text})"


def _dtype_of(tensor):
    return _core.described_name(tensor.dtype) or tensor.dtype.name
