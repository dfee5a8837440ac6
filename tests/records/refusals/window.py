"""For each constraint of convolutions and poolings a call that breaks it, as in refusals.py."""

from tests.records.refusals.conv import CONVOLUTIONS
from tests.records.refusals.pool import POOLINGS

IMAGE = "1,2,4,4"
SEQUENCE = "1,2,4"
PAIR = "kernel_size=[2, 2]"
WIDE = "kernel_size=[5, 5]"
ALONE = "kernel_size=[2, 2];padding=[2, 0]"
BACK = "2,2,3,3"

WINDOWS = {
    "adaptive_avg_pool1d.x_must_have_rank_3": (["2,3"], "output_size=[1]"),
    "adaptive_avg_pool2d.x_must_have_rank_4": (["2,3"], "output_size=[1, 1]"),
    "adaptive_max_pool1d.x_must_have_rank_3": (["2,3"], "output_size=[1]"),
    "adaptive_max_pool2d.x_must_have_rank_4": (["2,3"], "output_size=[1, 1]"),
    "avg_pool1d.x_must_have_rank_3": (["4"], "kernel_size=[2]"),
    "avg_pool1d.padding_must_be_below_the_windows_size": (
        [SEQUENCE],
        "kernel_size=[2];padding=[2]",
    ),
    "avg_pool1d.window_must_fit_into_the_padded_input": ([SEQUENCE], "kernel_size=[5]"),
    "avg_pool2d.x_must_have_rank_4": (["4,4"], PAIR),
    "avg_pool2d.padding_must_be_below_the_windows_size": ([IMAGE], ALONE),
    "avg_pool2d.window_must_fit_into_the_padded_input": ([IMAGE], WIDE),
    "avg_pool2d_backward.dout_must_have_rank_4": (["3,3", IMAGE], PAIR),
    "avg_pool2d_backward.like_must_have_rank_4": (["1,2,3,3", "4,4"], PAIR),
    "avg_pool2d_backward.dimension_N_must_match": (["2,2,3,3", IMAGE], PAIR),
    "avg_pool2d_backward.dimension_C_must_match": (["1,3,3,3", IMAGE], PAIR),
    "avg_pool2d_backward.padding_must_be_below_the_windows_size": (["1,2,3,3", IMAGE], ALONE),
    "avg_pool2d_backward.window_must_fit_into_the_padded_input": (["1,2,3,3", IMAGE], WIDE),
    "avg_pool2d_backward.dout_must_have_the_shape_of_the_poolings_result": (
        ["1,2,4,3", IMAGE],
        PAIR,
    ),
    **CONVOLUTIONS,
    **POOLINGS,
    "max_pool1d.x_must_have_rank_3": (["4"], "kernel_size=[2]"),
    "max_pool1d.padding_must_be_below_the_windows_size": (
        [SEQUENCE],
        "kernel_size=[2];padding=[2]",
    ),
    "max_pool1d.window_must_fit_into_the_padded_input": ([SEQUENCE], "kernel_size=[5]"),
    "max_pool2d.x_must_have_rank_4": (["4,4"], PAIR),
    "max_pool2d.padding_must_be_below_the_windows_size": ([IMAGE], ALONE),
    "max_pool2d.window_must_fit_into_the_padded_input": ([IMAGE], WIDE),
    "max_pool2d_backward.x_must_have_rank_4": (["4,4", BACK, BACK], PAIR),
    "max_pool2d_backward.out_must_have_rank_4": (["2,2,4,4", "3,3", BACK], PAIR),
    "max_pool2d_backward.dout_must_have_rank_4": (["2,2,4,4", BACK, "3,3"], PAIR),
    "max_pool2d_backward.dimension_N_must_match": (["1,2,4,4", BACK, BACK], PAIR),
    "max_pool2d_backward.dimension_C_must_match": (["2,3,4,4", BACK, BACK], PAIR),
    "max_pool2d_backward.dimension_OH_must_match": (["2,2,4,4", "2,2,4,3", BACK], PAIR),
    "max_pool2d_backward.dimension_OW_must_match": (["2,2,4,4", "2,2,3,4", BACK], PAIR),
    "max_pool2d_backward.padding_must_be_below_the_windows_size": (["2,2,4,4", BACK, BACK], ALONE),
    "max_pool2d_backward.window_must_fit_into_the_padded_input": (["2,2,4,4", BACK, BACK], WIDE),
    "max_pool2d_backward.out_and_dout_must_have_the_shape_of_the_poolings_result": (
        ["2,2,5,4", BACK, BACK],
        PAIR,
    ),
}
