// RUN: tess-opt %s --tess-fit-memory=limit=160 | FileCheck %s

// Memory holds two of three products at once, so the first one is made again before its second reader.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tess.matmul %arg0, %arg0
// CHECK: %[[B:.*]] = tess.matmul %arg0, %[[A]]
// CHECK: %[[C:.*]] = tess.matmul %arg0, %[[B]]
// CHECK: %[[AGAIN:.*]] = tess.matmul %arg0, %arg0
// CHECK: tess.matmul %[[AGAIN]], %[[C]]
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tess.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %x, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.matmul %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.matmul %0, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
