//===- Norm.td - normalisation -------------------------------*- tablegen -*-===//
#ifndef TESS_OPS_NORM
#define TESS_OPS_NORM

include "ops/Base.td"

defvar batchParameters = "parameters must have shape [1, C, 1, ...] for x [N, C, ...]";

def Tess_BatchNormOp : Tess_Op<"batch_norm"> {
  let summary = "normalisation by the statistics of the batch";
  let description = [{For each channel: `out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var
    those of the batch. The running statistics become `momentum * running + (1 - momentum) * batch`, the
    variance of the batch unbiased. x has rank 2 to 5; the parameters have shape [1, C, 1, ...]. S. Ioffe, C.
    Szegedy: Batch Normalization, ICML 2015.}];
  let keepsAxes = 1;
  let arguments = (ins Tess_Float:$x, Tess_Float:$scale, Tess_Float:$bias, Tess_Float:$running_mean,
                   Tess_Float:$running_var, Runtime<DefaultValuedAttr<F64Attr, "0.9">>:$momentum,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let results = (outs Tess_Float:$out, Tess_Float:$new_mean, Tess_Float:$new_var, Tess_Float:$save_mean,
                 Tess_Float:$save_inv_std);
  let hidden = ["save_mean", "save_inv_std"];
  let shapeRule = "batchNorm";
  let dtypes = RuleGives;
  let lowering = Composite<"batchNorm">;
  let gradientRule = "batchNorm";
  let attrFacts = [Range<"momentum", "0", "1">, Range<"epsilon", "0", "">,
                   Doc<"momentum", "weight of the old running statistics">, Doc<"epsilon", "added to the variance">];
  let constraints = ["x must have rank 2 to 5", batchParameters, "parameters must have one dtype"];
  let samples = [Sample<["4,3,5,6", "1,3,1,1", "1,3,1,1", "1,3,1,1", "1,3,1,1"], "", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=0.5", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["2,3,7", "1,3,1", "1,3,1", "1,3,1", "1,3,1"], "epsilon=0.001", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=0.0", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["6,3", "1,3", "1,3", "1,3", "1,3"], "momentum=1.0;epsilon=0.0", "-2; 0.5; -1; -1; 0.5", "2">];
  let oracle = Oracle<"tess_oracle.batch_norm(x, scale, bias, running_mean, running_var, momentum, epsilon)">;
  let python = Py<"functional.nn", "batch_norm">;
}
def Tess_BatchNormInferenceOp : Tess_Op<"batch_norm_inference"> {
  let summary = "normalisation by given statistics";
  let description = [{`out = x * a + b` with `a = scale / sqrt(var + epsilon)` and `b = bias - mean * a`, for
    each channel. x has rank 2 to 5; the parameters have shape [1, C, 1, ...]. S. Ioffe, C. Szegedy: Batch
    Normalization, ICML 2015.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$scale, Tess_Float:$bias, Tess_Float:$mean, Tess_Float:$var,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D), (*P), (*P), (*P), (*P) -> (*D)";
  let check = "batchParameters";
  let dtypes = Same<"x">;
  let lowering = Composite<"batchNormInference">;
  let attrFacts = [Range<"epsilon", "0", "">, Doc<"epsilon", "added to the variance">];
  let constraints = ["x must have rank 2 to 5", batchParameters, "parameters must have one dtype"];
  let samples = [Sample<["4,3,5,6", "1,3,1,1", "1,3,1,1", "1,3,1,1", "1,3,1,1"], "", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["4,3", "1,3", "1,3", "1,3", "1,3"], "epsilon=0.0", "-2; 0.5; -1; -1; 0.5", "2">,
                 Sample<["0,3", "1,3", "1,3", "1,3", "1,3"], "", "-2; 0.5; -1; -1; 0.5", "2">];
  let oracle = Oracle<"(x - mean) / np.sqrt(var + epsilon) * scale + bias">;
  let python = Py<"functional.nn", "batch_norm_inference">;
  let onnx = "BatchNormalization";
}

class TrailingNorm<string m, string what, string expr, list<Trait> more = []> : Tess_Op<m, more> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let check = "trailingNorm";
  let dtypes = Same<"x">;
  let attrFacts = [Range<"axes", "1", "8">, Static<"axes", loopAxes>, Range<"epsilon", "0", "">,
                   Doc<"axes", "number of last axes to normalise over">, Doc<"epsilon", "added before the root">];
  let constraints = ["axes must not be above the rank of x", "parameters must have the last axes of x",
                     "operands must have one dtype"];
  let oracle = Oracle<expr>;
  let python = Py<"functional.nn", m>;
}
def Tess_LayerNormOp : TrailingNorm<"layer_norm", "normalisation over the last axes",
                                    "tess_oracle.layer_norm(x, scale, bias, axes, epsilon)",
                                    [AttrSizedOperandSegments]> {
  let description = [{`out = (x - mean) / sqrt(var + epsilon) * scale + bias`, mean and var taken over the last
    axes, var divided by their number of elements. J. L. Ba, J. R. Kiros, G. E. Hinton: Layer Normalization,
    arXiv:1607.06450.}];
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, Optional<Tess_Float>:$bias,
                   DefaultValuedAttr<SI64Attr, "1">:$axes, Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let shapes = "(*D), (*P)?, (*P)? -> (*D)";
  let lowering = Composite<"layerNorm">;
  let samples = [Sample<["2,3,8"]>, Sample<["4,8", "8", "8"]>, Sample<["4,3,8", "3,8", "3,8"], "axes=2">,
                 Sample<["4,8", "8", "8"], "epsilon=0.0">, Sample<["0,8", "8", "8"]>];
  let onnx = "LayerNormalization";
}
def Tess_RmsNormOp : TrailingNorm<"rms_norm", "division by the root mean square over the last axes",
                                  "tess_oracle.rms_norm(x, scale, axes, epsilon)"> {
  let description = [{`out = x / sqrt(mean(x * x) + epsilon) * scale`, the mean taken over the last axes. B.
    Zhang, R. Sennrich: Root Mean Square Layer Normalization, NeurIPS 2019.}];
  let arguments = (ins Tess_Float:$x, Optional<Tess_Float>:$scale, DefaultValuedAttr<SI64Attr, "1">:$axes,
                   Runtime<DefaultValuedAttr<F64Attr, "1e-5">>:$epsilon);
  let shapes = "(*D), (*P)? -> (*D)";
  let lowering = Composite<"rmsNorm">;
  let samples = [Sample<["2,3,8"]>, Sample<["4,8", "8"]>, Sample<["4,3,8", "3,8"], "axes=2">, Sample<["4,8", "8"], "epsilon=0.0">];
}

#endif // TESS_OPS_NORM
