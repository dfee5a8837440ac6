// RUN: not tess-opt %s --split-input-file 2>&1 | FileCheck %s

// The verifier is the records' inference: same rule, same text as in eager.
// CHECK: matmul: dimension K must match, got x f32[2, 3] (K=3) and y f32[4, 5] (K=4)
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %0 = tess.matmul %x, %y : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// A fusion's region must fit its operands.
// CHECK: region arguments must have the types of the inputs
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.fusion %x attributes {axes = array<i64>} {
  ^bb0(%a: tensor<5xf32>):
    %1 = tess.exp %a : (tensor<5xf32>) -> tensor<5xf32>
    tess.yield %1 : tensor<5xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The text of an attribute may be of no value that the record knows.
// CHECK: cast: dtype must be
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.cast %x {dtype = "f33"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
