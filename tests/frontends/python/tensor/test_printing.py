"""How tensors are printed."""

import numpy as np
import pytest
import tessera


@pytest.fixture(autouse=True)
def _numpys_settings():
    yield
    tessera.set_printoptions()


def test_precision_and_size():
    x = tessera.tensor(np.arange(6) / 3)
    tessera.set_printoptions(precision=2, threshold=4, edgeitems=1)
    assert repr(x) == "Tensor([0.  , ..., 1.67], dtype=float32, device=cpu0)"
    tessera.set_printoptions(precision=1)
    assert "..." not in repr(x) and "1.7" in repr(x)
    tessera.set_printoptions()
    assert "0.6666667" in repr(x)


def test_lines_and_exponents():
    tessera.set_printoptions(linewidth=20, suppress=True, precision=3)
    x = tessera.tensor([1e-7, 123456.0, 1.0])
    assert "e" not in repr(x).partition(", dtype")[0][7:] and "\n" in repr(x)


def test_numpys_own_settings_hold_where_none_is_given():
    with np.printoptions(precision=1):
        assert repr(tessera.tensor([0.25])).startswith("Tensor([0.2]")
        tessera.set_printoptions(precision=2)
        assert repr(tessera.tensor([0.25])).startswith("Tensor([0.25]")


@pytest.mark.parametrize(("options", "kind", "text"), [
    ({"precision": "2"}, TypeError, "precision must be an int or None, got '2'"),
    ({"threshold": -1}, ValueError, "threshold must not be negative, got -1"),
    ({"suppress": 1}, TypeError, "suppress must be a bool or None, got 1"),
])  # fmt: skip
def test_what_is_no_option(options, kind, text):
    with pytest.raises(kind, match=f"set_printoptions: {text}"):
        tessera.set_printoptions(**options)
