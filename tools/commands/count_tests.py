"""Counts the test cases of Bazel runs: skipped, failed, slowest, then `N passed, N failed`.

usage: count_tests.py [--step NAME=STATUS]... [--note TEXT] EVENTS...
The note, which tells what tests these are, ends the last line. A step is something else that ran,
counted as one case: passed where its exit status is 0.
EVENTS is what `bazel test --build_event_json_file` wrote; the XML of every target of that run is
read, cached or not. A target that did not build, crashed or wrote no XML is one failed case; one
that was filtered out, or is not for the run's configuration, is one skipped case.
"""

import argparse
import json
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

MOST = 20  # limit of the slowest that are listed
# The seconds after which Bazel ends a test of each size; MARGIN leaves room for a loaded machine.
DEADLINES = {"SMALL": 60, "MEDIUM": 300, "LARGE": 900, "ENORMOUS": 3600}
MARGIN = 10


@dataclass
class Count:
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    targets: list = field(default_factory=list)  # (seconds, name); cases has the same of test cases
    cases: list = field(default_factory=list)
    tight: list = field(default_factory=list)  # targets that have less than MARGIN

    def line(self):
        text = f"{self.passed} passed, {len(self.failed)} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def first_line(element):
    text = element.get("message") or element.text or "no reason given"
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def count_case(count, label, case):
    name = f"{label} {case.get('name')}"
    count.cases.append((float(case.get("time") or 0), name))
    bad = case.find("failure") if case.find("failure") is not None else case.find("error")
    skipped = case.find("skipped")
    if bad is not None:
        count.failed.append(f"{name}: {first_line(bad)}")
    elif skipped is not None:
        count.skipped.append(f"{name}: {first_line(skipped)}")
    else:
        count.passed += 1


def output_path(result, name):
    for output in result.get("testActionOutput", []):
        if output["name"] == name and "uri" in output:
            return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path))
    return None


def parse_cases(path):
    try:
        return list(ElementTree.parse(path).iter("testcase"))
    except (OSError, TypeError, ElementTree.ParseError):
        return None


def seconds_of(result):
    return int(result.get("testAttemptDurationMillis", 0)) / 1000


def count_result(count, label, result):
    cases, failed_before = parse_cases(output_path(result, "test.xml")), len(count.failed)
    count.targets.append((seconds_of(result), label))
    for case in cases or []:
        count_case(count, label, case)
    if result["status"] != "PASSED" and len(count.failed) == failed_before:
        count.failed.append(f"{label}: the test must pass, got {result['status']}")
    elif result["status"] == "PASSED" and not cases:
        count.failed.append(f"{label}: a test must write its cases, got none")


class Run:
    """What one event file says: the test targets, their last results, Bazel's exit code."""

    def __init__(self, lines):
        self.tags, self.built, self.results, self.exit_code = {}, set(), {}, None
        self.incompatible, self.sizes = set(), {}
        for line in lines:
            self.read(json.loads(line))

    def read(self, event):
        identity = event["id"]
        if "testSize" in event.get("configured", {}):
            label = identity["targetConfigured"]["label"]
            self.tags[label] = event["configured"].get("tag", [])
            self.sizes[label] = event["configured"]["testSize"]
        elif event.get("completed", {}).get("success"):
            self.built.add(identity["targetCompleted"]["label"])
        elif event.get("aborted", {}).get("reason") == "SKIPPED" and "targetCompleted" in identity:
            self.incompatible.add(identity["targetCompleted"]["label"])
        elif "testResult" in event:
            key = identity["testResult"]
            self.results[key["label"], key.get("run"), key.get("shard")] = event["testResult"]
        elif "finished" in event:
            self.exit_code = event["finished"].get("exitCode", {}).get("code", 0)

    def count_without_result(self, count, label):
        if label not in self.built | self.incompatible:
            count.failed.append(f"{label}: the test must build, got an error (above)")
        elif "requires-gpu" in self.tags[label]:
            count.skipped.append(f"{label}: needs a GPU (--config=cuda)")
        elif label in self.incompatible:
            count.skipped.append(f"{label}: not in this configuration (target_compatible_with)")
        else:
            count.skipped.append(f"{label}: left out by a test filter")

    def check_deadline(self, count, label, seconds):
        deadline = DEADLINES.get(self.sizes.get(label))
        if deadline and seconds * MARGIN > deadline:
            count.tight.append(f"{label}: {seconds:.1f} s of {deadline}")

    def count_into(self, count):
        for (label, _, _), result in self.results.items():
            count_result(count, label, result)
            self.check_deadline(count, label, seconds_of(result))
        finished = {label for label, _, _ in self.results}
        for label in sorted(set(self.tags) - finished):
            self.count_without_result(count, label)
        if self.exit_code != 0 and not count.failed:
            count.failed.append(f"bazel: the run must succeed, got exit code {self.exit_code}")


def print_list(title, entries):
    if entries:
        print(f"{title}:", *entries, sep="\n  ")


def slowest(timed):
    """The MOST slowest as lines; those of no measured time are none of them."""
    return [f"{seconds:.1f} s {name}" for seconds, name in sorted(timed)[::-1][:MOST] if seconds]


def count_step(count, text):
    name, _, status = text.rpartition("=")
    if status == "0":
        count.passed += 1
    else:
        count.failed.append(f"{name}: must succeed, got exit status {status}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", action="append", default=[])
    parser.add_argument("--note")
    parser.add_argument("events", nargs="*")
    options = parser.parse_args(arguments)
    count = Count()
    for step in options.step:
        count_step(count, step)
    for path in options.events:
        Run(pathlib.Path(path).read_text().splitlines()).count_into(count)
    print_list("skipped", count.skipped)
    print_list("failed", count.failed)
    print_list(f"deadlines below {MARGIN} times the time taken (raise the size)", count.tight)
    print_list(f"slowest {MOST} targets", slowest(count.targets))
    print_list(f"slowest {MOST} cases", slowest(count.cases))
    print(count.line() + (f" ({options.note})" if options.note else ""))
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
