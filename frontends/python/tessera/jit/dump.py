"""Recorded calls as files."""

import contextlib
import os

from .. import _core
from .._tree import flatten
from ..tensor import Tensor
from ..utils.progress import compiling
from .file_call import all_axes, for_file, free_dims
from .file_options import FileOptions
from .half import in_half_precision
from .input_data import make_tests
from .numerics import with_numerics


class Dumps:
    """What a trace has that writes its program to a file."""

    def dump(self, file, *, arg_names=None, output_names=None, dims=None, targets=("host",),
             training=False, append=False, keep_var_name=1, keep_opr_name=False,
             keep_param_name=True, keep_opr_priority=False, no_change_graph=False,
             strip_info_file=None, append_json=False, optimize_for_inference=True,
             user_info=None, enable_metadata=True, input_data=None, repeat=1, silent=False,
             no_assert=False, maxerr=1e-4, resize_input=False, input_transform=None,
             dump_format=None, model_version=2, **options):  # fmt: skip
        """Writes the last signature's program to `file` (a path or a binary stream).

        Tensors from outside are constants of the program. Those that the function updates are its
        state, which starts with their values now: calls of what `load` returns go on like calls of
        the function after the dump.

        Args:
            arg_names: names of the inputs; "arg_0" and so on, and those of keywords, without it
            output_names: names of the outputs; keys of a dict that is returned, names that the
                function gave its results (`y.name = "scores"`), or "output0"
            dims: frees dimensions of inputs: `{"image": {0: Dim("batch", 1, 512)}}`, or "all" of
                them, each by itself
            targets: machines to compile for; without any the file holds the graph only
            training: allows a batch normalisation that moves its running statistics
            append: must be False
            keep_var_name: names of values that the file keeps: 0 none but those of inputs, 1 those
                of outputs, 2 those that the function gave (`x.name = "hidden"`) too
            keep_opr_name: every operator has a name: its value's, or the path of its module and
                its own, numbered where several have it: "fc1.linear[0]"; so have outputs that
                nobody named
            keep_param_name: keeps the names of parameters
            keep_opr_priority, no_change_graph: nothing changes: operators stay, in their order
            strip_info_file: a path or text stream: types of operators and dtypes of the program, as
                JSON, which grows with `append_json`
            optimize_for_inference: the compiler always optimises; False leaves `options` out
            user_info: what JSON knows, which `Network.metadata` gives back
            enable_metadata: writes what `Network.metadata` gives
            input_data: a list of test cases, which the file keeps with the outputs that the program
                gives now, and which `tess-run --test` checks. Each is a dict of arrays by input, or
                MegEngine's text "x:FILE;y:FILE", FILE an array (.npy), an image, or
                "#rand(0,255,1,...)"; "@FILE" has one text a line
            repeat: how often the first axis of the data of a file is repeated
            silent: `tess-run` does not tell the errors that it found
            no_assert: the cases are run only
            maxerr: the largest error, |a - b| / max(min(|a|, |b|), 1)
            resize_input: resizes images to the size of their input
            input_transform: an expression of `data` and `np` for the data of files
            dump_format, model_version: must be None or "tess", and 2
            options: `enable_io16xc32` computes as `amp.autocast` does, and gives float16 for
                float32; `enable_fuse_grain=False` gives each operator its own kernel;
                `enable_fuse_conv_bias_nonlinearity`, `enable_fuse_conv_bias_with_z`,
                `enable_nchw88` are what the compiler does in any case

        Returns a DumpInfo: counts, bytes, hash, names.

        ValueError: tensors must keep dtypes and shapes, the function must return a tensor, names
        must be as many as there are. RuntimeError: batch normalisation must not be trained without
        `training`. TypeError: JSON must know `user_info`. NotImplementedError: other options of
        MegEngine's `optimize_for_inference`, `append` and other formats.
        """
        shared = FileOptions(append, keep_var_name, keep_opr_name, keep_param_name,
                             keep_opr_priority, no_change_graph, strip_info_file, append_json,
                             optimize_for_inference, user_info, enable_metadata, dump_format,
                             model_version, options)  # fmt: skip
        signature = arg_names, output_names, dims, list(targets)
        if input_data is None:
            return _write(self, file, signature, training, shared)
        data = {"repeat": repeat, "resize": resize_input, "transform": input_transform}
        checks = {"verbose": not silent, "expects": not no_assert, "max_error": maxerr}
        return _write(self, file, signature, training, shared, (input_data, data, checks))


def _write(traced, file, signature, training, shared, tests=None):
    """Writes the last recorded call of `traced`; the DumpInfo."""
    call = traced._last
    _check_call(traced, call)
    if not training:
        _check_mode(call)
    arg_names, output_names, dims, targets = signature
    if isinstance(dims, str) and dims != "all":
        raise ValueError(f'dump: dims must be a dict or "all", got {dims!r}')
    names, outputs = argument_names(call, arg_names), result_names(call, output_names)
    free = all_axes(call) if dims == "all" else free_dims(dims or {}, names)
    name = traced.__name__
    call = for_file(traced, call, names, free)
    if shared.is_half:
        call = in_half_precision(call, traced.function)
    fuse = shared.fuses and traced.options["fuse"]
    kept = shared.names | {"outputs_by_operators": output_names is None}
    numerics = with_numerics(traced.options)["numerics"]
    arguments = names, outputs, free, targets, shared.texts(False), kept, fuse, numerics
    with written(file) as path, compiling(f"compiling {name}"):
        if tests is None:
            facts = _core.recording_to_file(call.recording, name, path, *arguments)
        else:
            with scratch(os.path.basename(path)) as plain:
                facts = _core.recording_to_file(call.recording, name, plain, *arguments)
                likes = traced._last.recording.valueless_arguments()
                facts |= make_tests(plain, path, likes, *tests)
    return shared.finish(facts)


@contextlib.contextmanager
def scratch(name="program.tess"):
    """A path to write to, for a while."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, name)


@contextlib.contextmanager
def written(file):
    """A path to write to; what is there then goes to `file` where that is a binary stream."""
    if not hasattr(file, "write"):
        yield os.fspath(file)
        return
    import shutil

    with scratch() as path:
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
    """RuntimeError where a batch normalisation moves its running statistics, those of one that the
    function made itself too.
    """
    view = call.recording.view({"batch_norm"}, [])
    constants = {number for number, row in enumerate(view["values"]) if row["kind"] == "constant"}
    updated = {*view["updated"]}
    for name, _, inputs, _, outputs, place in view["operators"]:
        if name == "batch_norm" and (updated & {*outputs[1:3]} or constants & {*inputs[3:5]}):
            raise RuntimeError(
                "dump: batch normalisation must be in inference mode, as eval() of its module "
                f"makes it, unless training=True, got one in training at {place or 'no line'}"
            )


def _check_names(what, names, count):
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"dump: {what} must be {count} different names, got {names}")


def argument_names(call, given):
    """The names of the tensors in the arguments: those given, by position, and after them, where
    they are fewer, the keywords."""
    args, kwargs = call.given(call.recording.valueless_arguments())
    by_position, keywords = _count(args), []
    for key, value in kwargs.items():
        count = _count(value)
        keywords += [key] if count == 1 else [f"{key}_{number}" for number in range(count)]
    names = _listed(given)
    if names is None:
        names = [f"arg_{number}" for number in range(by_position)]
    if len(names) == by_position:
        names += keywords
    _check_names("arg_names", names, call.num_arguments)
    return names


def result_names(call, given):
    """The names of the results: those given, the keys of a dict that is returned, or those that the
    function gave its results (`y.name = "scores"`), by number where there is none; else none.
    """
    names = _listed(given)
    if names is None:
        kind, keys, _ = call.structure if isinstance(call.structure, tuple) else (None, None, None)
        is_named = keys is not None and len(keys) == len(call.slots)
        names = [str(key) for key in keys] if is_named else _own_names(call)
    if names:
        _check_names("output_names", names, len(call.slots))
    return names


def _own_names(call):
    """Names that the function gave the results, each once; none where no result has one."""
    names = []
    for number, name in enumerate(call.recording.result_names[: len(call.slots)]):
        names.append(name if name and name not in names else f"output{number}")
    return [] if all(name == f"output{number}" for number, name in enumerate(names)) else names


def _count(value):
    return sum(isinstance(leaf, Tensor) for leaf in flatten(value)[0])


def _listed(names):
    """A name, or several, as a list; None where there are none."""
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)
