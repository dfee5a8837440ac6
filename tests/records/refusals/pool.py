"""For each constraint of poolings of volumes a call that breaks it, as in refusals.py."""

VOLUME = "1,2,4,4,4"
CUBE = "kernel_size=[2, 2, 2]"
WIDE = "kernel_size=[2, 5, 2]"
ALONE = "kernel_size=[2, 2, 2];padding=[0, 0, 2]"
BACK = "1,2,3,3,3"

POOLINGS = {
    "adaptive_avg_pool3d.x_must_have_rank_5": (["1,2,3,3"], "output_size=[1, 1, 1]"),
    "adaptive_max_pool3d.x_must_have_rank_5": (["1,2,3,3"], "output_size=[1, 1, 1]"),
    "adaptive_avg_pool2d.output_size_must_not_be_above_the_sizes_of_x": (
        ["1,2,4,4"],
        "output_size=[1, 5]",
    ),
    "adaptive_max_pool2d.output_size_must_not_be_above_the_sizes_of_x": (
        ["1,2,4,4"],
        "output_size=[5, 1]",
    ),
    "adaptive_avg_pool3d.output_size_must_not_be_above_the_sizes_of_x": (
        [VOLUME],
        "output_size=[1, 1, 5]",
    ),
    "adaptive_max_pool3d.output_size_must_not_be_above_the_sizes_of_x": (
        [VOLUME],
        "output_size=[5, 1, 1]",
    ),
    "avg_pool3d.x_must_have_rank_5": (["4,4"], CUBE),
    "avg_pool3d.padding_must_be_below_the_windows_size": ([VOLUME], ALONE),
    "avg_pool3d.window_must_fit_into_the_padded_input": ([VOLUME], WIDE),
    "avg_pool3d_backward.dout_must_have_rank_5": (["3,3", VOLUME], CUBE),
    "avg_pool3d_backward.like_must_have_rank_5": ([BACK, "4,4"], CUBE),
    "avg_pool3d_backward.dimension_N_must_match": (["2,2,3,3,3", VOLUME], CUBE),
    "avg_pool3d_backward.dimension_C_must_match": (["1,3,3,3,3", VOLUME], CUBE),
    "avg_pool3d_backward.padding_must_be_below_the_windows_size": ([BACK, VOLUME], ALONE),
    "avg_pool3d_backward.window_must_fit_into_the_padded_input": ([BACK, VOLUME], WIDE),
    "avg_pool3d_backward.dout_must_have_the_shape_of_the_poolings_result": (
        ["1,2,3,4,3", VOLUME],
        CUBE,
    ),
    "max_pool3d.x_must_have_rank_5": (["4,4"], CUBE),
    "max_pool3d.padding_must_be_below_the_windows_size": ([VOLUME], ALONE),
    "max_pool3d.window_must_fit_into_the_padded_input": ([VOLUME], WIDE),
    "max_pool3d_backward.x_must_have_rank_5": (["4,4", BACK, BACK], CUBE),
    "max_pool3d_backward.out_must_have_rank_5": ([VOLUME, "3,3", BACK], CUBE),
    "max_pool3d_backward.dout_must_have_rank_5": ([VOLUME, BACK, "3,3"], CUBE),
    "max_pool3d_backward.dimension_N_must_match": (["2,2,4,4,4", BACK, BACK], CUBE),
    "max_pool3d_backward.dimension_C_must_match": (["1,3,4,4,4", BACK, BACK], CUBE),
    "max_pool3d_backward.dimension_OD_must_match": ([VOLUME, "1,2,4,3,3", BACK], CUBE),
    "max_pool3d_backward.dimension_OH_must_match": ([VOLUME, "1,2,3,4,3", BACK], CUBE),
    "max_pool3d_backward.dimension_OW_must_match": ([VOLUME, "1,2,3,3,4", BACK], CUBE),
    "max_pool3d_backward.padding_must_be_below_the_windows_size": ([VOLUME, BACK, BACK], ALONE),
    "max_pool3d_backward.window_must_fit_into_the_padded_input": ([VOLUME, BACK, BACK], WIDE),
    "max_pool3d_backward.out_and_dout_must_have_the_shape_of_the_poolings_result": (
        ["1,2,5,4,4", BACK, BACK],
        CUBE,
    ),
}
