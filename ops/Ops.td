//===- Ops.td - every family ---------------------------------*- tablegen -*-===//
#ifndef TESS_OPS
#define TESS_OPS

include "ops/Activation.td"
include "ops/Creation.td"
include "ops/Elementwise.td"
include "ops/Linear.td"
include "ops/Math.td"
include "ops/Reduction.td"
include "ops/View.td"

#endif // TESS_OPS
