import pytest

from tools.lint import asserts, sources

FAILING = ["pytest.raises(*", "np.testing.assert_*", "run(*check=True*"]
HELPER = "def close(x):\n    assert x\ndef tensor(x):\n    return x\n"


def found(tmp_path, monkeypatch, text):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    files = {"tests/helper.py": HELPER, "tests/test_add.py": text}
    for name, code in files.items():
        (tmp_path / name).write_text(code)
    return list(asserts.check(files, FAILING))


@pytest.mark.parametrize(
    "text",
    [
        "def test_add():\n    assert 1 + 1 == 2\n",
        "def test_add():\n    with pytest.raises(ValueError):\n        add()\n",
        "def test_add():\n    np.testing.assert_allclose(1 + 1, 2)\n",
        "def test_add():\n    run(['add'], check=True)\n",
        "from tests.helper import close\ndef test_add():\n    close(1)\n",
        "from tests import helper as H\ndef test_add():\n    H.close(1)\n",
        "from tests.helper import close\ndef two(x):\n    close(x)\ndef test_add():\n    two(1)\n",
        "def add():\n    return 1 + 1\n",
    ],
)
def test_a_check(tmp_path, monkeypatch, text):
    assert not found(tmp_path, monkeypatch, text)


@pytest.mark.parametrize(
    "text",
    [
        "def test_add():\n    1 + 1\n",
        "def test_add():\n    run(['add'])\n",
        "from tests.helper import tensor\ndef test_add():\n    tensor(1)\n",
        "from tests import helper as H\ndef test_add():\n    H.tensor(1)\n",
        "def test_add():\n    close(1)\n",
        "def test_other():\n    assert True\n@parametrize(test_other)\ndef test_add():\n    pass\n",
    ],
)
def test_no_check(tmp_path, monkeypatch, text):
    (message,) = found(tmp_path, monkeypatch, text)
    assert message.startswith("asserts: tests/test_add.py:")
    assert message.endswith("must assert something, got no check in test_add")
