"""What a network's file holds beside its graph, and how it is written."""

import json
import os

# Options of MegEngine's optimize_for_inference that name what the compiler always does: kernels
# that end with the operators behind a convolution, and layouts of the library's own.
_ALWAYS = ("enable_fuse_conv_bias_nonlinearity", "enable_fuse_conv_bias_with_z", "enable_nchw88")


def checked_options(options):
    """The names of options that are on. NotImplementedError: the compiler must know them."""
    on = [name for name, value in options.items() if value]
    unknown = [name for name in on if name not in _ALWAYS]
    if unknown:
        raise NotImplementedError(
            f"optimize_for_inference: options must be among {list(_ALWAYS)}, got {unknown}"
        )
    return on


def texts_of(user_info, options):
    """The metadata of an edited network as texts by key."""
    try:
        info = json.dumps(user_info)
    except (TypeError, ValueError) as error:
        raise TypeError(f"dump: user_info must be what JSON knows, got {user_info!r}") from error
    return {
        "user_info": info,
        "graph_modified": "true",
        "optimize_for_inference": json.dumps(options),
    }


def metadata_of(texts):
    """What Network.metadata gives for the texts of a file; None where it has none."""
    if not texts:
        return None
    options = _parsed(texts.get("optimize_for_inference", "[]"))
    return {
        "user_info": _parsed(texts["user_info"]) if "user_info" in texts else None,
        "graph_modified": texts.get("graph_modified") == "true",
        "optimized_for_inference": bool(options),
        **dict.fromkeys(options, True),
    }


def _parsed(text):
    """A text that is no JSON as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_strip_info(file, oprs, append):
    """Writes the types of operators and the dtypes of a program, as JSON. `file`: path or text
    stream; with `append` the file's own are kept."""
    rows = {
        "opr_types": {opr._node.op_name for opr in oprs if opr._node.op_name},
        "dtypes": {str(var._dtype_key) for opr in oprs for var in opr.outputs},
    }
    if append and not hasattr(file, "write") and os.path.exists(file):
        with open(file) as before:
            known = json.load(before)
        rows = {key: names | set(known.get(key, ())) for key, names in rows.items()}
    text = json.dumps({key: sorted(names) for key, names in rows.items()})
    if hasattr(file, "write"):
        file.write(text)
        return
    with open(file, "w") as out:
        out.write(text)
