"""Attributes of records: numbers are operands, and what each static one costs is said."""

import json
import os
import subprocess
import sys

from tests.python import samples

RANDOM_VALUES = """
import json
import tessera
from tests.python.attribute_values import Values
tessera.config.async_level = 0
values = Values(seed=0)
compiled = {}
for number in range(10000):
    before = tessera.cache_stats()["compilations"]
    name = values.call(checked=number % 50 == 0)
    compiled[name] = compiled.get(name, 0) + tessera.cache_stats()["compilations"] - before
    if number % 1000 == 0:
        tessera.sync()
tessera.sync()
predicted = {name: len(classes) for name, classes in values.classes.items()}
print(json.dumps([compiled, predicted, values.calls, values.wrong]))
"""


def static_numbers():
    """(operator, attribute) with the reason, for every number that is part of the code."""
    return {
        (entry["name"], attr["name"]): attr["static"]
        for entry in samples.entries()
        for attr in entry["attrs"]
        if attr["static"]
    }


def test_few_numbers_are_static():
    found = static_numbers()
    for (operator, attribute), reason in found.items():
        print(f"{operator}: {attribute}, because {reason}")
    assert 0 < len(found) <= 40 and all(found.values())


def test_random_values_compile_no_more_classes_than_static_ones_predict():
    env = {**os.environ, "TESS_CACHE_DIR": "", "TESS_WARM_SET": ""}
    command = [sys.executable, "-c", RANDOM_VALUES]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    compiled, predicted, calls, wrong = json.loads(done.stdout)
    assert sum(calls.values()) == 10000 and wrong == []
    assert set(calls) == {entry["name"] for entry in samples.entries() if entry["attrs"]}
    more = {name: (n, predicted[name]) for name, n in compiled.items() if n > predicted[name]}
    assert more == {}
