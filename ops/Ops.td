//===- Ops.td - every family ---------------------------------*- tablegen -*-===//
#ifndef TESS_OPS
#define TESS_OPS

include "ops/Activation.td"
include "ops/Attention.td"
include "ops/Color.td"
include "ops/Complex.td"
include "ops/Conv.td"
include "ops/Creation.td"
include "ops/Elementwise.td"
include "ops/Index.td"
include "ops/Fft.td"
include "ops/Linalg.td"
include "ops/Linear.td"
include "ops/LocalConv.td"
include "ops/Loss.td"
include "ops/Math.td"
include "ops/Movement.td"
include "ops/Norm.td"
include "ops/Optimizer.td"
include "ops/Pool.td"
include "ops/Quantized.td"
include "ops/Random.td"
include "ops/Reduction.td"
include "ops/Scan.td"
include "ops/Softmax.td"
include "ops/View.td"
include "ops/Vision.td"

#endif // TESS_OPS
