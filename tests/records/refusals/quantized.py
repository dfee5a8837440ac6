"""For each constraint of quantized products a call that breaks it, as in refusals.py."""

QUANTIZED = {
    "fake_quant.operands_must_broadcast": (["2,3", "4", ""], ""),
    "tqt.operands_must_broadcast": (["2,3", "4"], ""),
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
    "simulated_linear.dtype_must_be_int8_or_uint8": (["2,3", "4,3", "", "", ""], "dtype=i16"),
    "simulated_linear.weight_scale_must_have_rank_0_to_1": (["2,3", "4,3", "", "", "1,1"], ""),
    "simulated_linear.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["2,3", "4,3", "", "", "7"],
        "",
    ),
    "integer_conv1d.operands_must_have_rank_3": (["4", "2,2,3"], ""),
    "integer_conv1d.channels_of_x_must_be_groups_times_those_of_weight": (["1,2,4", "2,3,3"], ""),
    "integer_conv1d.output_channels_must_be_a_multiple_of_groups": (["1,2,4", "3,1,3"], "groups=2"),
    "integer_conv1d.window_must_fit_into_the_padded_input": (["1,2,4", "3,2,5"], ""),
    "integer_conv_transpose1d.operands_must_have_rank_3": (["4", "2,2,3"], ""),
    "integer_conv_transpose1d.channels_of_x_must_be_those_of_weight": (["1,3,4", "2,3,3"], ""),
    "integer_conv_transpose1d.channels_of_x_must_be_a_multiple_of_groups": (
        ["1,3,4", "3,1,3"],
        "groups=2",
    ),
    "integer_conv_transpose1d.output_padding_must_be_below_strides": (
        ["1,3,4", "3,2,3"],
        "output_padding=[1]",
    ),
    "integer_conv_transpose1d.padding_must_leave_elements_of_the_result": (
        ["1,3,4", "3,2,3"],
        "padding=[5]",
    ),
    "integer_conv2d.operands_must_have_rank_4": (["4", "2,2,3,3"], ""),
    "integer_conv2d.channels_of_x_must_be_groups_times_those_of_weight": (
        ["1,2,4,4", "2,3,3,3"],
        "",
    ),
    "integer_conv2d.output_channels_must_be_a_multiple_of_groups": (
        ["1,2,4,4", "3,1,3,3"],
        "groups=2",
    ),
    "integer_conv2d.window_must_fit_into_the_padded_input": (["1,2,4,4", "3,2,5,5"], ""),
    "integer_conv_transpose2d.operands_must_have_rank_4": (["4", "2,2,3,3"], ""),
    "integer_conv_transpose2d.channels_of_x_must_be_those_of_weight": (["1,3,4,4", "2,3,3,3"], ""),
    "integer_conv_transpose2d.channels_of_x_must_be_a_multiple_of_groups": (
        ["1,3,4,4", "3,1,3,3"],
        "groups=2",
    ),
    "integer_conv_transpose2d.output_padding_must_be_below_strides": (
        ["1,3,4,4", "3,2,3,3"],
        "output_padding=[0, 1]",
    ),
    "integer_conv_transpose2d.padding_must_leave_elements_of_the_result": (
        ["1,3,4,4", "3,2,3,3"],
        "padding=[0, 5]",
    ),
    "integer_conv3d.operands_must_have_rank_5": (["4", "2,2,1,3,3"], ""),
    "integer_conv3d.channels_of_x_must_be_groups_times_those_of_weight": (
        ["1,2,1,4,4", "2,3,1,3,3"],
        "",
    ),
    "integer_conv3d.output_channels_must_be_a_multiple_of_groups": (
        ["1,2,1,4,4", "3,1,1,3,3"],
        "groups=2",
    ),
    "integer_conv3d.window_must_fit_into_the_padded_input": (["1,2,1,4,4", "3,2,1,5,5"], ""),
    "integer_conv_transpose3d.operands_must_have_rank_5": (["4", "2,2,1,3,3"], ""),
    "integer_conv_transpose3d.channels_of_x_must_be_those_of_weight": (
        ["1,3,1,4,4", "2,3,1,3,3"],
        "",
    ),
    "integer_conv_transpose3d.channels_of_x_must_be_a_multiple_of_groups": (
        ["1,3,1,4,4", "3,1,1,3,3"],
        "groups=2",
    ),
    "integer_conv_transpose3d.output_padding_must_be_below_strides": (
        ["1,3,1,4,4", "3,2,1,3,3"],
        "output_padding=[0, 0, 1]",
    ),
    "integer_conv_transpose3d.padding_must_leave_elements_of_the_result": (
        ["1,3,1,4,4", "3,2,1,3,3"],
        "padding=[0, 0, 5]",
    ),
    "integer_conv1d.x_zero_must_have_rank_0": (["1,2,1", "2,2,1", "1"], ""),
    "integer_conv_transpose1d.x_zero_must_have_rank_0": (["1,2,1", "2,2,1", "1"], ""),
    "integer_conv1d.depth_must_keep_sums_within_int32": (["1,140000,1", "1,140000,1"], ""),
    "integer_conv_transpose1d.depth_must_keep_sums_within_int32": (
        ["1,140000,1", "140000,1,1"],
        "",
    ),
    "integer_conv2d.x_zero_must_have_rank_0": (["1,2,1,1", "2,2,1,1", "1"], ""),
    "integer_conv_transpose2d.x_zero_must_have_rank_0": (["1,2,1,1", "2,2,1,1", "1"], ""),
    "integer_conv2d.depth_must_keep_sums_within_int32": (["1,140000,1,1", "1,140000,1,1"], ""),
    "integer_conv_transpose2d.depth_must_keep_sums_within_int32": (
        ["1,140000,1,1", "140000,1,1,1"],
        "",
    ),
    "integer_conv3d.x_zero_must_have_rank_0": (["1,2,1,1,1", "2,2,1,1,1", "1"], ""),
    "integer_conv_transpose3d.x_zero_must_have_rank_0": (["1,2,1,1,1", "2,2,1,1,1", "1"], ""),
    "integer_conv3d.depth_must_keep_sums_within_int32": (["1,140000,1,1,1", "1,140000,1,1,1"], ""),
    "integer_conv_transpose3d.depth_must_keep_sums_within_int32": (
        ["1,140000,1,1,1", "140000,1,1,1,1"],
        "",
    ),
    "simulated_conv1d.x_must_have_rank_3": (["2", "2,2,1", "", "", ""], ""),
    "simulated_conv1d.weight_must_have_rank_3": (["1,2,1", "2", "", "", ""], ""),
    "simulated_conv1d.x_scale_must_have_rank_0": (["1,2,1", "2,2,1", "1", "", ""], ""),
    "simulated_conv1d.x_zero_must_have_rank_0": (["1,2,1", "2,2,1", "", "1", ""], ""),
    "simulated_conv1d.dtype_must_be_int8_or_uint8": (["1,2,1", "2,2,1", "", "", ""], "dtype=i16"),
    "simulated_conv1d.weight_scale_must_have_rank_0_to_1": (["1,2,1", "2,2,1", "", "", "1,1"], ""),
    "simulated_conv1d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1", "2,2,1", "", "", "7"],
        "",
    ),
    "simulated_conv_transpose1d.x_must_have_rank_3": (["2", "2,2,1", "", "", ""], ""),
    "simulated_conv_transpose1d.weight_must_have_rank_3": (["1,2,1", "2", "", "", ""], ""),
    "simulated_conv_transpose1d.x_scale_must_have_rank_0": (["1,2,1", "2,2,1", "1", "", ""], ""),
    "simulated_conv_transpose1d.x_zero_must_have_rank_0": (["1,2,1", "2,2,1", "", "1", ""], ""),
    "simulated_conv_transpose1d.dtype_must_be_int8_or_uint8": (
        ["1,2,1", "2,2,1", "", "", ""],
        "dtype=i16",
    ),
    "simulated_conv_transpose1d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1", "2,2,1", "", "", "1,1"],
        "",
    ),
    "simulated_conv_transpose1d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1", "2,2,1", "", "", "7"],
        "",
    ),
    "simulated_conv1d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1", "1,40000,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "simulated_conv_transpose1d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1", "40000,1,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "simulated_conv2d.x_must_have_rank_4": (["2", "2,2,1,1", "", "", ""], ""),
    "simulated_conv2d.weight_must_have_rank_4": (["1,2,1,1", "2", "", "", ""], ""),
    "simulated_conv2d.x_scale_must_have_rank_0": (["1,2,1,1", "2,2,1,1", "1", "", ""], ""),
    "simulated_conv2d.x_zero_must_have_rank_0": (["1,2,1,1", "2,2,1,1", "", "1", ""], ""),
    "simulated_conv2d.dtype_must_be_int8_or_uint8": (
        ["1,2,1,1", "2,2,1,1", "", "", ""],
        "dtype=i16",
    ),
    "simulated_conv2d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1,1", "2,2,1,1", "", "", "1,1"],
        "",
    ),
    "simulated_conv2d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1,1", "2,2,1,1", "", "", "7"],
        "",
    ),
    "simulated_conv_transpose2d.x_must_have_rank_4": (["2", "2,2,1,1", "", "", ""], ""),
    "simulated_conv_transpose2d.weight_must_have_rank_4": (["1,2,1,1", "2", "", "", ""], ""),
    "simulated_conv_transpose2d.x_scale_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "1", "", ""],
        "",
    ),
    "simulated_conv_transpose2d.x_zero_must_have_rank_0": (["1,2,1,1", "2,2,1,1", "", "1", ""], ""),
    "simulated_conv_transpose2d.dtype_must_be_int8_or_uint8": (
        ["1,2,1,1", "2,2,1,1", "", "", ""],
        "dtype=i16",
    ),
    "simulated_conv_transpose2d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1,1", "2,2,1,1", "", "", "1,1"],
        "",
    ),
    "simulated_conv_transpose2d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1,1", "2,2,1,1", "", "", "7"],
        "",
    ),
    "simulated_conv2d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1,1", "1,40000,1,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "simulated_conv_transpose2d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1,1", "40000,1,1,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "simulated_conv3d.x_must_have_rank_5": (["2", "2,2,1,1,1", "", "", ""], ""),
    "simulated_conv3d.weight_must_have_rank_5": (["1,2,1,1,1", "2", "", "", ""], ""),
    "simulated_conv3d.x_scale_must_have_rank_0": (["1,2,1,1,1", "2,2,1,1,1", "1", "", ""], ""),
    "simulated_conv3d.x_zero_must_have_rank_0": (["1,2,1,1,1", "2,2,1,1,1", "", "1", ""], ""),
    "simulated_conv3d.dtype_must_be_int8_or_uint8": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", ""],
        "dtype=i16",
    ),
    "simulated_conv3d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", "1,1"],
        "",
    ),
    "simulated_conv3d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", "7"],
        "",
    ),
    "simulated_conv_transpose3d.x_must_have_rank_5": (["2", "2,2,1,1,1", "", "", ""], ""),
    "simulated_conv_transpose3d.weight_must_have_rank_5": (["1,2,1,1,1", "2", "", "", ""], ""),
    "simulated_conv_transpose3d.x_scale_must_have_rank_0": (
        ["1,2,1,1,1", "2,2,1,1,1", "1", "", ""],
        "",
    ),
    "simulated_conv_transpose3d.x_zero_must_have_rank_0": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "1", ""],
        "",
    ),
    "simulated_conv_transpose3d.dtype_must_be_int8_or_uint8": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", ""],
        "dtype=i16",
    ),
    "simulated_conv_transpose3d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", "1,1"],
        "",
    ),
    "simulated_conv_transpose3d.weight_scale_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1,1,1", "2,2,1,1,1", "", "", "7"],
        "",
    ),
    "simulated_conv3d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1,1,1", "1,40000,1,1,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "simulated_conv_transpose3d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1,1,1", "40000,1,1,1,1", "", "", "", "1"],
        "dtype=u8",
    ),
    "weight_only_linear.x_must_have_rank_at_least_1": (["", "4,3", "4"], ""),
    "weight_only_linear.weight_must_have_rank_2": (["2,3", "4", "4"], ""),
    "weight_only_linear.scale_must_have_rank_at_least_1": (["2,3", "4,3", ""], ""),
    "weight_only_linear.bias_must_have_rank_1": (["2,3", "4,3", "4", "1,4"], ""),
    "weight_only_linear.dimension_O_must_match": (["2,3", "4,3", "4", "5"], ""),
    "weight_only_linear.bits_must_be_4_or_8": (["2,3", "4,3", "4"], "bits=5"),
    "weight_only_linear.group_must_be_0_or_a_power_of_2_from_8_to_256": (
        ["2,24", "4,24", "4,1"],
        "group=24",
    ),
    "weight_only_linear.weight_must_have_the_numbers_of_each_column_of_x": (
        ["2,3", "4,3", "4"],
        "bits=4",
    ),
    "weight_only_linear.scale_must_have_one_for_each_channel_or_for_each_group_of_it": (
        ["2,3", "4,3", "4,1"],
        "",
    ),
    "quantized_conv2d.operands_must_have_rank_4": (["4", "2,2,3,3", "", "", "", "", "", ""], ""),
    "quantized_conv2d.channels_of_x_must_be_groups_times_those_of_weight": (
        ["1,2,4,4", "2,3,3,3", "", "", "", "", "", ""],
        "",
    ),
    "quantized_conv2d.output_channels_must_be_a_multiple_of_groups": (
        ["1,2,4,4", "3,1,3,3", "", "", "", "", "", ""],
        "groups=2",
    ),
    "quantized_conv2d.window_must_fit_into_the_padded_input": (
        ["1,2,4,4", "3,2,5,5", "", "", "", "", "", ""],
        "",
    ),
    "quantized_conv2d.weight_scale_and_bias_must_be_one_number_or_one_for_each_output_channel": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "7"],
        "",
    ),
    "quantized_conv2d.depth_must_leave_half_of_int32_to_the_bias": (
        ["1,40000,1,1", "1,40000,1,1", "", "", "", "", "", ""],
        "",
    ),
    "quantized_conv2d.residual_must_come_with_its_scale_and_zero_point": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "", "1,2,1,1"],
        "",
    ),
    "quantized_conv2d.residual_must_have_the_shape_of_the_result": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "", "1,2,1,2", "", ""],
        "",
    ),
    "quantized_conv2d.x_scale_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "1", "", "", "", "", ""],
        "",
    ),
    "quantized_conv2d.x_zero_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "", "1", "", "", "", ""],
        "",
    ),
    "quantized_conv2d.weight_scale_must_have_rank_0_to_1": (
        ["1,2,1,1", "2,2,1,1", "", "", "1,1", "", "", ""],
        "",
    ),
    "quantized_conv2d.out_scale_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "1", "", ""],
        "",
    ),
    "quantized_conv2d.out_zero_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "1", ""],
        "",
    ),
    "quantized_conv2d.bias_must_have_rank_0_to_1": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "1,1"],
        "",
    ),
    "quantized_conv2d.residual_scale_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "", "1,2,1,1", "1", ""],
        "",
    ),
    "quantized_conv2d.residual_zero_must_have_rank_0": (
        ["1,2,1,1", "2,2,1,1", "", "", "", "", "", "", "1,2,1,1", "", "1"],
        "",
    ),
}
