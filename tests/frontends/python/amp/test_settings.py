"""The switches of autocast that are attributes of the module."""

import threading

import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import amp
from tessera.jit import trace


@pytest.fixture(autouse=True)
def _restored():
    yield
    amp.enabled, amp.low_prec_dtype, amp.high_prec_dtype = False, "float16", "float32"


def dtypes():
    x = F.ones((2, 2))
    return (x @ x).dtype, F.exp(x).dtype


def test_enabled_holds_until_it_is_set_again():
    assert amp.enabled is False and dtypes() == ("float32", "float32")
    amp.enabled = True
    assert amp.enabled is True and dtypes() == ("float16", "float32")
    with amp.autocast(enabled=False):
        assert amp.enabled is False and dtypes() == ("float32", "float32")
    assert dtypes() == ("float16", "float32")
    amp.enabled = False
    assert dtypes() == ("float32", "float32")


def test_autocast_ends_with_what_was_set_before():
    amp.low_prec_dtype = "bfloat16"
    with amp.autocast():
        assert amp.enabled and amp.low_prec_dtype == "float16"
    assert not amp.enabled and amp.low_prec_dtype == "bfloat16"
    amp.enabled = True
    assert dtypes() == ("bfloat16", "float32")
    amp.high_prec_dtype = "float64"
    assert amp.high_prec_dtype == "float64"


def test_a_trace_has_a_program_for_each_setting():
    call, x = trace(lambda x: x @ x), F.ones((2, 2))
    for enabled in (False, False, True, True, False):
        amp.enabled = enabled
        assert call(x).dtype == ("float16" if enabled else "float32")


def test_other_threads_are_left_alone():
    amp.enabled, seen = True, []
    thread = threading.Thread(target=lambda: seen.append((amp.enabled, dtypes()[0])))
    thread.start()
    thread.join()
    assert seen == [(False, tessera.float32)]


def test_what_cannot_be_set():
    with pytest.raises(TypeError, match="^amp: enabled must be a bool, got 1$"):
        amp.enabled = 1
    with pytest.raises(
        ValueError, match="^autocast: low_prec_dtype must be float16 or bfloat16, got float32$"
    ):
        amp.low_prec_dtype = "float32"
    with pytest.raises(ValueError, match="^autocast: high_prec_dtype must be float32 or float64"):
        amp.high_prec_dtype = "float16"
    assert (amp.enabled, amp.low_prec_dtype, amp.high_prec_dtype) == (False, "float16", "float32")
