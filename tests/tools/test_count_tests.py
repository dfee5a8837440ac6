import json

import pytest

from tools.commands import count_tests

CASES = """<testsuites><testsuite name="x">
  <testcase name="good"/>
  <testcase name="bad"><failure message="2 == 3"/></testcase>
  <testcase name="off"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""


def configured(label, *tags):
    what = {"testSize": "SMALL", "tag": list(tags)}
    return {"id": {"targetConfigured": {"label": label}}, "configured": what}


def built(label):
    return {"id": {"targetCompleted": {"label": label}}, "completed": {"success": True}}


def incompatible(label):
    return {"id": {"targetCompleted": {"label": label}}, "aborted": {"reason": "SKIPPED"}}


def result(label, status, xml=None, attempt=1, milliseconds=0):
    outputs = [{"name": "test.xml", "uri": f"file://{xml}"}] if xml else []
    identity = {"label": label, "run": 1, "shard": 1, "attempt": attempt}
    return {
        "id": {"testResult": identity},
        "testResult": {
            "status": status,
            "testActionOutput": outputs,
            "testAttemptDurationMillis": str(milliseconds),
        },
    }


def finished(code):
    return {"id": {}, "finished": {"exitCode": {"code": code} if code else {"name": "SUCCESS"}}}


def count(tmp_path, capsys, *events, options=()):
    path = tmp_path / "events.json"
    path.write_text("\n".join(json.dumps(event) for event in events))
    code = count_tests.main([*options, str(path)])
    return code, capsys.readouterr().out.splitlines()


def write(path, text):
    path.write_text(text)
    return path


def test_cases_are_counted_by_kind(tmp_path, capsys):
    xml = write(tmp_path / "a b.xml", CASES)
    events = [
        configured("//a:t"),
        result("//a:t", "FAILED", str(xml).replace(" ", "%20")),
        finished(3),
    ]
    code, lines = count(tmp_path, capsys, *events)
    assert code == 1
    assert lines == [
        "skipped:",
        "  //a:t off: no GPU",
        "failed:",
        "  //a:t bad: 2 == 3",
        "1 passed, 1 failed, 1 skipped",
    ]


def test_only_passing_cases(tmp_path, capsys):
    xml = write(tmp_path / "x.xml", '<testsuite><testcase name="good"/></testsuite>')
    code, lines = count(
        tmp_path, capsys, configured("//a:t"), result("//a:t", "PASSED", xml), finished(0)
    )
    assert (code, lines) == (0, ["1 passed, 0 failed"])


def test_the_slowest_come_before_the_last_line(tmp_path, capsys):
    cases = "".join(f'<testcase name="c{i}" time="{i}.25"/>' for i in range(25))
    xml = write(tmp_path / "x.xml", f"<testsuite>{cases}<testcase name='at once'/></testsuite>")
    events = [result(f"//a:t{i}", "PASSED", xml, milliseconds=100 * i) for i in range(3)]
    code, lines = count(tmp_path, capsys, *events, finished(0))
    assert code == 0
    assert lines[:4] == ["slowest 20 targets:", "  0.2 s //a:t2", "  0.1 s //a:t1", lines[3]]
    assert lines[3:6] == ["slowest 20 cases:", "  24.2 s //a:t2 c24", "  24.2 s //a:t1 c24"]
    assert lines[-2:] == ["  18.2 s //a:t1 c18", "78 passed, 0 failed"] and len(lines) == 25


def test_a_deadline_that_is_close_is_named(tmp_path, capsys):
    xml = write(tmp_path / "x.xml", "<testsuite><testcase name='a'/></testsuite>")
    events = [configured("//a:t"), result("//a:t", "PASSED", xml, milliseconds=6100)]
    events += [configured("//a:u"), result("//a:u", "PASSED", xml, milliseconds=5900), finished(0)]
    code, lines = count(tmp_path, capsys, *events)
    assert code == 0  # a loaded machine is no failure
    assert lines[:2] == [
        "deadlines below 10 times the time taken (raise the size):",
        "  //a:t: 6.1 s of 60",
    ]


@pytest.mark.parametrize(("status", "last"), [(0, "1 passed, 0 failed"), (2, "0 passed, 1 failed")])
def test_a_step_is_a_case(tmp_path, capsys, status, last):
    code, lines = count(tmp_path, capsys, finished(0), options=["--step", f"a=b={status}"])
    assert (code, lines[-1]) == (1 if status else 0, last)
    assert not status or lines[-2] == "  a=b: must succeed, got exit status 2"


def test_a_note_ends_the_last_line(tmp_path, capsys):
    xml = write(tmp_path / "a.xml", '<testsuite><testcase name="one"/></testsuite>')
    events = [configured("//a:t"), result("//a:t", "PASSED", xml), finished(0)]
    code, lines = count(tmp_path, capsys, *events, options=["--note", "the quick subset"])
    assert (code, lines[-1]) == (0, "1 passed, 0 failed (the quick subset)")


def test_the_last_attempt_counts(tmp_path, capsys):
    xml = write(tmp_path / "x.xml", '<testsuite><testcase name="good"/></testsuite>')
    events = [result("//a:t", "FAILED"), result("//a:t", "PASSED", xml, attempt=2), finished(0)]
    assert count(tmp_path, capsys, *events)[1][-1] == "1 passed, 0 failed"


def test_a_crash_without_xml_is_a_failure(tmp_path, capsys):
    code, lines = count(
        tmp_path, capsys, result("//a:t", "TIMEOUT", tmp_path / "none.xml"), finished(3)
    )
    assert (code, lines[-2]) == (1, "  //a:t: the test must pass, got TIMEOUT")


def test_a_test_without_cases_is_a_failure(tmp_path, capsys):
    xml = write(tmp_path / "x.xml", "<testsuite/>")
    code, lines = count(tmp_path, capsys, result("//a:t", "PASSED", xml), finished(0))
    assert (code, lines[-1]) == (1, "0 passed, 1 failed")


def test_a_target_that_does_not_build_is_a_failure(tmp_path, capsys):
    code, lines = count(tmp_path, capsys, configured("//a:t"), finished(1))
    assert (code, lines[-2]) == (1, "  //a:t: the test must build, got an error (above)")


def test_an_error_of_bazel_itself_is_a_failure(tmp_path, capsys):
    code, lines = count(tmp_path, capsys, finished(7))
    assert (code, lines[-2]) == (1, "  bazel: the run must succeed, got exit code 7")


def test_a_built_target_without_result_was_filtered(tmp_path, capsys):
    targets = [configured("//a:g", "requires-gpu"), configured("//a:h")]
    code, lines = count(tmp_path, capsys, *targets, built("//a:g"), built("//a:h"), finished(0))
    assert code == 0
    assert lines[1:3] == [
        "  //a:g: needs a GPU (--config=cuda)",
        "  //a:h: left out by a test filter",
    ]


def test_a_target_of_another_configuration_is_skipped(tmp_path, capsys):
    targets = [configured("//a:g", "requires-gpu"), configured("//a:h")]
    events = [*targets, incompatible("//a:g"), incompatible("//a:h"), finished(0)]
    code, lines = count(tmp_path, capsys, *events)
    assert code == 0
    assert lines[1:3] == [
        "  //a:g: needs a GPU (--config=cuda)",
        "  //a:h: not in this configuration (target_compatible_with)",
    ]
