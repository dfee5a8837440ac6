"""utils.persistent_cache: files and a Redis server that the test starts."""

import shutil
import socket
import subprocess
import sys
import tempfile

import pytest
import tessera
from tessera.utils import persistent_cache
from tessera.utils.persistent_cache import PersistentCacheOnFiles, PersistentCacheOnServer

from tests.support.helper import run_without

SERVER = shutil.which("redis-server")


@pytest.fixture(scope="module")
def server():
    """The address of a server that listens on a socket, in a folder whose path is short."""
    if SERVER is None:
        pytest.skip("redis-server is not installed: `tools/dev setup` installs it")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        address = f"{folder}/redis"
        command = [SERVER, "--port", "0", "--unixsocket", address, "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            ready = (line for line in process.stdout if "eady to accept connections" in line)
            assert next(ready, None), "redis-server must start, got its end"
            yield f"unix://{address}?db=0"
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.fixture(params=["files", "server"])
def make(request, tmp_path):
    """What makes a cache over the same store; what is in it goes afterwards."""
    if request.param == "files":
        yield lambda: PersistentCacheOnFiles(tmp_path)
        return
    url = request.getfixturevalue("server")
    yield lambda: PersistentCacheOnServer(url)
    PersistentCacheOnServer(url).clean()


def test_what_is_put_is_found_by_others(make):
    first, second = make(), make()
    first.put("sizes", b"\x00key\xff", b"\x00\x01value")
    assert second.get("sizes", b"\x00key\xff") == b"\x00\x01value"
    second.put("sizes", b"\x00key\xff", b"")
    assert first.get("sizes", b"\x00key\xff") == b""
    assert first.get("sizes", b"other") is first.get("other", b"\x00key\xff") is None


def test_category_and_key_do_not_run_together(make):
    cache = make()
    for category, key in [("a", b"b@c"), ("a@b", b"c"), ("", b"a@b@c")]:
        cache.put(category, key, category.encode() + b"|" + key)
    assert cache.get("a", b"b@c") == b"a|b@c" and cache.get("a@b", b"c") == b"a@b|c"


def test_clean_takes_what_is_of_this_user_and_version(make, monkeypatch):
    mine, old = make(), make()
    monkeypatch.setattr(old, "make_user_prefix", lambda: "tessera-cache:who[*]?")
    old.put("sizes", b"x", b"1")
    for number in range(50):
        mine.put("sizes", b"%d" % number, b"2")
    monkeypatch.setattr(persistent_cache, "__version__", "0.0.0")
    assert mine.get("sizes", b"1") is None and mine.clean() == 0
    monkeypatch.undo()
    assert mine.clean() == 50 and mine.get("sizes", b"1") is None and mine.clean() == 0
    monkeypatch.setattr(old, "make_user_prefix", lambda: "tessera-cache:who[*]?")
    assert old.get("sizes", b"x") == b"1" and old.clean() == 1


def test_types(make):
    cache = make()
    for arguments, what in [
        ((3, b"", b""), "put must have a category of str, got int"),
        (("", "x", b""), "put must have a key of bytes, got str"),
        (("", b"x", 5), "put must have a value of bytes, got int"),
    ]:
        with pytest.raises(TypeError, match=f"{type(cache).__name__}: {what}"):
            cache.put(*arguments)


def test_a_damaged_file_is_no_value(tmp_path):
    cache = PersistentCacheOnFiles(tmp_path)
    cache.put("sizes", b"x", b"value")
    (path,) = tmp_path.rglob("*.value")
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", whole[:-1] + b"!"):
        path.write_bytes(damaged)
        assert cache.get("sizes", b"x") is None
    path.write_bytes(whole)
    assert cache.get("sizes", b"x") == b"value"


def test_files_have_a_limit(tmp_path):
    cache = PersistentCacheOnFiles(tmp_path, max_bytes=1000)
    for number in range(20):
        cache.put("sizes", b"%d" % number, bytes(200))
        assert cache.get("sizes", b"0") == bytes(200)
        assert sum(path.stat().st_size for path in tmp_path.rglob("*.value")) <= 1000
    assert cache.get("sizes", b"19") and cache.get("sizes", b"1") is None
    cache.put("sizes", b"large", bytes(2000))
    assert cache.get("sizes", b"large") is None and cache.clean() == 0


def test_files_of_others_stay(tmp_path):
    cache = PersistentCacheOnFiles(tmp_path)
    cache.put("sizes", b"x", b"1")
    (tmp_path / "mine.value").write_text("kept")
    assert cache.clean() == 1 and (tmp_path / "mine.value").exists()


def test_writers_at_a_time(tmp_path):
    code = (
        "import sys\nfrom tessera.utils.persistent_cache import PersistentCacheOnFiles\n"
        "cache, value = PersistentCacheOnFiles(sys.argv[1]), sys.argv[2].encode() * 100_000\n"
        "for _ in range(100):\n"
        "    cache.put('big', b'x', value); got = cache.get('big', b'x')\n"
        "    assert got and len(got) == 100_000 and len(set(got)) == 1, got\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, tmp_path, name]) for name in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]


def test_the_folder_without_one(tmp_path):
    folder, size = tessera.config.get_disk_cache()
    try:
        tessera.config.set_disk_cache(tmp_path)
        assert PersistentCacheOnFiles().folder == tmp_path / "persistent_cache"
        tessera.config.set_disk_cache("")
        with pytest.raises(ValueError, match="PersistentCacheOnFiles: folder must be given where"):
            PersistentCacheOnFiles()
    finally:
        tessera.config.set_disk_cache(folder, size)


def test_a_server_that_is_gone(tmp_path):
    cache = PersistentCacheOnServer(f"unix://user:secret@{tmp_path}/none")
    for call in (lambda: cache.get("a", b"b"), lambda: cache.put("a", b"b", b""), cache.clean):
        with pytest.raises(ConnectionError, match="Server: unix:.* must answer, got") as caught:
            call()
        assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer(tmp_path):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as mute:
        mute.bind(f"{folder}/mute")
        mute.listen()
        cache = PersistentCacheOnServer(f"unix://{folder}/mute", seconds=0.1)
        with pytest.raises(ConnectionError, match="must answer, got Timeout"):
            cache.get("a", b"b")


def test_the_address(server, monkeypatch):
    monkeypatch.setenv("TESS_CACHE_SERVER", server)
    PersistentCacheOnServer().put("a", b"b", b"c")
    assert PersistentCacheOnServer(server).get("a", b"b") == b"c"
    monkeypatch.delenv("TESS_CACHE_SERVER")
    for url in (None, "http://localhost"):
        with pytest.raises(ValueError, match="url must begin with redis://, rediss:// or unix://"):
            PersistentCacheOnServer(url)


def test_without_redis():
    code = (
        "from tessera.utils.persistent_cache import PersistentCacheOnServer\n"
        "try:\n    PersistentCacheOnServer('redis://localhost')\n"
        "except ImportError as error: print(error)\n"
    )
    done = run_without("redis", code)
    assert done.stdout.startswith(
        "PersistentCacheOnServer: redis must be installed (pip install 'tessera[redis]' or redis)"
    )
