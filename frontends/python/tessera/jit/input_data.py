"""Test cases in a program's file: their inputs, as MegEngine writes them, and their outputs."""

import io
import re

import numpy as np

from .. import _core
from .._opencv import opencv
from ..tensor import Tensor, tensor
from .program import load

_RANDOM = re.compile(r"#rand\(([^,()]+),([^,()]+)(?:,([^()]+))?\)")
_WORDS = {1: np.uint8, 2: np.uint16}  # of elements that NumPy's files lack


def make_tests(source, path, likes, input_data, data, checks):
    """Copies the program at `source` to `path` with a test for each item of `input_data`.

    `likes`: tensors of the recorded call's shapes; `data`: repeat, resize, transform; `checks`:
    verbose, expects, max_error. The facts of the file.

    ValueError: data must be there for each input, fit it, and be an array, an image or #rand.
    """
    program = load(source)
    inputs = {name: like for name, like in zip(_names(program.inputs), likes, strict=True)}
    max_error = float(checks["max_error"])
    if not max_error >= 0:
        raise ValueError(f"dump: maxerr must be at least 0, got {checks['max_error']!r}")
    cases = []
    for item in _items(input_data):
        arrays = _case(item, inputs, **data)
        tensors = {name: _tensor(name, array, inputs[name]) for name, array in arrays.items()}
        found = _outputs(program, tensors) if checks["expects"] else {}
        cases.append((_files(tensors), _files(found)))
    if not cases:
        raise ValueError(f"dump: input_data must have a case, got {input_data!r}")
    size, digest = _core.add_tests(str(source), str(path), cases, max_error, checks["verbose"])
    return {"bytes": size, "hash": digest}


def _names(listed):
    return [each if isinstance(each, str) else each[0] for each in listed]


def _items(input_data):
    """The cases one by one: those of a file for "@FILE"."""
    for item in [input_data] if isinstance(input_data, (str, dict)) else input_data:
        if isinstance(item, str) and item.startswith("@"):
            with open(item[1:]) as file:
                yield from (line.strip() for line in file if line.strip())
        else:
            yield item


def _case(item, inputs, repeat, resize, transform):
    """The arrays of a case by input."""
    given = dict(item) if isinstance(item, dict) else _parts(item, inputs)
    if set(given) != set(inputs):
        raise ValueError(
            f"dump: input_data must have one part for each of {list(inputs)}, got {list(given)}"
        )
    arrays = {}
    for name, like in inputs.items():
        value = given[name]
        if isinstance(value, str) and value.startswith("#"):
            arrays[name] = _random(value, like)
            continue
        if isinstance(value, str):
            value = np.repeat(_read(name, value, like, resize), repeat, axis=0)
            if transform:
                value = eval(transform, {"data": value, "np": np})
        arrays[name] = value
    return arrays


def _parts(text, inputs):
    """The text of each input in "x:FILE;y:FILE"; one without a name serves a single input, and
    #rand all of them."""
    parts = text.split(";")
    if len(parts) == 1 and parts[0].startswith("#"):
        return dict.fromkeys(inputs, parts[0])
    if len(parts) == 1 and len(inputs) == 1 and ":" not in parts[0]:
        return {next(iter(inputs)): parts[0]}
    pairs = [part.partition(":") for part in parts]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _random(spec, like):
    """Numbers of NumPy's generator between two bounds, of the input's sizes or those given."""
    found = _RANDOM.fullmatch(spec.replace(" ", ""))
    try:
        low, high = float(found[1]), float(found[2])
        sizes = found[3].split(",") if found[3] else ["..."]
        if sizes[-1] == "...":
            sizes[-1:] = like.shape[len(sizes) - 1 :]
        shape = [int(size) for size in sizes]
    except (TypeError, ValueError):
        raise ValueError(
            f"dump: input_data must be #rand(min,max) or #rand(min,max,sizes), got {spec!r}"
        ) from None
    return np.random.uniform(low, high, shape)


def _read(name, path, like, resize):
    """The array of a file, or its image in the form of the input `like`."""
    with open(path, "rb") as file:
        is_array = file.read(6) == b"\x93NUMPY"
    if is_array:
        if resize:
            raise ValueError(f"dump: resize_input must come with images, got the array {path}")
        return np.load(path, allow_pickle=False)
    image = opencv("dump").imread(path, 1)
    if image is None:
        raise ValueError(f"dump: input_data must be an array (.npy) or an image, got {path}")
    return _formed(name, image, tuple(int(size) for size in like.shape), resize)


def _formed(name, image, shape, resize):
    """An image, (H, W, 3), in the form of an input: (N, C, H, W), (N, H, W, C), or without N."""
    sizes = (1, *shape) if len(shape) == 3 else shape
    is_first = len(sizes) == 4 and sizes[1] in (1, 3)
    if len(sizes) != 4 or not (is_first or sizes[3] in (1, 3)):
        raise ValueError(
            f"dump: an input for an image must have 1 or 3 channels, got {name} of {list(shape)}"
        )
    channels, (height, width) = (sizes[1], sizes[2:]) if is_first else (sizes[3], sizes[1:3])
    cv2 = opencv("dump")
    if resize:
        image = cv2.resize(image, (width, height))
    if channels == 1:
        image = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[:, :, None]
    image = image.transpose(2, 0, 1) if is_first else image
    return image if len(shape) == 3 else image[None]


def _tensor(name, value, like):
    """The value as a tensor of the input's dtype."""
    if isinstance(value, Tensor):
        return value
    made = tensor(np.asarray(value), dtype=like.dtype)
    if made.ndim != like.ndim:
        raise ValueError(
            f"dump: data of input {name} must have {like.ndim} axes, got {list(made.shape)}"
        )
    return made


def _outputs(program, tensors):
    """The results of the program by name."""
    results = program(**tensors)
    results = results if isinstance(results, tuple) else (results,)
    return dict(zip(_names(program.outputs), results, strict=True))


def _files(tensors):
    """The bytes of NumPy's files, by name."""
    return {name: _file(each._stored()) for name, each in tensors.items()}


def _file(array):
    file = io.BytesIO()
    if array.dtype.kind not in "biufc" or array.dtype.metadata:
        array = array.view(_WORDS[array.dtype.itemsize])
    np.save(file, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return file.getvalue()
