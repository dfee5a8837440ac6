"""What a program's file holds beside its graph: options of `trace.dump` and `Network.dump`."""

import json
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# Options of MegEngine's optimize_for_inference that name what the compiler always does: kernels
# that end with the operators behind a convolution, operators that share kernels, and layouts of the
# library's own.
_ALWAYS = (
    "enable_fuse_conv_bias_nonlinearity",
    "enable_fuse_conv_bias_with_z",
    "enable_fuse_grain",
    "enable_nchw88",
)
_HALF = "enable_io16xc32"
# Those of other hardware's layouts, arithmetic in half precision, and kernels that change the
# dtype, the channels and the axes of an image in one.
_NEVER = (
    "enable_chwn4",
    "enable_fuse_preprocess",
    "enable_hwcd4",
    "enable_ioc16",
    "enable_nchw32",
    "enable_nchw4",
    "enable_nchw44",
    "enable_nchw44_dot",
    "enable_nchw64",
)


class DumpInfo(NamedTuple):
    """What `dump` wrote, by MegEngine's names."""

    nr_opr: int  # operators, inputs and constants
    tot_bytes: int  # of the file
    tensor_value_bytes: int  # of constants and of states
    content_hash: int  # of all that the file holds, 64 bits
    inputs: list  # names
    outputs: list
    params: list  # names of constants that have one, and of states


@dataclass
class FileOptions:
    """The options that both dumps have, checked; each as `trace.dump` describes it."""

    append: bool = False
    keep_var_name: int = 1
    keep_opr_name: bool = False
    keep_param_name: bool = True
    keep_opr_priority: bool = False
    no_change_graph: bool = False
    strip_info_file: Any = None
    append_json: bool = False
    optimize_for_inference: bool = True
    user_info: Any = None
    enable_metadata: bool = True
    dump_format: str | None = None
    model_version: int = 2
    options: dict = field(default_factory=dict)
    has_recording: bool = True

    def __post_init__(self):
        if self.append:
            raise NotImplementedError(
                "dump: append must be False, got True: a file has one program"
            )
        if self.keep_var_name not in (0, 1, 2):
            raise ValueError(f"dump: keep_var_name must be 0, 1 or 2, got {self.keep_var_name!r}")
        if self.dump_format not in (None, "tess"):
            raise NotImplementedError(
                f"dump: dump_format must be None or 'tess', got {self.dump_format!r}"
            )
        if self.model_version != 2:
            raise NotImplementedError(
                "dump: model_version must be 2, the only one of this format, got "
                f"{self.model_version!r}"
            )
        checked = checked_options(self.options, self.has_recording)
        self.options = checked if self.optimize_for_inference else []

    @property
    def names(self):
        """Which names the file keeps, as the extension takes them."""
        return {
            "outputs": self.keep_var_name > 0,
            "values": self.keep_var_name > 1 or self.keep_opr_name,
            "operators": bool(self.keep_opr_name),
            "constants": bool(self.keep_param_name),
        }

    @property
    def fuses(self):
        """Whether operators may share kernels."""
        return ("enable_fuse_grain", False) not in self.options

    @property
    def is_half(self):
        """Whether operators are to be given float16."""
        return (_HALF, True) in self.options

    def texts(self, modified):
        """The metadata as texts by key; `modified`: the graph was edited."""
        if not self.enable_metadata:
            return {}
        try:
            texts = {"user_info": json.dumps(self.user_info)}
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"dump: user_info must be what JSON knows, got {self.user_info!r}"
            ) from error
        if modified:
            texts["graph_modified"] = "true"
        on = [name for name, value in self.options if value]
        if on:
            texts["optimize_for_inference"] = json.dumps(on)
        return texts

    def finish(self, facts):
        """The DumpInfo of what was written; writes the strip info where it is asked for."""
        if self.strip_info_file is not None:
            _write_strip_info(self.strip_info_file, facts, self.append_json)
        keys = "nodes", "bytes", "value_bytes", "hash", "inputs", "outputs", "parameters"
        return DumpInfo(*[facts[key] for key in keys])


def checked_options(options, has_recording=True):
    """The options of `optimize_for_inference` as pairs. NotImplementedError: no program is made as
    MegEngine's option says. ValueError: options must be MegEngine's.

    `has_recording`: the function may be recorded again, which enable_io16xc32 needs.
    """
    known = (*_ALWAYS, _HALF) if has_recording else _ALWAYS
    on = [name for name, value in options.items() if value]
    refused = [name for name in on if name in _NEVER or (name == _HALF and not has_recording)]
    if refused:
        raise NotImplementedError(
            f"optimize_for_inference: options must be among {list(known)}, got {refused}"
        )
    unknown = [name for name in options if name not in (*_ALWAYS, _HALF, *_NEVER)]
    if unknown:
        raise ValueError(
            f"optimize_for_inference: options must be those of MegEngine, got {unknown}"
        )
    return [(name, bool(value)) for name, value in options.items()]


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


def _write_strip_info(file, facts, append):
    """Writes the types of operators and the dtypes of a program, and its hash, as JSON. `file`:
    path or text stream; with `append` the file's own are kept."""
    rows = {"opr_types": facts["operators"], "dtypes": facts["dtypes"]}
    is_stream = hasattr(file, "write")
    if append:
        known = _read_all(file) if is_stream else _text_of(file)
        before = json.loads(known) if known else {}
        rows = {key: names | set(before.get(key, ())) for key, names in rows.items()}
    text = json.dumps({key: sorted(names) for key, names in rows.items()} | {"hash": facts["hash"]})
    if is_stream:
        file.write(text)
        return
    with open(file, "w") as out:
        out.write(text)


def _read_all(stream):
    """What the stream has; it is empty afterwards."""
    stream.seek(0)
    text = stream.read()
    stream.seek(0)
    stream.truncate()
    return text


def _text_of(path):
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()
