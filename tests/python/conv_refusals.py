"""Calls that break the constraints of convolutions, in one to three dimensions."""


def _shapes(dims, *shapes):
    """Those of images with as many axes as there are dimensions: without height, or with depth 1."""

    def of(shape):
        sizes = shape.split(",")
        if len(sizes) < 4:
            return shape
        outer = [] if dims == 1 else [*["1"] * (dims - 2), sizes[2]]
        return ",".join([*sizes[:2], *outer, sizes[3]])

    return [of(shape) for shape in shapes]


def _refused(image, weight, dout):
    """Of the gradients: what is wrong, and by which x, weight and gradient of the result."""
    return {
        "channels_of_x_must_be_groups_times_those_of_weight": (image, "3,1,3,3", dout, ""),
        "output_channels_must_be_a_multiple_of_groups": (image, "3,1,3,3", dout, "groups=2"),
        "window_must_fit_into_the_padded_input": (image, "3,2,5,5", dout, ""),
        "dout_must_have_the_shape_of_the_convolutions_result": (image, weight, "1,3,2,3", ""),
        "dimension_N_must_match": (image, weight, "2,3,2,2", ""),
        "dimension_O_must_match": (image, weight, "1,4,2,2", ""),
    }


def conv_refusals(dims):
    """All of `dims` dimensions, by label."""
    image, weight, dout = "1,2,4,4", "3,2,3,3", "1,3,2,2"
    name, rank = f"conv{dims}d", f"must_have_rank_{dims + 2}"
    least = "must_have_rank_at_least_2"
    data, of_weight = f"{name}_backward_data", f"{name}_backward_weight"
    rows = {
        f"{name}.operands_{rank}": (["4", "2,2,3,3"], ""),
        f"{name}.channels_of_x_must_be_groups_times_those_of_weight": ([image, "2,3,3,3"], ""),
        f"{name}.output_channels_must_be_a_multiple_of_groups": ([image, "3,1,3,3"], "groups=2"),
        f"{name}.window_must_fit_into_the_padded_input": ([image, "3,2,5,5"], ""),
        f"{data}.operands_{rank}": ([weight, "1,3", image], ""),
        f"{data}.weight_{least}": (["3", dout, image], ""),
        f"{data}.dout_{least}": ([weight, "2", image], ""),
        f"{data}.like_{least}": ([weight, dout, "4"], ""),
        f"{of_weight}.operands_{rank}": (["1,2", dout, weight], ""),
        f"{of_weight}.x_{least}": (["4", dout, weight], ""),
        f"{of_weight}.dout_{least}": ([image, "2", weight], ""),
        f"{of_weight}.like_{least}": ([image, dout, "3"], ""),
        **_transposed(f"conv_transpose{dims}d", dims, rank),
    }
    for what, (x, w, d, attrs) in _refused(image, weight, dout).items():
        rows[f"{data}.{what}"] = ([w, d, x], attrs)
        rows[f"{of_weight}.{what}"] = ([x, d, w], attrs)
    return {label: (_shapes(dims, *shapes), attrs) for label, (shapes, attrs) in rows.items()}


def _transposed(name, dims, rank):
    image, more, far = "1,3,4,4", [0] * (dims - 1) + [1], [0] * (dims - 1) + [5]
    return {
        f"{name}.operands_{rank}": (["4", "2,2,3,3"], ""),
        f"{name}.channels_of_x_must_be_those_of_weight": ([image, "2,3,3,3"], ""),
        f"{name}.channels_of_x_must_be_a_multiple_of_groups": ([image, "3,1,3,3"], "groups=2"),
        f"{name}.output_padding_must_be_below_strides": (
            [image, "3,2,3,3"],
            f"output_padding={more}",
        ),
        f"{name}.padding_must_leave_elements_of_the_result": (
            [image, "3,2,3,3"],
            f"padding={far}",
        ),
    }
