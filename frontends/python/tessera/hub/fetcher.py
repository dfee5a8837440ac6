"""Repositories from the network, kept in a cache."""

import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from ..utils.http_download import download

_FORM = re.compile(r"^([\w.-]+)/([\w.-]+)(?::([\w./-]+))?$")
_SECONDS = 120  # until a fetch is given up


def home():
    """The folder of what was fetched: TESSERA_HOME, or "tessera" in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(os.environ.get("TESSERA_HOME", os.path.join(cache, "tessera"))).expanduser()


def fetch(repo_info, git_host, use_cache, commit, protocol):
    """The folder with the repository "owner/name[:branch]" of `git_host`.

    `use_cache` takes what an earlier call has fetched. ValueError where `repo_info` or `protocol`
    ("HTTPS" or "SSH") has another form, RuntimeError where the network fails.
    """
    match = _FORM.match(repo_info)
    if not match:
        raise ValueError(
            f"hub: repository must be a folder or 'owner/name[:branch]', got {repo_info!r}"
        )
    if protocol not in ("HTTPS", "SSH"):
        raise ValueError(f"hub: protocol must be 'HTTPS' or 'SSH', got {protocol!r}")
    owner, name, branch = match.groups()
    revision = commit or branch or "master"
    label = "_".join([git_host, owner, name, revision]).replace("/", "_").replace(":", "_")
    folder = home() / "hub" / label
    if use_cache and folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    get = _by_https if protocol == "HTTPS" else _by_ssh
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        fetched = get(f"{owner}/{name}", git_host, revision, Path(scratch))
        shutil.rmtree(folder, ignore_errors=True)
        fetched.rename(folder)
    return folder


def _by_https(repository, git_host, revision, scratch):
    archive = scratch / "archive.zip"
    url = f"https://{git_host}/{repository}/archive/{revision}.zip"
    download("hub", url, archive, timeout=_SECONDS)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(scratch / "all")
    (folder,) = (scratch / "all").iterdir()
    return folder


def _by_ssh(repository, git_host, revision, scratch):
    folder, url = scratch / "clone", f"git@{git_host}:{repository}.git"
    for command in (
        ["git", "clone", "--quiet", url, str(folder)],
        ["git", "-C", str(folder), "checkout", "--quiet", revision],
    ):
        try:
            subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"},
            )
        except (OSError, subprocess.SubprocessError) as error:
            text = (getattr(error, "stderr", None) or str(error)).strip()
            raise RuntimeError(f"hub: {url} must be fetched at {revision}, got {text}") from error
    return folder
