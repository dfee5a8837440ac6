"""MegEngine's switches of autocast: attributes of the module `amp`."""

import types

from .. import _core


def _setting(place, doc):
    """The part `place` of the state of this thread: whether, the narrow dtype, the wide one."""

    def _set(_, value):
        if not place and not isinstance(value, bool):
            raise TypeError(f"amp: enabled must be a bool, got {value!r}")
        state = list(_core.autocast())
        state[place] = value
        _core.swap_autocast(_core.autocast_of(*state))

    return property(lambda _: _core.autocast()[place], _set, doc=doc)


class Settings(types.ModuleType):
    """The module, three attributes of which are autocast's state in this thread.

    `enabled` is what `autocast` as a context sets until it ends, and so are `low_prec_dtype`,
    "float16" or "bfloat16", and `high_prec_dtype`, "float32" or "float64". TypeError: enabled must
    be a bool. ValueError: the dtypes must be among these.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> ts.amp.enabled = True
    >>> (F.ones((2, 2)) @ F.ones((2, 2))).dtype.name
    'float16'
    >>> ts.amp.enabled = False
    """

    enabled = _setting(0, "Whether operators choose their precision.")
    low_prec_dtype = _setting(1, "What matmul, convolutions and their like compute in.")
    high_prec_dtype = _setting(2, "What sums, norms, losses and their like compute in.")
