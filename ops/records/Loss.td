//===- Loss.td - how far predictions are from what they should be -*- tablegen -*-===//
#ifndef TESS_OPS_LOSS
#define TESS_OPS_LOSS

include "ops/records/Index.td"

// What a loss of each place becomes.
defvar reducedLoss = " The operands broadcast; the result is the mean, the sum or each of them. The mean of none is NaN.";

class LossOp<string m, string what, string expr> : Tess_Op<m> {
  let autocast = "high";
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Composite<>;
  let oracle = Oracle<expr>;
  let python = Py<"functional.loss", m>;
}
defvar lossFacts = [Cases<"reduction", ["mean", "sum", "none"]>, Doc<"reduction", "what to do with the losses">];
defvar reductionAttr = (ins DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
class Reduced<dag loss> {
  dag all = (when<"reduction=\"none\""> loss, (when<"reduction=\"mean\""> (op<"mean"> loss), (op<"sum"> loss)));
}

//===----------------------------------------------------------------------===//
// Of class scores and class indices
//===----------------------------------------------------------------------===//
defvar classFacts = !listconcat(lossFacts, [Axis<"axis", "pred">, Doc<"axis", "axis of the classes">,
                                            Static<"axis", loopAxes>, Doc<"ignore_index", "label that does not count">]);
defvar labelOfPred = "label must have the shape of pred without the class axis";

defvar predAxis = "axis($axis, len(#pred))";
// pred with the classes along its last axis.
defvar predByClass = (when<predAxis # " == len(#pred) - 1"> $pred,
                      (op<"transpose", "pattern=" # LastAxis<"len(#pred)", predAxis>.pattern> $pred));
// Labels that are ignored stand for class 0. The others must be classes. The look-up asks for equality and the
// sum for the opposite, so that they share no value, and each is part of one kernel.
defvar ignored = (op<"scalar_tensor", "value=$ignore_index;dtype=@label">);
defvar counts = (op<"not_equal"> $label, ignored);
defvar numClasses = (piece<"extent", [predAxis, "@label"]> $pred);
defvar inClass = FromZero<(op<"where"> (op<"equal"> $label, ignored), K<"0", "label">, $label), "label", numClasses>.all;
// Halves add up as float32.
class Wide<dag x> { dag all = (when<"@pred == f64"> x, (op<"cast", "dtype=f32"> x)); }
class MeanByWeight<dag losses, dag weights> {
  dag all = (op<"cast", "dtype=@pred"> (op<"div"> (op<"sum"> Wide<losses>.all), (op<"sum"> Wide<weights>.all)));
}
// The elements of pred at the labels.
class AtLabel<string m> { dag all = (op<"pick", "caller=\"" # m # ": label\""> predByClass, inClass); }
// Weights of the labels, 1 where none are given; none of those that do not count.
class WeightOfLabel<string m, dag one> {
  dag flat = (op<"take_along_axes", "axes=[0];caller=\"" # m # ": label\""> $weight, (op<"reshape", "shape=[-1]"> inClass));
  dag given = (op<"reshape_like"> flat, $label);
  dag all = (when<"given(weight)"> given, one);
  dag counted = (op<"where"> counts, all, K<"0", "pred">);
}
defvar labelsThatCount = [{ A label that is ignore_index does not count. Any other outside of [0, C), where it is not
    masked by that, is an error when the kernel runs.}];
class ClassLoss<string m, string what, string expr> : LossOp<m, what, expr> {
  let sizes = ["$reduction == 'none' ? without(#pred, $axis) : []"];
  let requires = [Require<labelOfPred, "without(#pred, $axis) == #label", "pred {pred} and label {label}">,
      Require<"weight must have rank 1", "!given(weight) || len(#weight) == 1", "weight {weight}">,
      Require<"weight must have an element for each class", "!given(weight) || #weight[0] == #pred[$axis]",
              "pred {pred} and weight {weight}">];
  let dtypes = Promote<["pred", "weight"]>;
}

defvar crossEntropySamples = [Sample<["4,5", "4"], "", "-2; 0", "2; 5">, Sample<["2,5,3", "2,3"], "reduction=\"none\"", "-2; 0", "2; 5">,
                 Sample<["4,5", "4"], "label_smooth=0.1;reduction=\"sum\"", "-2; 0", "2; 5">,
                 Sample<["3,5", "3"], "with_logits=false", "0.1; 0", "0.9; 5">,
                 Sample<["5,4", "4"], "axis=0;label_smooth=1.0", "-2; 0", "2; 5">,
                 Sample<["7,5", "7", "5"], "ignore_index=1", "-2; 0; 0.5", "2; 5; 2">,
                 Sample<["5,5", "5", "5"], "", "-2; 0; 0.5", "2; 5; 2">,
                 Sample<["2,5,3", "2,3", "5"], "label_smooth=0.2;reduction=\"none\"", "-2; 0; 0.5", "2; 5; 2">,
                 Sample<["3,5", "3", "5"], "with_logits=false;label_smooth=0.5;ignore_index=2", "0.1; 0; 0.5", "0.9; 5; 2">];
def Tess_CrossEntropyOp : ClassLoss<"cross_entropy", "cross entropy of class scores and class indices",
    "tess_oracle.cross_entropy(pred, label, weight, axis, label_smooth, with_logits, reduction, ignore_index)"> {
  let description = !strconcat([{`loss = weight[label] * (logsumexp(pred) - pred[label])` along axis, and of probabilities
    `-weight[label] * log(pred[label])`; the result is each of them, their sum, or that divided by the sum of the weights
    of the labels, which are 1 where none are given: NaN where none counts. With label_smooth s it is `(1 - s) * loss` and
    s times the mean of the losses of all classes: C. Szegedy et al.: Rethinking the Inception Architecture, CVPR 2016.}],
    labelsThatCount);
  defvar pred = (when<"$with_logits"> predByClass, (op<"log"> predByClass));
  defvar picked = AtLabel<"cross_entropy">.all;
  defvar hit = (when<"$with_logits"> picked, (op<"log"> picked));
  defvar even = (op<"mul"> (op<"mean", "axes=[-1]"> pred), K<"$label_smooth", "pred">);
  defvar rest = (op<"full", "shape=[];value=1.0 - $label_smooth;dtype=@pred">);
  defvar score = (when<"$label_smooth != 0.0"> (op<"add"> even, (op<"mul"> hit, rest)), hit);
  defvar total = (op<"logsumexp", "axes=[-1]"> pred);
  defvar plain = (when<"$with_logits"> (op<"sub"> total, score), (op<"neg"> score));
  // With weights each class has its own share of the smoothed loss.
  defvar ofLabel = (when<"$with_logits"> (op<"sub"> total, hit), (op<"neg"> hit));
  defvar ofEach = (when<"$with_logits"> (op<"sub"> (op<"expand_dims", "axis=[-1]"> total), pred), (op<"neg"> pred));
  defvar evenly = (op<"mul"> (op<"mean", "axes=[-1]"> (op<"mul"> ofEach, $weight)), K<"$label_smooth", "pred">);
  defvar weights = WeightOfLabel<"cross_entropy", (op<"cast", "dtype=@pred"> counts)>;
  defvar sharp = (op<"mul"> weights.given, ofLabel);
  defvar smooth = (when<"$label_smooth != 0.0"> (op<"add"> evenly, (op<"mul"> sharp, rest)), sharp);
  defvar losses = (op<"where"> counts, (when<"given(weight)"> smooth, plain), K<"0", "pred">);
  let forward = [(when<"reduction=\"mean\""> MeanByWeight<losses, weights.counted>.all, Reduced<losses>.all)];
  let arguments = (ins Tess_Float:$pred, Tess_Index:$label, Optional<Tess_Float>:$weight,
                   DefaultValuedAttr<SI64Attr, "1">:$axis, DefaultValuedAttr<F64Attr, "0.0">:$label_smooth,
                   DefaultValuedAttr<BoolAttr, "true">:$with_logits, DefaultValuedStrAttr<StrAttr, "mean">:$reduction,
                   Runtime<DefaultValuedAttr<SI64Attr, "-100">>:$ignore_index);
  let attrFacts = !listconcat(classFacts, [Range<"label_smooth", "0", "1">,
      Doc<"label_smooth", "share of the loss spread evenly over all classes">,
      Doc<"with_logits", "pred holds logits, not probabilities">,
      Static<"label_smooth", "without smoothing a term and its reduction are left out">]);
  let samples = crossEntropySamples;
  let onnx = "SoftmaxCrossEntropyLoss(...)";
  let version = 2;
  let upgrades = ["1: default ignore_index -100"];
}
def Tess_NllLossOp : ClassLoss<"nll_loss", "negative log likelihood of class indices",
    "tess_oracle.nll_loss(pred, label, weight, axis, ignore_index, reduction)"> {
  let description = !strconcat([{`loss = -weight[label] * pred[label]` along axis, of logarithms of probabilities; without
    weight that is 1. The result is each of them, their sum, or that divided by the sum of their weights, which is NaN
    where none counts. As PyTorch's nll_loss.}], labelsThatCount);
  defvar weights = WeightOfLabel<"nll_loss", (same K<"1", "pred">)>;
  defvar score = AtLabel<"nll_loss">.all;
  defvar losses = (op<"where"> counts, (op<"neg"> (op<"mul"> weights.all, score)), K<"0", "pred">);
  // The mean is that of PyTorch: divided by the weights of the labels that count.
  let forward = [(when<"reduction=\"mean\""> MeanByWeight<losses, weights.counted>.all, Reduced<losses>.all)];
  let arguments = (ins Tess_Float:$pred, Tess_Index:$label, Optional<Tess_Float>:$weight,
                   DefaultValuedAttr<SI64Attr, "1">:$axis, Runtime<DefaultValuedAttr<SI64Attr, "-100">>:$ignore_index,
                   DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let attrFacts = classFacts;
  let samples = [Sample<["4,5", "4"], "", "-2; 0", "0; 5">,
                 Sample<["6,5", "6", "5"], "ignore_index=1", "-2; 0; 0.5", "0; 5; 2">,
                 Sample<["5,5", "5", "5"], "", "-2; 0; 0.5", "0; 5; 2">,
                 Sample<["2,5,3", "2,3"], "reduction=\"none\";ignore_index=2", "-2; 0", "0; 5">,
                 Sample<["5,4", "4", "5"], "axis=0;reduction=\"sum\"", "-2; 0; 0.5", "0; 5; 2">,
                 Sample<["5,4", "4"], "axis=0", "-2; 0", "0; 5">];
  let onnx = "NegativeLogLikelihoodLoss(...)";
}

//===----------------------------------------------------------------------===//
// Of two tensors
//===----------------------------------------------------------------------===//
defvar difference = (op<"sub"> $pred, $label);
defvar distance = (op<"abs"> difference);
// d - c / 2 for c = min(d, limit): times c it is the parabola up to the limit and the line beyond. As no branch is left
// out, the gradient of an infinite d is that of the line.
class LineBeyond<string limit> {
  dag parabola = (op<"minimum"> distance, K<limit, "pred">);
  dag line = (op<"sub"> distance, (op<"mul"> parabola, K<"0.5", "pred">));
}
class PairLoss<string m, string what, string expr> : LossOp<m, what, expr> {
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label), reductionAttr);
  let dtypes = PromoteFloat<["pred", "label"]>;
  let attrFacts = lossFacts;
  let constraints = ["pred and label must broadcast"];
  let samples = [Sample<["4,5", "4,5"]>, Sample<["4,5", "5"], "reduction=\"none\"">, Sample<["", ""], "reduction=\"sum\"">];
}
def Tess_SquareLossOp : PairLoss<"square_loss", "square of the difference",
                                 "tess_oracle.reduce(np.square(pred - label), reduction)"> {
  let description = !strconcat("`loss = (pred - label)^2`.", reducedLoss);
  let forward = [Reduced<(op<"square"> difference)>.all];
}
def Tess_L1LossOp : PairLoss<"l1_loss", "absolute difference",
                             "tess_oracle.reduce(np.abs(pred - label), reduction)"> {
  let description = !strconcat("`loss = |pred - label|`.", reducedLoss);
  let forward = [Reduced<distance>.all];
}
def Tess_SmoothL1LossOp : PairLoss<"smooth_l1_loss", "absolute difference, a parabola where it is small",
    "tess_oracle.smooth_l1_loss(pred, label, reduction, beta)"> {
  let description = !strconcat([{`loss = d^2 / (2 * beta)` where `d = |pred - label|` is below beta, `d - beta / 2`
    elsewhere: huber_loss divided by beta, and with beta 0 l1_loss. R. Girshick: Fast R-CNN, ICCV 2015.}], reducedLoss);
  defvar part = LineBeyond<"$beta">;
  defvar isL1 = (op<"equal"> K<"$beta", "pred">, K<"0", "pred">);
  defvar divisor = (op<"where"> isL1, K<"1", "pred">, K<"$beta", "pred">);
  defvar slope = (op<"where"> isL1, K<"1", "pred">, (op<"div"> part.parabola, divisor));
  let forward = [Reduced<(op<"mul"> slope, part.line)>.all];
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label), reductionAttr,
                       (ins Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$beta));
  let attrFacts = !listconcat(lossFacts, [Range<"beta", "0", "">,
                                          Doc<"beta", "difference at which the parabola ends">]);
  let samples = [Sample<["4,5", "4,5"]>, Sample<["4,5", "5"], "reduction=\"none\";beta=0.5">,
                 Sample<["", ""], "reduction=\"sum\";beta=2.0">, Sample<["4,5", "4,1"], "beta=0.0">];
}
def Tess_HuberLossOp : PairLoss<"huber_loss", "half the square of the difference, a line where it is large",
    "tess_oracle.huber_loss(pred, label, reduction, delta)"> {
  let description = !strconcat([{`loss = d^2 / 2` where `d = |pred - label|` is not above delta, `delta * (d - delta / 2)`
    elsewhere. P. J. Huber: Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35, 1964.}],
    reducedLoss);
  defvar part = LineBeyond<"$delta">;
  let forward = [Reduced<(op<"mul"> part.parabola, part.line)>.all];
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label), reductionAttr,
                       (ins Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$delta));
  let attrFacts = !listconcat(lossFacts, [Range<"delta", "0", "">,
                                          Doc<"delta", "difference at which the line begins">]);
  let samples = [Sample<["4,5", "4,5"]>, Sample<["4,5", "5"], "reduction=\"none\";delta=0.5">,
                 Sample<["", ""], "reduction=\"sum\";delta=2.0">, Sample<["4,5", "4,1"], "delta=0.0">];
}
def Tess_KlDivOp : PairLoss<"kl_div", "divergence of a distribution from the logarithm of another",
                            "tess_oracle.kl_div(pred, label, reduction, log_target)"> {
  let description = !strconcat([{`loss = label * (log(label) - pred)`, where a label of 0 has `label * log(label)` 0, or of
    logarithms, with log_target, `exp(label) * (label - pred)`; batchmean is the sum divided by the size of axis 0. S.
    Kullback, R. A. Leibler: On Information and Sufficiency, Annals of Mathematical Statistics 22, 1951, in the form
    that PyTorch's kl_div has.}], reducedLoss);
  // The logarithm is not taken of a label of 0, whose gradient would be infinite.
  defvar isZero = (op<"equal"> $label, K<"0", "label">);
  defvar logOfLabel = (op<"log"> (op<"where"> isZero, K<"1", "label">, $label));
  defvar ofLogarithms = (op<"mul"> (op<"exp"> $label), (op<"sub"> $label, $pred));
  defvar losses = (when<"$log_target"> ofLogarithms, (op<"mul"> $label, (op<"sub"> logOfLabel, $pred)));
  defvar byBatch = (when<"len(#pred) > 0 || len(#label) > 0"> (op<"mean", "axes=[0]"> losses), losses);
  let forward = [(when<"$reduction == 'batchmean'"> (op<"sum"> byBatch), Reduced<losses>.all)];
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label), reductionAttr,
                       (ins DefaultValuedAttr<BoolAttr, "false">:$log_target));
  let attrFacts = [Cases<"reduction", ["mean", "batchmean", "sum", "none"]>,
                   Doc<"reduction", "what to do with the losses">, Doc<"log_target", "label holds logarithms">];
  let samples = [Sample<["4,5", "4,5"], "", "-2; 0.1", "0; 1">,
                 Sample<["4,5", "5"], "reduction=\"none\"", "-2; 0.1", "0; 1">,
                 Sample<["", ""], "reduction=\"batchmean\"", "-2; 0.1", "0; 1">,
                 Sample<["4,5,2", "4,5,2"], "reduction=\"batchmean\"", "-2; 0.1", "0; 1">,
                 Sample<["4,5", "4,5"], "reduction=\"sum\";log_target=true", "-2", "0">];
}
// share * log(p), and 0 where both are 0: the logarithm is not taken there, as its gradient would be NaN.
class Share<dag share, dag p> {
  dag areZero = (op<"logical_and"> (op<"equal"> share, K<"0", "pred">), (op<"equal"> p, K<"0", "pred">));
  dag all = (op<"mul"> share, (op<"log"> (op<"where"> areZero, K<"1", "pred">, p)));
}
def Tess_BinaryCrossEntropyOp : PairLoss<"binary_cross_entropy", "cross entropy of two classes",
    "tess_oracle.binary_cross_entropy(pred, label, with_logits, reduction)"> {
  let description = !strconcat([{`loss = -(label * log(p) + (1 - label) * log(1 - p))`, p being pred or, with_logits,
    `sigmoid(pred)`, for which `softplus(pred) - pred * label` is computed: that does not overflow. Probabilities of 0
    and 1 give 0 where they are right, else inf.}], reducedLoss);
  defvar one = K<"1", "pred">;
  defvar hit = Share<(same $label), (same $pred)>.all;
  defvar miss = Share<(op<"sub"> one, $label), (op<"sub"> one, $pred)>.all;
  let forward = [Reduced<(when<"with_logits=true"> (op<"sub"> (op<"softplus"> $pred), (op<"mul"> $pred, $label)),
                          (op<"neg"> (op<"add"> hit, miss)))>.all];
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label, DefaultValuedAttr<BoolAttr, "true">:$with_logits),
                       reductionAttr);
  let attrFacts = !listconcat(lossFacts, [Doc<"with_logits", "pred holds logits, not probabilities">]);
  let samples = [Sample<["4,5", "4,5"], "", "-4; 0", "4; 1">,
                 Sample<["4,5", "5"], "reduction=\"none\"", "-4; 0", "4; 1">,
                 Sample<["", ""], "reduction=\"sum\";with_logits=false", "0.1; 0", "0.9; 1">,
                 Sample<["3,5", "3,5"], "with_logits=false", "0.1; 0", "0.9; 1">];
}
def Tess_HingeLossOp : PairLoss<"hinge_loss", "how far scores of classes are from the right side",
                                "tess_oracle.hinge_loss(pred, label, norm, reduction)"> {
  let description = !strconcat([{`loss = sum(max(0, 1 - pred * label))` along axis 1, each term squared with norm L2;
    labels are 1 or -1, and where `pred * label` is 1 the gradient is 0. C. Cortes, V. Vapnik: Support-Vector Networks,
    Machine Learning 20, 1995.}], reducedLoss);
  defvar term = (op<"relu"> (op<"sub"> K<"1", "pred">, (op<"mul"> $pred, $label)));
  let forward = [Reduced<(op<"sum", "axes=[1]"> (when<"norm=\"L2\""> (op<"square"> term), term))>.all];
  let arguments = !con((ins Tess_Float:$pred, Tess_Float:$label, DefaultValuedStrAttr<StrAttr, "L1">:$norm),
                       reductionAttr);
  let attrFacts = !listconcat(lossFacts, [Cases<"norm", ["L1", "L2"]>, Doc<"norm", "of the distances to the margin">]);
  let constraints = ["pred and label must broadcast to rank 2 or more"];
  let samples = [Sample<["4,5", "4,5"]>, Sample<["4,5", "5"], "reduction=\"none\";norm=\"L2\"">,
                 Sample<["2,3,4", "2,3,4"], "reduction=\"sum\"">];
}

//===----------------------------------------------------------------------===//
// Of vectors
//===----------------------------------------------------------------------===//
def Tess_CosineSimilarityOp : LossOp<"cosine_similarity", "cosine of the angle of vectors along an axis",
    "tess_oracle.cosine_similarity(x, y, axis, epsilon)"> {
  let description = [{`out = sum(x * y) / (max(norm(x), epsilon) * max(norm(y), epsilon))` along axis of the operands,
    which broadcast, in float64 inside; a vector of zeros gives 0. As PyTorch's cosine_similarity.}];
  // Squares of float32 from 2e19 on overflow. The lengths are limited before the root is taken, so that a vector of zeros
  // has a gradient.
  defvar wideX = (op<"cast", "dtype=f64"> $x);
  defvar wideY = (op<"cast", "dtype=f64"> $y);
  defvar product = (op<"mul"> wideX, wideY);
  defvar least = (op<"square"> (op<"full", "shape=[];value=$epsilon;dtype=f64">));
  defvar squareX = (op<"square"> (op<"broadcast_like"> wideX, product));
  defvar squareY = (op<"square"> (op<"broadcast_like"> wideY, product));
  defvar lengthX = (op<"sqrt"> (op<"maximum"> (op<"sum", "axes=$axis"> squareX), least));
  defvar lengthY = (op<"sqrt"> (op<"maximum"> (op<"sum", "axes=$axis"> squareY), least));
  defvar wide = (op<"div"> (op<"sum", "axes=$axis"> product), (op<"mul"> lengthX, lengthY));
  let forward = [(op<"cast", "dtype=@x"> wide)];
  let arguments = (ins Tess_Float:$x, Tess_Float:$y, DefaultValuedAttr<SI64Attr, "1">:$axis,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-8">>:$epsilon);
  let shapes = "(*D), (*D) -> (*D / axis)";
  let requires = [Require<"y must not have more axes than x", "len(#y) <= len(#x)", "x {x} and y {y}">];
  let dtypes = PromoteFloat<["x", "y"]>;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", loopAxes>, Doc<"axis", "axis of the vectors">,
                   Range<"epsilon", "0", "">, Doc<"epsilon", "smallest length that a vector counts with">];
  let samples = [Sample<["4,5", "4,5"]>, Sample<["7", "7"], "axis=0">, Sample<["2,3,4", "3,1"], "axis=-1;epsilon=0.5">,
                 Sample<["4,5", "4,5"], "epsilon=0.0">];
  let python = Py<"functional.loss", "cosine_similarity", [], "", ["epsilon=eps"]>;
}
class DistanceOf<dag difference> {
  dag all = (op<"norm", "axes=[-1];ord=$p"> (op<"add"> difference, K<"$epsilon", "anchor">));
}
def Tess_TripletMarginLossOp : LossOp<"triplet_margin_loss", "how much nearer a positive is than a negative",
    "tess_oracle.triplet_margin_loss(anchor, positive, negative, margin, p, epsilon, swap, reduction)"> {
  let description = !strconcat([{`loss = max(0, d(anchor, positive) - d(anchor, negative) + margin)` with `d(x, y) =
    (sum of |x - y + epsilon|^p)^(1 / p)` along the last axis; with swap the negative counts from the positive where that
    is nearer. V. Balntas et al.: Learning Local Feature Descriptors with Triplets and Shallow Convolutional Neural
    Networks, BMVC 2016, in the form that PyTorch's triplet_margin_loss has.}], reducedLoss);
  defvar far = DistanceOf<(op<"sub"> $anchor, $negative)>.all;
  defvar farther = (when<"swap=true"> (op<"minimum"> far, DistanceOf<(op<"sub"> $positive, $negative)>.all), far);
  defvar loss = (op<"add"> (op<"sub"> DistanceOf<(op<"sub"> $anchor, $positive)>.all, farther), K<"$margin", "anchor">);
  let forward = [Reduced<(op<"maximum"> loss, K<"0", "anchor">)>.all];
  let arguments = !con((ins Tess_Float:$anchor, Tess_Float:$positive, Tess_Float:$negative,
                        Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$margin, DefaultValuedAttr<F64Attr, "2.0">:$p,
                        Runtime<DefaultValuedAttr<F64Attr, "1e-6">>:$epsilon,
                        DefaultValuedAttr<BoolAttr, "false">:$swap), reductionAttr);
  let requires = !listconcat(!foreach(v, ["anchor", "positive", "negative"],
          Require<"operands must have rank >= 1", "len(#" # v # ") >= 1", v # " {" # v # "}">),
      [Require<"operands must broadcast", "joins(#anchor, #positive)", "anchor {anchor} and positive {positive}">,
       Require<"operands must broadcast", "joins(#anchor, #positive, #negative)", "anchor {anchor} and negative {negative}">,
       Require<"p must not be 0", "$p != 0.0", "{anchor} and p 0">]);
  let sizes = ["$reduction == 'none' ? without(broadcast(#anchor, #positive, #negative), -1) : []"];
  let dtypes = PromoteFloat<["anchor", "positive", "negative"]>;
  let attrFacts = !listconcat(lossFacts, [Doc<"margin", "by how much the negative must be farther">,
      Doc<"p", "exponent of the distance">, Static<"p", normFormulas>, Range<"epsilon", "0", "">,
      Doc<"epsilon", "added to each difference">, Doc<"swap", "take the nearer of anchor and positive">]);
  let samples = [Sample<["4,5", "4,5", "4,5"]>, Sample<["4,5", "4,5", "5"], "reduction=\"none\";swap=true;margin=0.5">,
                 Sample<["7", "7", "7"], "reduction=\"sum\";p=1.0">,
                 Sample<["4,5", "4,5", "4,5"], "p=3.0;epsilon=0.0;margin=2.0">];
  let python = Py<"functional.loss", "triplet_margin_loss", [], "", ["epsilon=eps"]>;
}

#endif // TESS_OPS_LOSS
