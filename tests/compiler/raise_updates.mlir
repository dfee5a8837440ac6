// RUN: tess-opt %s --tess-fuse-elementwise --tess-sink-updates=raise --split-input-file | FileCheck %s

// An update comes behind its gradient, and behind what reads the old value and what was made of it.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tess.matmul %arg0, %arg1
// CHECK: %[[G:.*]] = tess.matmul %arg0, %[[A]]
// CHECK: tess.fusion %arg1, %[[G]]
// CHECK: %[[B:.*]] = tess.matmul %arg0, %arg2
// CHECK: tess.matmul %[[B]], %arg0
// CHECK: tess.fusion %arg2
// CHECK: return
func.func @main(%x: tensor<4x4xf32>, %p: tensor<4x4xf32>, %q: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.matmul %x, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %x, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.matmul %x, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.sub %q, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tess.matmul %2, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = tess.sub %p, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An operator that may refuse its data comes first.
// CHECK-LABEL: func.func @main
// CHECK: tess.cholesky
// CHECK: tess.fusion %arg1
func.func @main(%x: tensor<4x4xf32>, %p: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.sub %p, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.cholesky %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
