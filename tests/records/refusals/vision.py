"""For each constraint of the operators of images a call that breaks it, as in refusals.py."""

IMAGES = "2,3,4,5"
EMPTY = "2,3,0,5"
PAIR = "out_shape=[2, 2]"
BINS = "output_shape=[2, 2]"
KERNEL = "kernel_size=[2, 2]"
WHOLE = "output_size=[4, 5];kernel_size=[2, 2]"
WEIGHT = "4,3,2,3"
REGIONS = ["2,4,5", "2,3,3"]
MOVED = ["2,12,3,3", "2,6,3,3"]
BOXES = ["2,5", "2,2,2,2"]
PARTS = "output_shape=[2, 2];sample_per_part=1"

VISION = {
    "correlation.operands_must_have_rank_4": ([IMAGES, "3,4,5"], ""),
    "correlation.x_and_y_must_have_the_same_shape": ([IMAGES, "2,3,5,5"], ""),
    "correlation.kernel_size_must_be_odd": ([IMAGES, IMAGES], "kernel_size=2"),
    "correlation.patches_and_their_displacements_must_fit_into_the_padded_images": (
        [IMAGES, IMAGES],
        "max_displacement=2",
    ),
    "cvt_color.x_must_have_rank_4": (["4,5,3"], "mode=RGB2BGR"),
    "cvt_color.last_axis_of_x_must_have_the_channels_of_mode": ([IMAGES], "mode=RGB2BGR"),
    "cvt_color.height_of_x_must_be_a_multiple_of_3_and_its_width_even_for_planes_of_colours": (
        ["1,4,4,1"],
        "mode=YUV2RGB_NV12",
    ),
    "flip.axes_must_be_distinct_axes_of_x": (["2,3"], "axes=[1, -1]"),
    "nms.boxes_must_have_rank_2": (["4", "4"], "iou_thresh=0.5"),
    "nms.scores_must_have_rank_1": (["3,4", "3,1"], "iou_thresh=0.5"),
    "nms.boxes_must_have_four_ends_each": (["3,5", "3"], "iou_thresh=0.5"),
    "nms.there_must_be_a_score_for_each_box": (["3,4", "4"], "iou_thresh=0.5"),
    "remap.x_must_have_rank_4": (["3,4,5", "2,1,1,2"], ""),
    "remap.map_xy_must_have_rank_4": ([IMAGES, "1,1,2"], ""),
    "remap.dimension_N_must_match": ([IMAGES, "3,1,1,2"], ""),
    "remap.dimension_3_of_map_xy_must_be_2": ([IMAGES, "2,1,1,3"], ""),
    "remap.height_and_width_of_x_must_not_be_0": ([EMPTY, "2,1,1,2"], ""),
    "resize.x_must_have_rank_at_least_2": (["3"], "size=[2]"),
    "resize.x_must_have_rank_3_to_5": (["2,3"], "size=[]"),
    "resize.size_must_have_an_entry_for_each_axis_after_the_channels": ([IMAGES], "size=[2]"),
    "resize.axes_after_the_channels_must_not_be_empty": ([EMPTY], "size=[2, 2]"),
    "resize.align_corners_must_be_false_where_mode_is_nearest": (
        [IMAGES],
        "size=[2, 2];mode=nearest;align_corners=true",
    ),
    "roi_align.x_must_have_rank_4": (["3,4,5", "2,5"], BINS),
    "roi_align.rois_must_have_rank_2": ([IMAGES, "5"], BINS),
    "roi_align.dimension_1_of_rois_must_be_5": ([IMAGES, "2,4"], BINS),
    "roi_align.height_and_width_of_x_must_not_be_0": ([EMPTY, "2,5"], BINS),
    "roi_pooling.x_must_have_rank_4": (["3,4,5", "2,5"], BINS),
    "roi_pooling.rois_must_have_rank_2": ([IMAGES, "5"], BINS),
    "roi_pooling.dimension_1_of_rois_must_be_5": ([IMAGES, "2,4"], BINS),
    "roi_pooling.height_and_width_of_x_must_not_be_0": ([EMPTY, "2,5"], BINS),
    "warp_affine.x_must_have_rank_4": (["3,4,5", "2,2,3"], PAIR),
    "warp_affine.mat_must_have_rank_3": ([IMAGES, "2,3"], PAIR),
    "warp_affine.dimension_N_must_match": ([IMAGES, "3,2,3"], PAIR),
    "warp_affine.dimension_1_of_mat_must_be_2": ([IMAGES, "2,3,3"], PAIR),
    "warp_affine.dimension_2_of_mat_must_be_3": ([IMAGES, "2,2,2"], PAIR),
    "warp_affine.height_and_width_of_x_must_not_be_0": ([EMPTY, "2,2,3"], PAIR),
    "warp_perspective.x_must_have_rank_4": (["3,4,5", "2,3,3", "2"], PAIR),
    "warp_perspective.mat_must_have_rank_3": ([IMAGES, "3,3", "2"], PAIR),
    "warp_perspective.mat_idx_must_have_rank_1": ([IMAGES, "1,3,3", ""], PAIR),
    "warp_perspective.dimension_B_must_match": ([IMAGES, "3,3,3", "2"], PAIR),
    "warp_perspective.dimension_1_of_mat_must_be_3": ([IMAGES, "2,2,3", "2"], PAIR),
    "warp_perspective.dimension_2_of_mat_must_be_3": ([IMAGES, "2,3,2", "2"], PAIR),
    "warp_perspective.height_and_width_of_x_must_not_be_0": ([EMPTY, "2,3,3", "2"], PAIR),
    "sliding_window.x_must_have_rank_4": (["4,5"], KERNEL),
    "sliding_window.window_must_fit_into_the_padded_input": ([IMAGES], "kernel_size=[5, 1]"),
    "sliding_window_transpose.x_must_have_rank_6": ([IMAGES], WHOLE),
    "sliding_window_transpose.x_must_have_the_windows_of_output_size": (["2,3,3,5,2,2"], WHOLE),
    "sliding_window_transpose.window_must_fit_into_the_padded_input": (
        ["2,3,3,4,2,2"],
        "output_size=[4, 1];kernel_size=[2, 2]",
    ),
    "local_conv2d.x_must_have_rank_4": (["3,4,5", "1,4,5,3,1,1,1"], ""),
    "local_conv2d.weight_must_have_rank_7": ([IMAGES, WEIGHT], ""),
    "local_conv2d.channels_of_x_must_be_those_of_weight": ([IMAGES, "2,4,5,3,1,1,1"], ""),
    "local_conv2d.weight_must_have_the_height_and_width_of_the_result": (
        [IMAGES, "1,4,4,3,1,1,1"],
        "",
    ),
    "local_conv2d.window_must_fit_into_the_padded_input": ([IMAGES, "1,4,5,3,5,1,1"], ""),
    "region_restricted_conv.x_must_have_rank_4": (["3,4,5", WEIGHT, *REGIONS], ""),
    "region_restricted_conv.weight_must_have_rank_4": ([IMAGES, "4,3", *REGIONS], ""),
    "region_restricted_conv.rin_must_have_rank_3": ([IMAGES, WEIGHT, "4,5", "2,3,3"], ""),
    "region_restricted_conv.rout_must_have_rank_3": ([IMAGES, WEIGHT, "2,4,5", "3,3"], ""),
    "region_restricted_conv.channels_of_x_must_be_groups_times_those_of_weight": (
        [IMAGES, WEIGHT, *REGIONS],
        "groups=3",
    ),
    "region_restricted_conv.output_channels_must_be_a_multiple_of_groups": (
        [IMAGES, "4,1,2,3", *REGIONS],
        "groups=3",
    ),
    "region_restricted_conv.window_must_fit_into_the_padded_input": (
        [IMAGES, "4,3,5,1", *REGIONS],
        "",
    ),
    "region_restricted_conv.rin_must_have_the_places_of_x_and_rout_those_of_the_result": (
        [IMAGES, WEIGHT, "2,4,5", "2,3,2"],
        "",
    ),
    "deformable_conv2d.x_must_have_rank_4": (["3,4,5", WEIGHT, *MOVED], ""),
    "deformable_conv2d.weight_must_have_rank_4": ([IMAGES, "4,3", *MOVED], ""),
    "deformable_conv2d.offset_must_have_rank_4": ([IMAGES, WEIGHT, "12,3,3", MOVED[1]], ""),
    "deformable_conv2d.mask_must_have_rank_4": ([IMAGES, WEIGHT, MOVED[0], "6,3,3"], ""),
    "deformable_conv2d.channels_of_x_must_be_groups_times_those_of_weight": (
        [IMAGES, WEIGHT, *MOVED],
        "groups=3",
    ),
    "deformable_conv2d.output_channels_must_be_a_multiple_of_groups": (
        [IMAGES, "4,1,2,3", *MOVED],
        "groups=3",
    ),
    "deformable_conv2d.window_must_fit_into_the_padded_input": ([IMAGES, "4,3,5,1", *MOVED], ""),
    "deformable_conv2d.offset_and_mask_must_have_channels_for_blocks_of_windows": (
        [IMAGES, WEIGHT, "2,12,3,2", MOVED[1]],
        "",
    ),
    "deformable_psroi_pooling.x_must_have_rank_4": (["3,4,5", *BOXES], PARTS),
    "deformable_psroi_pooling.rois_must_have_rank_2": ([IMAGES, "5", BOXES[1]], PARTS),
    "deformable_psroi_pooling.trans_must_have_rank_4": ([IMAGES, BOXES[0], "2,2,2"], PARTS),
    "deformable_psroi_pooling.dimension_1_of_rois_must_be_5": ([IMAGES, "2,4", BOXES[1]], PARTS),
    "deformable_psroi_pooling.dimension_K_must_match": ([IMAGES, "3,5", BOXES[1]], PARTS),
    "deformable_psroi_pooling.dimension_P_must_match": ([IMAGES, BOXES[0], "2,2,2,3"], PARTS),
    "deformable_psroi_pooling.height_and_width_of_x_must_not_be_0": ([EMPTY, *BOXES], PARTS),
    "deformable_psroi_pooling.trans_must_have_two_channels_for_each_block_of_channels_of_x": (
        [IMAGES, BOXES[0], "2,4,2,2"],
        PARTS,
    ),
}
