//===- Ops.td - every family ---------------------------------*- tablegen -*-===//
#ifndef TESS_OPS
#define TESS_OPS

include "ops/records/Activation.td"
include "ops/records/Attention.td"
include "ops/records/Color.td"
include "ops/records/Complex.td"
include "ops/records/Conv.td"
include "ops/records/Creation.td"
include "ops/records/Elementwise.td"
include "ops/records/Index.td"
include "ops/records/Fft.td"
include "ops/records/Integer.td"
include "ops/records/Linalg.td"
include "ops/records/Linear.td"
include "ops/records/LocalConv.td"
include "ops/records/Loss.td"
include "ops/records/Math.td"
include "ops/records/Movement.td"
include "ops/records/Norm.td"
include "ops/records/Optimizer.td"
include "ops/records/Pool.td"
include "ops/records/Quantized.td"
include "ops/records/Random.td"
include "ops/records/Reduction.td"
include "ops/records/Scan.td"
include "ops/records/Simulated.td"
include "ops/records/Softmax.td"
include "ops/records/View.td"
include "ops/records/Vision.td"
include "ops/records/WeightOnly.td"

#endif // TESS_OPS
