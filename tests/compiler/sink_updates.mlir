// RUN: tess-opt %s --tess-fuse-elementwise --tess-sink-updates --split-input-file | FileCheck %s

// The first update waits for the second product, so that both updates are neighbours.
// CHECK-LABEL: func.func @main
// CHECK: tess.matmul
// CHECK: tess.matmul
// CHECK: tess.fusion %arg1
// CHECK: tess.fusion %arg2
// CHECK: return
func.func @main(%x: tensor<4x4xf32>, %p: tensor<4x4xf32>, %q: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.matmul %x, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.sub %p, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.matmul %x, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.sub %q, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A kernel whose result is read, and a reduction, must stay where they are.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %arg0 {{.*}}axes = array<i64: 0>
// CHECK: %[[E:.*]] = tess.fusion %arg0 {{.*}}axes = array<i64>
// CHECK: tess.matmul %arg0, %[[E]]
func.func @main(%x: tensor<4x4xf32>) -> (tensor<1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.sum %x {axes = array<i64: 0>, keepdims = true} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = tess.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.matmul %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
