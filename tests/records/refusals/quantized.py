"""For each constraint of quantized products a call that breaks it, as in refusals.py."""

from tests.records.refusals.conv import CONVOLUTIONS

BINARY = ["2,3", "4"]


def _is_forward(label):
    return "backward" not in label and label.startswith("conv")


def _of_rank(n, *sizes):
    return ",".join([*map(str, sizes), *["1"] * n])


def _convolutions():
    for label, (shapes, attrs) in CONVOLUTIONS.items():
        if _is_forward(label):
            yield f"integer_{label}", (shapes, attrs)
    for n in (1, 2, 3):
        image, weight, deep = _of_rank(n, 1, 2), _of_rank(n, 2, 2), _of_rank(n, 1, 140000)
        for name in (f"integer_conv{n}d", f"integer_conv_transpose{n}d"):
            yield f"{name}.x_zero_must_have_rank_0", ([image, weight, "1"], "")
        yield (
            f"integer_conv{n}d.depth_must_keep_sums_within_int32",
            ([deep, _of_rank(n, 1, 140000)], ""),
        )
        yield (
            f"integer_conv_transpose{n}d.depth_must_keep_sums_within_int32",
            ([deep, _of_rank(n, 140000, 1)], ""),
        )


def _simulated_convolutions():
    for n in (1, 2, 3):
        image, weight = _of_rank(n, 1, 2), _of_rank(n, 2, 2)
        for name in (f"simulated_conv{n}d", f"simulated_conv_transpose{n}d"):
            yield f"{name}.x_must_have_rank_{n + 2}", (["2", weight, "", "", ""], "")
            yield f"{name}.weight_must_have_rank_{n + 2}", ([image, "2", "", "", ""], "")
            yield f"{name}.x_scale_must_have_rank_0", ([image, weight, "1", "", ""], "")
            yield f"{name}.x_zero_must_have_rank_0", ([image, weight, "", "1", ""], "")
            yield from _simulated(name, image, weight)
        deep = ([_of_rank(n, 1, 40000), _of_rank(n, 1, 40000), "", "", "", "1"], "dtype=u8")
        yield f"simulated_conv{n}d.depth_must_leave_half_of_int32_to_the_bias", deep
        deep = ([_of_rank(n, 1, 40000), _of_rank(n, 40000, 1), "", "", "", "1"], "dtype=u8")
        yield f"simulated_conv_transpose{n}d.depth_must_leave_half_of_int32_to_the_bias", deep


def _simulated(name, x, weight):
    yield f"{name}.dtype_must_be_int8_or_uint8", ([x, weight, "", "", ""], "dtype=i16")
    yield f"{name}.weight_scale_must_have_rank_0_to_1", ([x, weight, "", "", "1,1"], "")
    label = f"{name}.weight_scale_must_be_one_number_or_one_for_each_output_channel"
    yield label, ([x, weight, "", "", "7"], "")


QUANTIZED = {
    "fake_quant.operands_must_broadcast": (["2,3", "4", ""], ""),
    "tqt.operands_must_broadcast": (BINARY, ""),
    "lsq.dimensions_D_must_broadcast": (["2,3", "4", "", ""], ""),
    "lsq.grad_scale_must_have_rank_0": (["2,3", "", "", "1"], ""),
    "integer_matmul.x_must_have_rank_at_least_2": (["", "3,4"], ""),
    "integer_matmul.y_must_have_rank_at_least_2": (["2,3", ""], ""),
    "integer_matmul.dimensions_B_must_broadcast": (["2,4,3", "5,3,4"], ""),
    "integer_matmul.dimension_K_must_match": (["2,3", "4,5"], ""),
    "integer_matmul.x_zero_must_have_rank_0": (["2,3", "3,4", "1"], ""),
    "integer_matmul.y_zero_must_have_rank_0": (["2,3", "3,4", "", "1"], ""),
    "integer_matmul.depth_must_keep_sums_within_int32": (["1,140000", "140000,1"], ""),
    "simulated_linear.x_must_have_rank_at_least_1": (["", "4,3", "", "", ""], ""),
    "simulated_linear.weight_must_have_rank_2": (["2,3", "3", "", "", ""], ""),
    "simulated_linear.bias_must_have_rank_1": (["2,3", "4,3", "", "", "", ""], ""),
    "simulated_linear.dimension_I_must_match": (["2,3", "4,5", "", "", ""], ""),
    "simulated_linear.dimension_O_must_match": (["2,3", "4,3", "", "", "", "5"], ""),
    "simulated_linear.x_scale_must_have_rank_0": (["2,3", "4,3", "1", "", ""], ""),
    "simulated_linear.x_zero_must_have_rank_0": (["2,3", "4,3", "", "1", ""], ""),
    "simulated_linear.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,70000", "1,70000", "", "", "", "1"],
        "",
    ),
    "simulated_matmul.x_must_have_rank_at_least_2": (["", "3,4", "", "", "", ""], ""),
    "simulated_matmul.y_must_have_rank_at_least_2": (["2,3", "", "", "", "", ""], ""),
    "simulated_matmul.dimensions_B_must_broadcast": (["2,4,3", "5,3,4", "", "", "", ""], ""),
    "simulated_matmul.dimension_K_must_match": (["2,3", "4,5", "", "", "", ""], ""),
    "simulated_matmul.x_scale_must_have_rank_0": (["2,3", "3,4", "1", "", "", ""], ""),
    "simulated_matmul.x_zero_must_have_rank_0": (["2,3", "3,4", "", "1", "", ""], ""),
    "simulated_matmul.y_scale_must_have_rank_0": (["2,3", "3,4", "", "", "1", ""], ""),
    "simulated_matmul.y_zero_must_have_rank_0": (["2,3", "3,4", "", "", "", "1"], ""),
    "simulated_matmul.dtypes_must_be_int8_or_uint8": (
        ["2,3", "3,4", "", "", "", ""],
        "y_dtype=i16",
    ),
    **dict(_simulated("simulated_linear", "2,3", "4,3")),
    **dict(_convolutions()),
    **dict(_simulated_convolutions()),
}
