"""What the hubconf.py of a folder or of a repository offers.

Its functions are entry points, such as one that makes a model; its list `dependencies` names the
packages that they need. In every function here `repo_info` is a folder, or "owner/name[:branch]" of
a repository at `git_host`, at `commit` or at its branch (default master), fetched over `protocol`
("HTTPS" or "SSH"); `use_cache` takes what was fetched before.
"""

import functools
import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from urllib.parse import urlparse

from ..serialization import load as load_file
from ..utils.http_download import download
from .fetcher import fetch, home

_FILE = "hubconf.py"


def import_module(repo_info, git_host="github.com", use_cache=True, commit=None, protocol="HTTPS"):
    """The module that hubconf.py is.

    FileNotFoundError where there is no such file, ValueError where `repo_info` has another form,
    RuntimeError where the network fails.
    """
    folder = Path(os.path.expanduser(repo_info))
    if not folder.is_dir():
        folder = fetch(repo_info, git_host, use_cache, commit, protocol)
    path = folder.resolve() / _FILE
    if not path.is_file():
        raise FileNotFoundError(f"hub: {_FILE} must be there, got no {path}")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # what it imports may lie beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def list(repo_info, git_host="github.com", use_cache=True, commit=None, protocol="HTTPS"):
    """The names of the entry points, sorted; errors are those of `import_module`."""
    module = import_module(repo_info, git_host, use_cache, commit, protocol)
    names = (name for name in dir(module) if not name.startswith("__"))
    return [name for name in names if callable(getattr(module, name))]


def load(repo_info, entry, *args, git_host="github.com", use_cache=True, commit=None,
         protocol="HTTPS", **kwargs):  # fmt: skip
    """What the entry point `entry` makes of `args` and `kwargs`.

    RuntimeError where it is not there or packages that it depends on are missing; other errors are
    those of `import_module` and its own.
    """
    module = import_module(repo_info, git_host, use_cache, commit, protocol)
    function = _entry(module, entry)
    needed = getattr(module, "dependencies", None) or ()
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"hub: dependencies must be installed, got none of {missing}")
    return function(*args, **kwargs)


def help(repo_info, entry, git_host="github.com", use_cache=True, commit=None, protocol="HTTPS"):
    """The docstring of the entry point `entry`, None where it has none; errors as for `load`."""
    return _entry(import_module(repo_info, git_host, use_cache, commit, protocol), entry).__doc__


def _entry(module, name):
    function = getattr(module, name, None)
    if not callable(function):
        raise RuntimeError(
            f"hub: entry must be a callable of {_FILE}, got {name!r} in {module.__file__}"
        )
    return function


def load_serialized_obj_from_url(url, model_dir=None):
    """What `tessera.load` reads of the file at `url`.

    The file is kept in `model_dir` (default: "serialized" beside what was fetched) and downloaded
    where it is not there yet; RuntimeError where that fails.
    """
    folder = Path(home() / "serialized" if model_dir is None else os.path.expanduser(model_dir))
    mark = hashlib.sha256(url.encode()).hexdigest()[:6]  # files of two hosts may share a name
    path = folder / f"{mark}_{os.path.basename(urlparse(url).path)}"
    if not path.exists():
        download("hub", url, path)
    return load_file(str(path))


class pretrained:  # noqa: N801
    """Decorates a function that makes a model: with `pretrained=True` the model gets its weights.

    `url` is the file of its state, as for `load_serialized_obj_from_url`. The function's other
    arguments are given by name.
    """

    def __init__(self, url):
        self.url = url

    def __call__(self, function):
        @functools.wraps(function)
        def _made(pretrained=False, **kwargs):
            model = function(**kwargs)
            if pretrained:
                model.load_state_dict(load_serialized_obj_from_url(self.url))
            return model

        return _made
