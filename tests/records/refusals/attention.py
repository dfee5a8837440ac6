"""For each constraint of attention a call that breaks it, as in refusals.py."""

ATTENTION = {
    "attention.query_must_have_rank_at_least_2": (["3", "5,3", "5,2"], ""),
    "attention.key_must_have_rank_at_least_2": (["4,3", "3", "5,2"], ""),
    "attention.value_must_have_rank_at_least_2": (["4,3", "5,3", "5"], ""),
    "attention.dimensions_B_must_broadcast": (["2,4,3", "3,5,3", "5,2"], ""),
    "attention.dimension_E_must_match": (["4,3", "5,2", "5,2"], ""),
    "attention.dimension_S_must_match": (["4,3", "5,3", "6,2"], ""),
    "attention.attn_mask_must_broadcast_to_the_weights": (["4,3", "5,3", "5,2", "4,4"], ""),
    "attention_backward.query_must_have_rank_at_least_2": (
        ["3", "5,3", "5,2", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.key_must_have_rank_at_least_2": (
        ["4,3", "3", "5,2", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.value_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.logsumexp_must_have_rank_at_least_1": (
        ["4,3", "5,3", "5,2", "", "4", "4,2"],
        "",
    ),
    "attention_backward.delta_must_have_rank_at_least_1": (
        ["4,3", "5,3", "5,2", "4", "", "4,2"],
        "",
    ),
    "attention_backward.dout_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5,2", "4", "4", "2"],
        "",
    ),
    "attention_backward.dimensions_B_must_broadcast": (
        ["2,4,3", "3,5,3", "5,2", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.dimension_L_must_match": (
        ["4,3", "5,3", "5,2", "3", "4", "4,2"],
        "",
    ),
    "attention_backward.dimension_E_must_match": (
        ["4,3", "5,2", "5,2", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.dimension_S_must_match": (
        ["4,3", "5,3", "6,2", "4", "4", "4,2"],
        "",
    ),
    "attention_backward.dimension_V_must_match": (
        ["4,3", "5,3", "5,2", "4", "4", "4,3"],
        "",
    ),
    "attention_backward.attn_mask_must_broadcast_to_the_weights": (
        ["4,3", "5,3", "5,2", "4", "4", "4,2", "4,4"],
        "",
    ),
    "rotary_embedding.x_must_have_rank_at_least_1": (["", "2", "2"], ""),
    "rotary_embedding.dimensions_P_must_broadcast": (["4", "2", "3"], ""),
    "rotary_embedding.last_axis_of_x_must_have_an_even_size": (["5", "2", "2"], ""),
    "rotary_embedding.cos_and_sin_must_broadcast_to_the_pairs_of_x": (["4", "4", "4"], ""),
    "scaled_dot_product_attention.query_must_have_rank_at_least_2": (["3", "5,3", "5,2"], ""),
    "scaled_dot_product_attention.key_must_have_rank_at_least_2": (["4,3", "3", "5,2"], ""),
    "scaled_dot_product_attention.value_must_have_rank_at_least_2": (["4,3", "5,3", "5"], ""),
    "scaled_dot_product_attention.dimensions_B_must_broadcast": (["2,4,3", "3,5,3", "5,2"], ""),
    "scaled_dot_product_attention.dimension_E_must_match": (["4,3", "5,2", "5,2"], ""),
    "scaled_dot_product_attention.dimension_S_must_match": (["4,3", "5,3", "6,2"], ""),
    "scaled_dot_product_attention.attn_mask_must_broadcast_to_the_weights": (
        ["4,3", "5,3", "5,2", "4,4"],
        "",
    ),
    "scaled_dot_product_attention_backward.query_must_have_rank_at_least_2": (
        ["3", "5,3", "5,2", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.key_must_have_rank_at_least_2": (
        ["4,3", "3", "5,2", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.value_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.weights_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5,2", "5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dout_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5,2", "4,5", "2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dweights_must_have_rank_at_least_2": (
        ["4,3", "5,3", "5,2", "4,5", "4,2", "5"],
        "",
    ),
    "scaled_dot_product_attention_backward.dimensions_B_must_broadcast": (
        ["2,4,3", "3,5,3", "5,2", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dimension_L_must_match": (
        ["4,3", "5,3", "5,2", "4,5", "3,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dimension_E_must_match": (
        ["4,3", "5,2", "5,2", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dimension_S_must_match": (
        ["4,3", "5,3", "6,2", "4,5", "4,2"],
        "",
    ),
    "scaled_dot_product_attention_backward.dimension_V_must_match": (
        ["4,3", "5,3", "5,2", "4,5", "4,3"],
        "",
    ),
    "scaled_dot_product_attention_backward.weights_must_have_every_leading_axis": (
        ["2,4,3", "5,3", "5,2", "4,5", "4,2"],
        "",
    ),
}
