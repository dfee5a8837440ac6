"""module.Elemwise: every elementwise record, by MegEngine's mode and by the function's name."""

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import _core
from tessera import module as M  # noqa: N812

from tests.support.helper import assert_same_everywhere, check, floats


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hswish(x):
    return x * np.clip(x + 3, 0, 6) / 6


UNARY = {
    "RELU": lambda x: np.maximum(x, 0),
    "ABS": np.abs,
    "NEGATE": np.negative,
    "EXP": np.exp,
    "EXPM1": np.expm1,
    "SIN": np.sin,
    "COS": np.cos,
    "TANH": np.tanh,
    "FAST_TANH": lambda x: x * (27 + x * x) / (27 + 9 * x * x),
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "ROUND": np.rint,
    "SIGMOID": sigmoid,
    "H_SWISH": hswish,
    "SILU": lambda x: x * sigmoid(x),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "SOFTPLUS": lambda x: np.log1p(np.exp(x)),
    "LOGSIGMOID": lambda x: -np.log1p(np.exp(-x)),
    "HSIGMOID": lambda x: np.clip(x + 3, 0, 6) / 6,
    "SIGN": np.sign,
    "SQUARE": np.square,
}

BINARY = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "TRUE_DIV": np.divide,
    "MAX": np.maximum,
    "MIN": np.minimum,
    "POW": lambda x, y: np.abs(x) ** y,
    "FLOOR_DIV": np.floor_divide,
    "MOD": np.mod,
    "ATAN2": np.arctan2,
    "LOG_SUM_EXP": np.logaddexp,
    "LT": np.less,
    "LEQ": np.less_equal,
    "EQ": np.equal,
    "NEQ": np.not_equal,
    "FUSE_ADD_RELU": lambda x, y: np.maximum(x + y, 0),
    "FUSE_ADD_SIGMOID": lambda x, y: sigmoid(x + y),
    "FUSE_ADD_TANH": lambda x, y: np.tanh(x + y),
    "FUSE_ADD_H_SWISH": lambda x, y: hswish(x + y),
    "PRELU": lambda x, y: np.where(x > 0, x, x * y),
}

CASES = [
    *((mode, 1, oracle) for mode, oracle in UNARY.items()),
    *((mode, 2, oracle) for mode, oracle in BINARY.items()),
    ("FUSE_MUL_ADD3", 3, lambda x, y, z: x * y + z),
    ("FUSE_MUL_ADD4", 4, lambda x, y, z, w: x * y + z * w),
]


@pytest.mark.parametrize(("mode", "count", "oracle"), CASES)
def test_modes(mode, count, oracle):
    arrays = [floats(3, 4, seed=i) for i in range(count)]
    if mode == "POW":
        arrays[0] = np.abs(arrays[0])
    for name in (mode, mode.lower()):
        net = M.Elemwise(name)
        check(net, *arrays, oracle=oracle, rtol=1e-5, atol=1e-6)
        assert repr(net) == f"Elemwise({mode.lower()})"


INTS = [np.array([5, 1, 0, 7], np.int32), np.array([1, 2, 0, 3], np.int32)]
BOOLS = [array > 2 for array in INTS]
OTHERS = [
    ("SHL", INTS, np.left_shift),
    ("SHR", INTS, np.right_shift),
    ("AND", BOOLS, np.logical_and),
    ("OR", BOOLS, np.logical_or),
    ("XOR", BOOLS, np.logical_xor),
    ("NOT", BOOLS[:1], np.logical_not),
]


@pytest.mark.parametrize(("mode", "arrays", "oracle"), OTHERS)
def test_modes_of_integers_and_bools(mode, arrays, oracle):
    check(M.Elemwise(mode), *arrays, oracle=oracle)


_HOMES = ("functional.elemwise", "functional.math", "functional.nn")


def test_every_record_has_its_name():
    names = [
        row["python"]
        for row in _core.op_table()
        if row["lowering"] == "elementwise" and row["module"] in _HOMES and not row["stochastic"]
    ]
    assert len(names) > 60
    refused = [name for name in names if name != "one_hot_like" and not _is_known(name)]
    assert refused == []
    x = floats(3)
    assert_same_everywhere(M.Elemwise("gelu"), x)
    assert M.Elemwise("leaky_relu")(x).tolist() == F.leaky_relu(x).tolist()


def _is_known(name):
    try:
        return M.Elemwise(name).method == name
    except ValueError:
        return False


@pytest.mark.parametrize("method", ["no", "export", "concat", "_ops"])
def test_what_is_no_elementwise_function_is_refused(method):
    message = f"Elemwise: method must name an elementwise function, got '{method}'"
    with pytest.raises(ValueError, match=message):
        M.Elemwise(method)
