"""A traced function as a file of ONNX."""

import os

from ..jit.file_call import at_other_sizes, for_file, free_dims
from . import exporters  # noqa: F401  registers the functions
from .package import checker, helper, onnx, shape_inference
from .sizes import forget_fixed
from .writer import Writer, known_records

NEWEST = 23
"""The opset that is written where no other is asked for; the oldest is 13."""
OLDEST = 13
_LARGE = 1 << 31  # bytes that a message of Protobuf may have
_REST = 1 << 26  # bytes of all but constants, an estimate
_PAGE = 4096


def export(traced, file, *, arg_names=None, output_names=None, dims=None, opset=NEWEST,
           quantization="exact"):  # fmt: skip
    """Writes the last recorded call of `traced` as a model of ONNX, with the shapes of the call but
    for the dimensions that `dims` frees.

    Tensors from outside are constants of the model. An operator that ONNX has not, or not in
    `opset`, is written as the operators that it is made of.

    Args:
        traced: a function that `tessera.jit.trace(..., capture_as_const=True)` gave, and that has
            been called
        file: a path or a binary stream; beside a path lies `NAME.data` where constants have 2 GiB
        arg_names, output_names: names of inputs and outputs; default "arg0" and "output0"
        dims: free dimensions of inputs by name and axis, `{"x": {0: Dim("batch")}}`, as
            `trace.dump` takes them
        opset: the version of ONNX's operators, 13 to 23
        quantization: "exact" writes `quantize` and `fake_quant` by operators that give Tessera's
            integers; "qdq" by QuantizeLinear and DequantizeLinear, which other tools know, and
            which round halves to even: numbers between two integers may become the other one

    Raises:
        RuntimeError: the trace must have capture_as_const=True, be one program, and have been
            called
        ValueError: names must be as many as there are tensors, and differ; opset and quantization
            must be among those; the call must be a program whose sizes do not depend on data
        NotImplementedError: every operator must be one that ONNX can say, the message names it with
            its line; the function must update no tensor from outside

    Example:
        >>> import tessera as ts
        >>> from tessera.onnx import export
        >>> import tempfile
        >>> traced = ts.jit.trace(lambda x: x * 2, capture_as_const=True)
        >>> _ = traced(ts.tensor([1.0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export(traced, f"{folder}/double.onnx", arg_names=["x"])
        ...     ts.onnx.load(f"{folder}/double.onnx").inputs
        ['x']
    """
    if not OLDEST <= opset <= NEWEST:
        raise ValueError(f"export: opset must be {OLDEST} to {NEWEST}, got {opset}")
    if quantization not in ("exact", "qdq"):
        raise ValueError(f"export: quantization must be 'exact' or 'qdq', got {quantization!r}")
    _save(model_of(traced, arg_names, output_names, dims, opset, quantization), file)


def model_of(traced, arg_names, output_names, dims, opset, quantization="exact", is_told=True):
    """The ModelProto that `export` writes, not checked; the log tells its inputs if `is_told`."""
    call = _call_of(traced)
    count = len(call.slots)
    names = _names("arg_names", arg_names, "arg", call.num_arguments)
    outputs = _names("output_names", output_names, "output", count)
    call, dims = _for_file(traced, call, dims, names, is_told)
    free = [(argument, axis, name) for argument, axis, name, _, _ in dims]
    view = _view_of(traced, call, dims, free, opset)
    writer = Writer(view, opset, names, free, quantization)
    graph = writer.graph(traced.__name__, view["results"][:count], outputs)
    return _model(graph, opset, writer.domains)


def _call_of(traced):
    if not traced.capture_as_const:
        raise RuntimeError("export: the trace must have capture_as_const=True, got False")
    if traced._segments is not None or traced._last is None:
        got = "no call" if traced._last is None else "parts within exclude_from_trace"
        raise RuntimeError(f"export: {traced.__name__} must be one recorded call, got {got}")
    call = traced._last
    if why := call.recording.why_eager:
        raise ValueError(
            f"export: {traced.__name__} must be a program, got one that runs eagerly: {why}"
        )
    return call


def _for_file(traced, call, dims, names, is_told):
    """The call as a file holds it, and its free dimensions."""
    try:
        free = free_dims(dims or {}, names)
        call = for_file(traced, call, names, free, is_told)
    except ValueError as error:
        raise ValueError(str(error).replace("dump: ", "export: ", 1)) from None
    return call, free


def _view_of(traced, call, dims, free, opset):
    """The operators of the call; sizes that are neither expressions of free dimensions nor the same
    at others are None.
    """
    known = known_records(opset)
    view = call.recording.view(known, free)
    _check_view(view)
    if dims:
        forget_fixed(view, at_other_sizes(traced, call, dims).recording.view(known, free))
    return view


def _check_view(view):
    if view["updated"]:
        raise NotImplementedError(
            f"export: the function must update no tensor from outside, got {len(view['updated'])} "
            "updates"
        )
    if view["has_data_sizes"]:
        raise ValueError("export: sizes must not depend on data, got one that does")


def _names(what, names, prefix, count):
    names = [f"{prefix}{i}" for i in range(count)] if names is None else list(names)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"export: {what} must be {count} different names, got {names}")
    return names


def _model(graph, opset, domains):
    imports = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(imports)
    imports += [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(
        graph, opset_imports=imports, ir_version=version, producer_name="tessera"
    )


def _check(model):
    try:
        checker.check_model(model, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        raise NotImplementedError(f"export: ONNX must take the model, got {error}") from error


def _save(model, file):
    """Writes a model, with its constants beside it where they are too large for one message."""
    constants = sum(len(each.raw_data) for each in model.graph.initializer)
    is_large = constants + _REST >= _LARGE
    if is_large and hasattr(file, "write"):
        raise ValueError(
            "export: file must be a path where constants lie in a file of their own, got a stream "
            f"for {constants} bytes"
        )
    if is_large:
        _move_constants(model, os.fspath(file))
    else:
        _check(model)
    onnx.save(model, file if hasattr(file, "write") else os.fspath(file))
    if is_large:
        _check(os.fspath(file))


def _move_constants(model, path):
    """Writes the bytes of the constants to NAME.data beside `path`, each from a multiple of a page
    on, and leaves their places in the model.
    """
    name = os.path.basename(path) + ".data"
    with open(os.path.join(os.path.dirname(path), name), "wb") as data:
        for tensor in model.graph.initializer:
            data.seek(-data.tell() % _PAGE, os.SEEK_CUR)
            place = {"location": name, "offset": data.tell(), "length": len(tensor.raw_data)}
            data.write(tensor.raw_data)
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
