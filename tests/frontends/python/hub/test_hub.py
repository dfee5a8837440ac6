"""tessera.hub over local folders, and what it says when the network fails."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tessera
from tessera import hub

CONF = '''
from sizes import WIDTH
from tessera import module

dependencies = {dependencies}
number = 3


def linear(bias=True):
    """A linear layer."""
    return module.Linear(WIDTH, 2, bias=bias)


def _hidden():
    return number
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_HOME", str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "sizes", raising=False)
    repository = tmp_path / "repository"
    write(repository)
    return repository


def write(repository, dependencies=("numpy",)):
    repository.mkdir(parents=True)
    (repository / "hubconf.py").write_text(CONF.format(dependencies=list(dependencies)))
    (repository / "sizes.py").write_text("WIDTH = 4\n")


def test_a_folder(folder):
    assert hub.list(str(folder)) == ["_hidden", "linear"]
    assert hub.help(str(folder), "linear") == "A linear layer."
    assert hub.help(str(folder), "_hidden") is None
    layer = hub.load(str(folder), "linear", bias=False)
    assert layer.weight.shape == (2, 4) and layer.bias is None
    before = list(sys.path)
    assert hub.import_module(folder).number == 3 and sys.path == before


def test_what_is_not_there(folder, tmp_path):
    with pytest.raises(RuntimeError, match="entry must be a callable of hubconf.py, got 'no' in"):
        hub.load(str(folder), "no")
    with pytest.raises(RuntimeError, match="entry must be a callable of hubconf.py, got 'number'"):
        hub.help(str(folder), "number")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="hub: hubconf.py must be there, got no /.*/empty"):
        hub.list(str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="must be a folder or 'owner/name.:branch.', got '/no/s"):
        hub.list("/no/such/folder")
    write(tmp_path / "needy", ["numpy", "no_such_package"])
    with pytest.raises(RuntimeError, match=r"must be installed, got none of \['no_such_package'\]"):
        hub.load(str(tmp_path / "needy"), "linear")
    assert hub.help(str(tmp_path / "needy"), "linear") == "A linear layer."


def test_a_network_that_fails_is_told(folder, tmp_path):
    with pytest.raises(RuntimeError, match="hub: https://host.invalid/a/b/archive/c.zip must"):
        hub.list("a/b:c", git_host="host.invalid")
    with pytest.raises(RuntimeError, match="hub: git@host.invalid:a/b.git must be fetched at 12ab"):
        hub.list("a/b", git_host="host.invalid", commit="12ab", protocol="SSH")
    with pytest.raises(ValueError, match="hub: protocol must be 'HTTPS' or 'SSH', got 'FTP'"):
        hub.list("a/b", protocol="FTP")
    assert list((tmp_path / "home" / "hub").iterdir()) == []


def test_a_repository_is_fetched_once(folder, tmp_path, monkeypatch):
    from tessera.hub import fetcher

    asked = []

    def give(tool, url, path, timeout):
        asked.append(url)
        with zipfile.ZipFile(path, "w") as packed:
            for each in folder.iterdir():
                if each.is_file():
                    packed.write(each, f"b-master/{each.name}")

    monkeypatch.setattr(fetcher, "download", give)
    for cached in (True, True, False):
        assert hub.list("a/b", use_cache=cached) == ["_hidden", "linear"]
    assert asked == ["https://github.com/a/b/archive/master.zip"] * 2


def test_weights_from_a_url(folder, tmp_path):
    weights = tessera.module.Linear(4, 2).state_dict()
    file = tmp_path / "weights.tess"
    tessera.save(weights, str(file))

    @hub.pretrained(file.as_uri())
    def linear(width=4):
        """A layer."""
        return tessera.module.Linear(width, 2)

    assert linear.__doc__ == "A layer."
    np.testing.assert_array_equal(linear(pretrained=True, width=4).weight, weights["weight"])
    assert not np.array_equal(linear().weight, weights["weight"])
    file.unlink()  # it is kept from now on
    kept = hub.load_serialized_obj_from_url(file.as_uri())
    np.testing.assert_array_equal(kept["bias"], weights["bias"])
    (path,) = (Path(tmp_path) / "home" / "serialized").iterdir()
    assert path.name.endswith("_weights.tess")
    with pytest.raises(RuntimeError, match="hub: file:///.*/gone must come to .*, got .*No such"):
        hub.load_serialized_obj_from_url((tmp_path / "gone").as_uri(), tmp_path)


def test_the_package_finds_it_when_it_is_asked_for():
    code = "import sys, tessera; print('tessera.hub' in sys.modules, tessera.hub.list.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False list\n"
