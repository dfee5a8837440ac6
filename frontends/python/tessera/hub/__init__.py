"""Models and whatever else a folder or repository with a hubconf.py offers."""

from .._listed import listed as _listed
from .hub import help, import_module, list, load, load_serialized_obj_from_url, pretrained

__all__ = [
    "help",
    "import_module",
    "list",
    "load",
    "load_serialized_obj_from_url",
    "pretrained",
]

__dir__ = _listed(*__all__)
