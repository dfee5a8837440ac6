"""For each constraint of the operators of images a call that breaks it, as in refusals.py."""

IMAGES = "2,3,4,5"
EMPTY = "2,3,0,5"
PAIR = "out_shape=[2, 2]"
BINS = "output_shape=[2, 2]"

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
}
