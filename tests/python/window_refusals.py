"""For each constraint of convolutions and poolings a call that breaks it, as in refusals.py."""

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
    "conv1d.operands_must_have_rank_3": (["4", "2,2,3"], ""),
    "conv1d.channels_of_x_must_be_groups_times_those_of_weight": ([SEQUENCE, "2,3,3"], ""),
    "conv1d.output_channels_must_be_a_multiple_of_groups": ([SEQUENCE, "3,1,3"], "groups=2"),
    "conv1d.window_must_fit_into_the_padded_input": ([SEQUENCE, "3,2,5"], ""),
    "conv2d.operands_must_have_rank_4": (["4,4", "2,2,3,3"], ""),
    "conv2d.channels_of_x_must_be_groups_times_those_of_weight": ([IMAGE, "2,3,3,3"], ""),
    "conv2d.output_channels_must_be_a_multiple_of_groups": ([IMAGE, "3,1,3,3"], "groups=2"),
    "conv2d.window_must_fit_into_the_padded_input": ([IMAGE, "3,2,5,5"], ""),
    "conv2d_backward_data.weight_must_have_rank_4": (["3,3", "1,3,2,2", IMAGE], ""),
    "conv2d_backward_data.dout_must_have_rank_4": (["3,2,3,3", "2,2", IMAGE], ""),
    "conv2d_backward_data.like_must_have_rank_4": (["3,2,3,3", "1,3,2,2", "4,4"], ""),
    "conv2d_backward_data.dimension_O_must_match": (["3,2,3,3", "1,4,2,2", IMAGE], ""),
    "conv2d_backward_data.dimension_N_must_match": (["3,2,3,3", "2,3,2,2", IMAGE], ""),
    "conv2d_backward_data.channels_of_x_must_be_groups_times_those_of_weight": (
        ["3,1,3,3", "1,3,2,2", IMAGE],
        "",
    ),
    "conv2d_backward_data.output_channels_must_be_a_multiple_of_groups": (
        ["3,1,3,3", "1,3,2,2", IMAGE],
        "groups=2",
    ),
    "conv2d_backward_data.window_must_fit_into_the_padded_input": (
        ["3,2,5,5", "1,3,2,2", IMAGE],
        "",
    ),
    "conv2d_backward_data.dout_must_have_the_shape_of_the_convolutions_result": (
        ["3,2,3,3", "1,3,3,2", IMAGE],
        "",
    ),
    "conv2d_backward_weight.x_must_have_rank_4": (["4,4", "1,3,2,2", "3,2,3,3"], ""),
    "conv2d_backward_weight.dout_must_have_rank_4": ([IMAGE, "2,2", "3,2,3,3"], ""),
    "conv2d_backward_weight.like_must_have_rank_4": ([IMAGE, "1,3,2,2", "3,3"], ""),
    "conv2d_backward_weight.dimension_N_must_match": ([IMAGE, "2,3,2,2", "3,2,3,3"], ""),
    "conv2d_backward_weight.dimension_O_must_match": ([IMAGE, "1,4,2,2", "3,2,3,3"], ""),
    "conv2d_backward_weight.channels_of_x_must_be_groups_times_those_of_weight": (
        [IMAGE, "1,3,2,2", "3,1,3,3"],
        "",
    ),
    "conv2d_backward_weight.output_channels_must_be_a_multiple_of_groups": (
        [IMAGE, "1,3,2,2", "3,1,3,3"],
        "groups=2",
    ),
    "conv2d_backward_weight.window_must_fit_into_the_padded_input": (
        [IMAGE, "1,3,2,2", "3,2,5,5"],
        "",
    ),
    "conv2d_backward_weight.dout_must_have_the_shape_of_the_convolutions_result": (
        [IMAGE, "1,3,3,2", "3,2,3,3"],
        "",
    ),
    "conv_transpose1d.operands_must_have_rank_3": (["4", "2,3,3"], ""),
    "conv_transpose1d.channels_of_x_must_be_those_of_weight": ([SEQUENCE, "3,3,3"], ""),
    "conv_transpose1d.channels_of_x_must_be_a_multiple_of_groups": (
        [SEQUENCE, "2,3,3"],
        "groups=3",
    ),
    "conv_transpose1d.output_padding_must_be_below_strides": (
        [SEQUENCE, "2,3,3"],
        "output_padding=[1]",
    ),
    "conv_transpose1d.padding_must_leave_elements_of_the_result": (
        [SEQUENCE, "2,3,3"],
        "padding=[3]",
    ),
    "conv_transpose2d.operands_must_have_rank_4": (["4,4", "2,3,3,3"], ""),
    "conv_transpose2d.channels_of_x_must_be_those_of_weight": ([IMAGE, "3,3,3,3"], ""),
    "conv_transpose2d.channels_of_x_must_be_a_multiple_of_groups": ([IMAGE, "2,3,3,3"], "groups=3"),
    "conv_transpose2d.output_padding_must_be_below_strides": (
        [IMAGE, "2,3,3,3"],
        "output_padding=[1, 0]",
    ),
    "conv_transpose2d.padding_must_leave_elements_of_the_result": (
        [IMAGE, "2,3,3,3"],
        "padding=[3, 0]",
    ),
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
