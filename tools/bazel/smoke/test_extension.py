import importlib.util
import pathlib
import sysconfig

import pytest


def load():
    name = "_smoke" + sysconfig.get_config_var("EXT_SUFFIX")
    path = pathlib.Path(__file__).parent / name
    spec = importlib.util.spec_from_file_location("_smoke", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("a,b", [(1, 2), (-1, 1)])
def test_the_extension_adds(a, b):
    assert load().add(a, b) == a + b
