"""Recorded calls as files."""

import contextlib
import os

from .. import _core
from ..utils.progress import compiling


def write(traced, call, file, arg_names, output_names, dims, targets, training):
    """Writes the program of `call`, the last recorded one of `traced`; the others as trace.dump."""
    _check_call(traced, call)
    if not training:
        _check_mode(call)
    names, outputs = list(arg_names or []), list(output_names or [])
    _check_names("arg_names", names, call.num_arguments)
    _check_names("output_names", outputs, len(call.slots))
    free = all_axes(call) if isinstance(dims, str) else free_dims(dims or {}, names)
    if isinstance(dims, str) and dims != "all":
        raise ValueError(f'dump: dims must be a dict or "all", got {dims!r}')
    name = traced.__name__
    call.check_data(name, traced.function)
    if free:
        call.check_free(name, traced.function, free)
    arguments = names, outputs, free, list(targets)
    with written(file) as path, compiling(f"compiling {name}"):
        _core.recording_to_file(call.recording, name, path, *arguments)


@contextlib.contextmanager
def written(file):
    """A path to write to; what is there then goes to `file` where that is a binary stream."""
    if not hasattr(file, "write"):
        yield os.fspath(file)
        return
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tess")
        yield path
        with open(path, "rb") as source:
            shutil.copyfileobj(source, file)


def _check_call(traced, call):
    """RuntimeError unless it can be a file."""
    if not traced.capture_as_const:
        raise RuntimeError("dump: the trace must have capture_as_const=True, got False")
    if traced._segments is not None:
        raise RuntimeError(
            f"dump: {traced.__name__} must be one program, got parts within exclude_from_trace"
        )
    if call is None:
        raise RuntimeError("dump: the function must have been called once traced, got no call")
    if not call.slots:
        raise ValueError(f"dump: {traced.__name__} must return a tensor, got a call with none")


def _check_mode(call):
    """RuntimeError where a batch normalisation moves its running statistics."""
    view = call.recording.view({"batch_norm"}, [])
    updated = {*view["updated"]}
    for name, _, _, _, outputs, place in view["operators"]:
        if name == "batch_norm" and updated & {*outputs[1:3]}:
            raise RuntimeError(
                "dump: batch normalisation must be in inference mode, as eval() of its module "
                f"makes it, unless training=True, got one in training at {place or 'no line'}"
            )


def _check_names(what, names, count):
    if names and (len(names) != count or len(set(names)) != count):
        raise ValueError(f"dump: {what} must be {count} different names, got {names}")


def all_axes(call):
    """As free_dims, of every axis of every argument, each by itself."""
    return [
        (number, axis, f"d{number}_{axis}", 1, -1)
        for number, tensor in enumerate(call.recording.valueless_arguments())
        for axis in range(tensor.ndim)
    ]


def free_dims(dims, names):
    """(argument, axis, name, min, max or -1) of each dimension that `dims` frees."""
    unknown = [name for name in dims if name not in names]
    if unknown:
        raise ValueError(f"dump: dims must be of arguments in arg_names {names}, got {unknown}")
    return [
        (names.index(name), axis, dim.name, dim.min, -1 if dim.max is None else dim.max)
        for name, axes in dims.items()
        for axis, dim in axes.items()
    ]
