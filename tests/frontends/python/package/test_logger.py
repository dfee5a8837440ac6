"""The package's log: levels, the terminal, a file."""

import io
import logging
import pathlib
import re
import subprocess
import sys
import threading

import pytest
import tessera
from tessera import logger


def test_programs_log_from_info_on():
    """As MegEngine's do; what Python's own loggers show stays as it was."""
    code = (
        "import logging, tessera\n"
        "log = tessera.get_logger('training'); log.info('epoch 1'); log.debug('details')\n"
        "logging.getLogger('other').info('elsewhere'); assert log.isEnabledFor(logging.INFO)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"[\d:, -]+ INFO tessera.training: epoch 1\n", done.stderr), done


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def restored():
    old = tessera.set_log_level("WARNING")
    yield
    logger.set_log_file(None)
    tessera.set_log_level(old)


def logged(monkeypatch, stream, message="watch out"):
    monkeypatch.setattr("sys.stderr", stream)
    tessera.get_logger("part").warning(message)
    return stream.getvalue()


def test_a_line_names_time_level_and_logger(monkeypatch):
    line = logged(monkeypatch, io.StringIO())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d [\d:,]+ WARNING tessera.part: watch out\n", line)


def test_the_level_is_coloured_on_a_terminal_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert " \x1b[33mWARNING\x1b[0m tessera.part: " in logged(monkeypatch, Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in logged(monkeypatch, Terminal())


def test_the_file_gets_plain_lines_beside_a_coloured_terminal(monkeypatch, tmp_path):
    monkeypatch.delenv("NO_COLOR", raising=False)
    path = tmp_path / "log.txt"
    tessera.set_log_file(path)
    terminal = Terminal()
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        monkeypatch.setattr("sys.stderr", terminal)
        tessera.get_logger().exception("failed")
    tessera.set_log_file(None)
    tessera.get_logger().error("not in the file")
    text = path.read_text()
    assert "\x1b[31mERROR" in terminal.getvalue() and "\x1b" not in text
    assert "ERROR tessera: failed\nTraceback" in text and "ZeroDivisionError" in text
    assert "not in the file" not in text


def test_a_file_is_appended_to_or_written_anew(tmp_path):
    path = str(tmp_path / "log.txt")
    for mode, lines in [("a", 1), ("a", 2), ("w", 1)]:
        tessera.set_log_file(path, mode)
        tessera.get_logger().error("once")
        assert pathlib.Path(path).read_text().count("once") == lines


def test_another_file_takes_the_place_of_the_first(tmp_path):
    first, second = io.StringIO(), io.StringIO()
    for file in (first, second):
        tessera.set_log_file(file)
        tessera.get_logger().error("once")
    assert first.getvalue().count("once") == second.getvalue().count("once") == 1
    assert not first.closed


def test_a_file_that_cannot_be_had_leaves_the_old_one(tmp_path):
    kept = io.StringIO()
    tessera.set_log_file(kept)
    with pytest.raises(FileNotFoundError, match="set_log_file: file must be writable, got No such"):
        tessera.set_log_file(tmp_path / "no" / "log.txt")
    with pytest.raises(
        TypeError, match="set_log_file: fout must be a path or have write and flush, got int"
    ):
        tessera.set_log_file(3)
    tessera.get_logger().error("kept")
    assert "kept" in kept.getvalue()


def test_a_level_holds_for_loggers_that_exist(capsys):
    part = tessera.get_logger("level")
    part.setLevel("ERROR")
    tessera.set_log_level("INFO")
    part.info("seen")
    assert tessera.set_log_level("ERROR", update_existing=False) == logging.INFO
    part.info("still seen")
    tessera.get_logger("later").info("not seen")
    tessera.set_log_level("ERROR")
    part.info("not seen")
    err = capsys.readouterr().err
    assert "INFO tessera.level: seen" in err and ": still seen" in err and "not seen" not in err


def test_debug_log(capsys):
    logger.enable_debug_log()
    tessera.get_logger("part").debug("details")
    assert "DEBUG tessera.part: details" in capsys.readouterr().err


@pytest.mark.parametrize("level", ["LOUD", "info", -1, None, 1.5, True])
def test_no_such_level(level):
    with pytest.raises(
        ValueError, match=f"set_log_level: level must be one of .* from 0 on, got {level!r}"
    ):
        tessera.set_log_level(level)


def test_lines_of_threads_are_whole(monkeypatch):
    stream, count = io.StringIO(), 200
    monkeypatch.setattr("sys.stderr", stream)

    def work(number):
        for _ in range(count):
            tessera.get_logger(f"t{number}").warning("x" * 50)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for level in ["INFO", "WARNING"] * 20:
        tessera.set_log_level(level)
    for thread in threads:
        thread.join()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4 * count
    assert all(re.fullmatch(r".* WARNING tessera\.t\d: x{50}", line) for line in lines)
