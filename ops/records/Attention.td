//===- Attention.td - values averaged by similarity ----------*- tablegen -*-===//
#ifndef TESS_OPS_ATTENTION
#define TESS_OPS_ATTENTION

include "ops/records/Base.td"

defvar attentionScale = [Doc<"scale", "factor of the products; none: 1 / sqrt(E)">];
// The axes of an operand before the last two.
class Leading<string operand> { string sizes = "[#" # operand # "[i] for i < len(#" # operand # ") - 2]"; }
defvar leadingAxes = !interleave([Leading<"query">.sizes, Leading<"key">.sizes, Leading<"value">.sizes], ", ");
// The factor of the products, for each query.
def AttentionScale {
  dag all = (when<"given(scale)"> K<"$scale", "query">,
                                  (op<"rsqrt"> (piece<"count", ["[len(#query) - 1]", "@query"]> $query)));
}
// Rows reduced to one element.
class LastReduced<string reduction, dag x, string attrs = ""> {
  dag all = (op<reduction, "axes=[-1];keepdims=true" # attrs> x);
}

// The shape of the weights, with leading axes of these.
class WeightSizes<string leading> { string all = "[*broadcast(" # leading # "), #query[-2], #key[-2]]"; }
def AttentionNever { dag all = (op<"full", "shape=[];value=-inf;dtype=@query">); }
// Scores that the softmax is taken of: -inf for a key that takes no part.
def AttentionScores {
  // The queries are scaled rather than the scores: products of half floats then overflow no sooner than necessary, and a
  // query is copied for the product anyway.
  defvar scores = (op<"matmul", "transpose_y=true"> (op<"mul"> $query, AttentionScale.all), $key);
  defvar chosen = (op<"where"> $attn_mask, scores, AttentionNever.all);
  defvar biased = (op<"add"> scores, (op<"cast", "dtype=@query"> $attn_mask));
  defvar withMask = (when<"given(attn_mask)"> (when<"@attn_mask == bool"> chosen, biased), scores);
  defvar seen = (op<"tril"> (piece<"as", ["bool"]> (op<"full_like", "value=1.0"> withMask)));
  dag all = (when<"$is_causal"> (op<"where"> seen, withMask, AttentionNever.all), withMask);
}
def AttentionWeights {
  defvar masked = AttentionScores.all;
  // A mask may leave no key, and all scores are -inf.
  defvar zero = K<"0", "query">;
  defvar top = LastReduced<"max", masked, ";allow_empty=true">.all;
  defvar exps = (op<"exp"> (op<"sub"> masked, (op<"where"> (op<"isfinite"> top), top, zero)));
  defvar total = LastReduced<"sum", exps>.all;
  defvar ofMasked = (op<"div"> exps, (op<"where"> (op<"equal"> total, zero), K<"1", "query">, total));
  dag all = (when<"given(attn_mask)"> ofMasked, (op<"softmax", "axis=-1"> masked));
  // The same with every leading axis of the result, because the values may have leading axes of their own.
  defvar sizes = WeightSizes<leadingAxes>.all;
  defvar ownSizes = WeightSizes<!interleave([Leading<"query">.sizes, Leading<"key">.sizes], ", ")>.all;
  defvar zeros = (op<"full_like", "value=0.0"> (op<"matmul"> all, $value));
  defvar repeated = (when<"all(hasSize(" # sizes # "[i]) for i < len(" # sizes # "))">
      (op<"broadcast_to", "shape=" # sizes> all), (op<"add"> all, LastReduced<"sum", zeros>.all));
  dag spread = (when<"isSame(" # ownSizes # ", " # sizes # ")"> all, repeated);
}
// The gradient of an operand; that of the weights is handed on where there is one.
class AttentionGradient<string operand> {
  dag ofBoth = (op<"scaled_dot_product_attention_backward", "scale=$scale"> $query, $key, $value, $weights, $dout, $dweights);
  dag ofOut = (op<"scaled_dot_product_attention_backward", "scale=$scale"> $query, $key, $value, $weights, $dout);
  dag all = (when<"given(dweights)"> (result<operand> ofBoth), (result<operand> ofOut));
}

def Tess_ScaledDotProductAttentionOp : Tess_Op<"scaled_dot_product_attention"> {
  let autocast = "low";
  let summary = "values averaged by how much each query is like each key";
  let description = [{`weights = softmax(scale * query @ key^T + attn_mask)` over the S keys, `out = weights @
    value`: A. Vaswani et al.: Attention Is All You Need, NeurIPS 2017, eq. 1. A mask of bool says which keys take
    part, a mask of floats is added. With is_causal, query i sees keys 0 to i only, whatever L and S are, and of
    these what the mask leaves. The weights and the result of a query that no key is left for are 0.}];
  let arguments = (ins Tess_Float:$query, Tess_Float:$key, Tess_Float:$value, Optional<Tess_FloatOrBool>:$attn_mask,
                   DefaultValuedAttr<BoolAttr, "false">:$is_causal, Runtime<OptionalAttr<F64Attr>>:$scale);
  let results = (outs Tess_Float:$out, Tess_Float:$weights);
  let shapes = "(*B, L, E), (*B, S, E), (*B, S, V), (*M)? -> (*B, L, V), (*B, L, S)";
  defvar scores = WeightSizes<leadingAxes>.all;
  let requires = [Require<"attn_mask must broadcast to the weights", "!given(attn_mask) || fits(#attn_mask, " # scores # ")",
                          "attn_mask {attn_mask} and weights {" # scores # "}">];
  let dtypes = Promote<["query", "key", "value"]>;
  let lowering = Composite<>;
  let forward = [(op<"matmul"> AttentionWeights.all, $value), AttentionWeights.spread];
  let gradient = [AttentionGradient<"dquery">.all, AttentionGradient<"dkey">.all, AttentionGradient<"dvalue">.all,
                  AttentionGradient<"dscores">.all];
  let attrFacts = !listconcat(attentionScale, [Doc<"is_causal", "no query sees a later key">]);
  let samples = [Sample<["2,3,4", "2,5,4", "2,5,6"]>, Sample<["3,4", "5,4", "5,2", "3,5"]>,
                 Sample<["2,2,5,3", "2,2,5,3", "2,2,5,3"], "is_causal=true">,
                 Sample<["4,3,2", "3,2", "4,3,5", "4,1,3"], "is_causal=true;scale=0.5">,
                 Sample<["2,1,3,2", "1,2,4,2", "2,4,1", ""], "scale=2.0">, Sample<["0,2,3", "0,4,3", "0,4,2"]>,
                 Sample<["2,3", "0,3", "0,2"]>, Sample<["2,3,4", "2,3,4", "2,3,0"], "scale=-1.0">,
                 Sample<["2,4", "3,4", "2,3,5"]>, Sample<["1,2,4", "1,3,4", "3,3,2"], "is_causal=true">];
  let oracle = Oracle<"tess_oracle.attention(query, key, value, attn_mask, is_causal, scale)">;
  let python = Py<"functional.nn", "scaled_dot_product_attention">;
  let onnx = "Attention(...)";
}
def Tess_ScaledDotProductAttentionBackwardOp : Tess_Op<"scaled_dot_product_attention_backward"> {
  let summary = "gradients of attention by the gradients of its result and its weights";
  let description = [{`dvalue = weights^T @ dout`; with `d = dout @ value^T + dweights` (dweights 0 where not
    given), `dscores = weights * (d - sum(weights * d))` over the S keys is the gradient of what the softmax is
    taken of, and of the mask; `dquery = scale * dscores @ key`, `dkey = scale * dscores^T @ query`.}];
  let arguments = (ins Tess_Float:$query, Tess_Float:$key, Tess_Float:$value, Tess_Float:$weights, Tess_Float:$dout,
                   Optional<Tess_Float>:$dweights, Runtime<OptionalAttr<F64Attr>>:$scale);
  let results = (outs Tess_Float:$dquery, Tess_Float:$dkey, Tess_Float:$dvalue, Tess_Float:$dscores);
  let shapes = "(*B, L, E), (*B, S, E), (*B, S, V), (*B, L, S), (*B, L, V), (*B, L, S)? -> (*B, L, E), (*B, S, E), (*B, S, V), (*B, L, S)";
  defvar leading = !strconcat("broadcast(", leadingAxes, ", ", Leading<"dout">.sizes, ", given(dweights) ? ", Leading<"dweights">.sizes, " : [])");
  let requires = [Require<"weights must have every leading axis", Leading<"weights">.sizes # " == " # leading,
                          "weights {weights} and leading axes {" # leading # "}">];
  let dtypes = Promote<["query", "key", "value", "weights", "dout", "dweights"]>;
  let lowering = Composite<>;
  defvar dvalue = (op<"matmul", "transpose_x=true"> $weights, $dout);
  defvar ofOut = (op<"matmul", "transpose_y=true"> $dout, $value);
  defvar dweights = (when<"given(dweights)"> (op<"add"> ofOut, $dweights), ofOut);
  defvar dot = LastReduced<"sum", (op<"mul"> $weights, dweights)>.all;
  defvar dscores = (op<"mul"> $weights, (op<"sub"> dweights, dot));
  defvar dquery = (op<"mul"> (op<"matmul"> dscores, $key), AttentionScale.all);
  defvar dkey = (op<"matmul", "transpose_x=true"> dscores, (op<"mul"> $query, AttentionScale.all));
  let forward = [dquery, dkey, dvalue, dscores];
  let attrFacts = attentionScale;
  let samples = [Sample<["2,3,4", "2,5,4", "2,5,6", "2,3,5", "2,3,6"]>,
                 Sample<["3,4", "5,4", "5,2", "3,5", "3,2", "3,5"], "scale=0.5">,
                 Sample<["4,3,2", "3,2", "4,3,5", "4,3,3", "4,3,5"]>,
                 Sample<["0,2,3", "0,4,3", "0,4,2", "0,2,4", "0,2,2"]>];
  let oracle = Oracle<"tess_oracle.attention_backward(query, key, value, weights, dout, dweights, scale)">;
  let python = Py<"functional.nn", "scaled_dot_product_attention_backward">;
}
//===----------------------------------------------------------------------===//
// Attention whose weights are never in memory
//===----------------------------------------------------------------------===//
defvar attentionAttrs = (ins DefaultValuedAttr<BoolAttr, "false">:$is_causal, OptionalAttr<F64Attr>:$scale);
defvar attentionFacts = [Doc<"is_causal", "no query sees a later key">, BindTime<"is_causal">, BindTime<"scale">,
                         attentionScale[0]];
defvar sameAttention = "is_causal=$is_causal;scale=$scale";
def AttentionMaskFits : Require<"attn_mask must broadcast to the weights",
    "!given(attn_mask) || fits(#attn_mask, " # WeightSizes<leadingAxes>.all # ")",
    "attn_mask {attn_mask} and weights {" # WeightSizes<leadingAxes>.all # "}">;
// A value of each query beside its keys.
class OfQuery<dag x> { dag all = (op<"expand_dims", "axis=[-1]"> x); }
// The sums where a graph is made of half floats, before it is made of float32.
def AttentionSums { dag all = (op<"cast", "dtype=@query"> $logsumexp); }
// Weights again, and the gradient of scores by that of the result.
class AttentionAgain<dag delta> {
  defvar isBlind = (op<"equal"> AttentionSums.all, AttentionNever.all);
  defvar base = OfQuery<(op<"where"> isBlind, K<"0", "query">, AttentionSums.all)>.all;
  dag weights = (op<"exp"> (op<"sub"> AttentionScores.all, base));
  dag dweights = (op<"sub"> (op<"matmul", "transpose_y=true"> $dout, $value), OfQuery<delta>.all);
  dag dscores = (op<"mul"> weights, dweights);
}
def Tess_AttentionOp : Tess_Op<"attention"> {
  let autocast = "low";
  let summary = "values averaged by how much each query is like each key, without a matrix of weights";
  let description = [{`out` is that of scaled_dot_product_attention, and `logsumexp` the logarithm of the sum of
    exponentials of what its softmax is taken of: `weights = exp(scores - logsumexp)`; -inf for a query that no key is
    left for. It is float32 for half floats. Memory grows with L and S, not with their product: T. Dao et al.:
    FlashAttention, arXiv:2205.14135.}];
  let arguments = !con((ins Tess_Float:$query, Tess_Float:$key, Tess_Float:$value, Optional<Tess_FloatOrBool>:$attn_mask),
                       attentionAttrs);
  let results = (outs Tess_Float:$out, Tess_WideFloat:$logsumexp);
  let shapes = "(*B, L, E), (*B, S, E), (*B, S, V), (*M)? -> (*B, L, V), (*B, L)";
  let requires = [AttentionMaskFits];
  let dtypes = Promote<["query", "key", "value"]>;
  let lowering = Library<"attention">;
  let multiplyAdds = ["product(#logsumexp)", "#key[-2]", "#query[-1] + #value[-1]"];
  defvar dot = (op<"sum", "axes=[-1]"> (op<"mul"> $dout, $out));
  defvar delta = (when<"given(dlogsumexp)"> (op<"sub"> dot, (op<"cast", "dtype=@query"> $dlogsumexp)), dot);
  defvar sums = AttentionSums.all;
  defvar withMask = (op<"attention_backward", sameAttention> $query, $key, $value, sums, delta, $dout, $attn_mask);
  defvar plain = (op<"attention_backward", sameAttention> $query, $key, $value, sums, delta, $dout);
  let gradient = !listconcat(!foreach(operand, ["dquery", "dkey", "dvalue"],
      (when<"given(attn_mask)"> (result<operand> withMask), (result<operand> plain))), [AttentionAgain<delta>.dscores]);
  let attrFacts = attentionFacts;
  let samples = [Sample<["2,3,4", "2,5,4", "2,5,6"]>, Sample<["3,4", "5,4", "5,2", "3,5"]>,
                 Sample<["2,2,5,3", "2,2,5,3", "2,2,5,3"], "is_causal=true">,
                 Sample<["4,3,2", "3,2", "4,3,5", "4,1,3"], "is_causal=true;scale=0.5">,
                 Sample<["2,1,3,2", "1,2,4,2", "2,4,1", ""], "scale=2.0">, Sample<["0,2,3", "0,4,3", "0,4,2"]>,
                 Sample<["2,3", "0,3", "0,2"]>, Sample<["2,3,4", "2,3,4", "2,3,0"], "scale=-1.0">,
                 Sample<["2,4", "3,4", "2,3,5"]>, Sample<["1,2,4", "1,3,4", "3,3,2"], "is_causal=true">];
  let oracle = Oracle<"tess_oracle.attention_and_sums(query, key, value, attn_mask, is_causal, scale)">;
  let python = Py<"functional.nn", "attention">;
  let onnx = "Attention(...)";
}
def Tess_AttentionBackwardOp : Tess_Op<"attention_backward"> {
  let summary = "gradients of attention by the gradient of its result";
  let description = [{With `weights = exp(scores - logsumexp)`, where scores are those of attention, and `dscores =
    weights * (dout @ value^T - delta)`: `dquery = scale * dscores @ key`, `dkey = scale * dscores^T @ query`, `dvalue =
    weights^T @ dout`. delta is `sum(dout * out)` over V, less the gradient of logsumexp.}];
  let arguments = !con((ins Tess_Float:$query, Tess_Float:$key, Tess_Float:$value, Tess_Float:$logsumexp, Tess_Float:$delta,
                            Tess_Float:$dout, Optional<Tess_FloatOrBool>:$attn_mask), attentionAttrs);
  let results = (outs Tess_Float:$dquery, Tess_Float:$dkey, Tess_Float:$dvalue);
  let shapes = "(*B, L, E), (*B, S, E), (*B, S, V), (*B, L), (*B, L), (*B, L, V), (*M)? -> (*B, L, E), (*B, S, E), (*B, S, V)";
  let requires = [AttentionMaskFits];
  let dtypes = Promote<["query", "key", "value", "logsumexp", "delta", "dout"]>;
  let lowering = Library<"attention_backward">;
  let multiplyAdds = ["product(without(#dout, len(#dout) - 1))", "#key[-2]", "3 * #query[-1] + 2 * #value[-1]"];
  defvar again = AttentionAgain<(same $delta)>;
  // The gradients by what arrives at dquery and dkey, of dscores; and by all that arrives, of the weights.
  defvar ofQuery = (op<"matmul", "transpose_y=true"> $ddquery, $key);
  defvar ofKey = (op<"matmul", "transpose_y=true"> $query, $ddkey);
  defvar arriving = (op<"mul"> (op<"add"> ofQuery, ofKey), AttentionScale.all);
  defvar weighted = (op<"mul"> again.weights, arriving);
  defvar ofValue = (op<"matmul", "transpose_y=true"> $dout, $ddvalue);
  defvar scores = (op<"mul"> again.weights, (op<"add"> ofValue, (op<"mul"> arriving, again.dweights)));
  defvar query = (op<"add"> (op<"matmul"> again.dscores, $ddkey), (op<"matmul"> scores, $key));
  defvar key = (op<"add"> (op<"matmul", "transpose_x=true"> again.dscores, $ddquery),
                          (op<"matmul", "transpose_x=true"> scores, $query));
  let gradient = [(op<"mul"> query, AttentionScale.all), (op<"mul"> key, AttentionScale.all),
                  (op<"matmul", "transpose_x=true"> weighted, $dout), (op<"neg"> (op<"sum", "axes=[-1]"> scores)),
                  (op<"neg"> (op<"sum", "axes=[-1]"> weighted)),
                  (op<"add"> (op<"matmul"> again.weights, $ddvalue), (op<"matmul"> weighted, $value)), scores];
  let attrFacts = attentionFacts;
  let samples = [Sample<["2,3,4", "2,5,4", "2,5,6", "2,3", "2,3", "2,3,6"]>,
                 Sample<["3,4", "5,4", "5,2", "3", "3", "3,2", "3,5"], "scale=0.5">,
                 Sample<["4,3,2", "3,2", "4,3,5", "4,3", "3", "4,3,5", "4,1,3"], "is_causal=true">,
                 Sample<["0,2,3", "0,4,3", "0,4,2", "0,2", "0,2", "0,2,2"]>];
  let oracle = Oracle<"tess_oracle.gradients_of_attention(query, key, value, logsumexp, delta, dout, attn_mask, is_causal, scale)">;
  let python = Py<"functional.nn", "attention_backward">;
}
def Tess_RotaryEmbeddingOp : Tess_Op<"rotary_embedding"> {
  let summary = "pairs of elements turned by an angle that tells the position";
  let description = [{`out = (a * cos - b * sin, b * cos + a * sin)` for the pairs (a, b) of the last axis: a its first half
    and b its second one, or, interleaved, each two neighbours. cos and sin, of the angles of each position, broadcast to
    the pairs and are converted to the dtype of x. J. Su et al.: RoFormer: Enhanced Transformer with Rotary Position
    Embedding, arXiv:2104.09864.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$cos, Tess_Float:$sin,
                   DefaultValuedAttr<BoolAttr, "false">:$interleaved);
  let results = (outs Tess_Float:$out);
  let shapes = "(*B, D), (*P), (*P) -> (*B, D)";
  defvar pairs = "[*without(#x, -1), #x[-1] // 2]";
  let requires = !listconcat([Require<"last axis of x must have an even size", "divides(2, #x[-1])", "x {x}">],
      !foreach(v, ["cos", "sin"], Require<"cos and sin must broadcast to the pairs of x", "fits(#" # v # ", " # pairs # ")",
                                          "x {x} and " # v # " {" # v # "}">));
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar rank = "len(#x)";
  defvar lastAxis = rank # " - 1";
  defvar a = (when<"$interleaved"> Slice<(same $x), rank, lastAxis, "0", "", "2">.all,
                                   Slice<(same $x), rank, lastAxis, "0", "#x[-1] // 2">.all);
  defvar b = (when<"$interleaved"> Slice<(same $x), rank, lastAxis, "1", "", "2">.all,
                                   Slice<(same $x), rank, lastAxis, "#x[-1] // 2", "">.all);
  defvar cos = (op<"cast", "dtype=@x"> $cos);
  defvar sin = (op<"cast", "dtype=@x"> $sin);
  defvar turned = (op<"sub"> (op<"mul"> a, cos), (op<"mul"> b, sin));
  defvar beside = (op<"add"> (op<"mul"> b, cos), (op<"mul"> a, sin));
  defvar neighbours = (op<"flatten", "start_axis=-2"> (op<"stack", "axis=-1"> turned, beside));
  let forward = [(must<"size of the last axis must be known", "hasSize(#x[-1])", "{x}">
      (when<"$interleaved"> neighbours, (op<"concat", "axis=-1"> turned, beside)))];
  let attrFacts = [Doc<"interleaved", "pairs are neighbours">, BindTime<"interleaved">];
  let samples = [Sample<["5,3,8", "3,4", "3,4"]>, Sample<["5,3,8", "3,4", "3,4"], "interleaved=true">,
                 Sample<["6", "3", ""]>, Sample<["0,4", "2", "2"]>];
  let oracle = Oracle<"tess_oracle.rotary_embedding(x, cos, sin, interleaved)">;
  let python = Py<"functional.nn", "rotary_embedding", [], "", ["x=inp"]>;
  let onnx = "RotaryEmbedding(...)";
}

#endif // TESS_OPS_ATTENTION
