"""`tessera.custom_op`: an operator written in Python."""

import inspect

from .. import _core
from .declaration import Declaration, flags_of, refused
from .functions import Functions
from .registry import add


def custom_op(
    name, *, outputs=("out",), infer=None, backward=None, states=(), hidden=(), inplace=(),
    data_sized=(), random=False, training=False, vmap=False, onnx=None, version="0",
):  # fmt: skip
    """Makes an operator of a function of NumPy arrays, or of a class with such functions.

    The operator runs eagerly, in traces and in files that Python runs, on its own memory, on any
    thread; C++ refuses a file with it by name. It is `tessera.ops.<library>.<name>`, too.

    Args:
        name: "library::name".
        outputs: names of the results.
        infer: a function of a Meta for each input and of the parameters; gives a Meta, or one for
            each output. A class has it as a method.
        backward: gives the gradient of each input, or None for 0. Its parameters say what it
            reads, in this order: "d_<output>" gradients, then inputs, then outputs, by name. What
            it does not name is freed early.
        states: names of arrays behind the inputs that `forward` changes in place.
        hidden: names of results for `backward` alone, which `forward` gives last.
        inplace: pairs (input, output) that may share memory.
        data_sized: names of results whose axis 0 `forward` decides; `infer` gives the largest size.
        random: `forward` gets `rng`, a numpy.random.Generator that follows from tessera's seed.
        training: the call gets a parameter `is_training`, and so does `forward`.
        vmap: whether elements of a new axis 0 of all inputs are computed apart by themselves.
        onnx: "domain::Name" for exported files, where parameters are attributes.
        version: of the operator; a file remembers it.

    Returns:
        A decorator for `forward`, or for a class with `forward`, `infer` and `backward`. It gives
        the operator. Positional parameters of `forward` are inputs, keyword-only ones are
        parameters: int, float, bool, str or list[int], by annotation or default.

    Raises:
        ValueError: the functions do not fit each other, or the name is taken.

    >>> import numpy as np
    >>> import tessera as ts
    >>> @ts.custom_op("docs::cube", infer=lambda x: x, backward=lambda d_out, x: d_out * 3 * x * x)
    ... def cube(x):
    ...     return x**3
    >>> cube(ts.tensor([1.0, 2.0])).tolist()
    [1.0, 8.0]
    """

    def _decorate(given):
        functions = _functions_of(name, given, infer, backward)
        names = Declaration(name, functions[1], outputs, states, hidden, random, training)
        calls = Functions(names, *functions, data_sized, random)
        flags = flags_of(random, training, vmap)
        doc = inspect.getdoc(given)
        spec = names.spec(calls, version, doc, onnx, inplace, flags, data_sized)
        return add(_core.add_custom_op(spec, calls))[0]

    return _decorate


def _functions_of(name, given, infer, backward):
    """infer, forward and backward of a function, or of a class that has them."""
    forward = given
    if inspect.isclass(given):
        made = given()
        infer, backward = getattr(made, "infer", infer), getattr(made, "backward", backward)
        forward = getattr(made, "forward", None)
    for key, function in (("forward", forward), ("infer", infer)):
        if not callable(function):
            raise refused(name, f"function {key} must be given", function)
    return infer, forward, backward
