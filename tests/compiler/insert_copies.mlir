// RUN: tess-opt %s --tess-insert-copies --split-input-file | FileCheck %s

// A call and a kernel that reduces share one copy of a view; an elementwise kernel must not have one.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[T:.*]] = tess.transpose %arg0
// CHECK-NEXT: %[[C:.*]] = tess.copy %[[T]] : (tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: tess.matmul %[[C]], %arg1
// CHECK-NEXT: tess.fusion %[[C]] attributes {axes = array<i64: 1>}
// CHECK: tess.fusion %[[T]] attributes {axes = array<i64>}
// CHECK-NOT: tess.copy
func.func @main(%x: tensor<5x4xf32>, %y: tensor<5x6xf32>) -> (tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x5xf32>) {
  %t = tess.transpose %x : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %0 = tess.matmul %t, %y : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = tess.fusion %t attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<4x5xf32>):
    %3 = tess.sum %a {axes = array<i64: 1>, keepdims = true} : (tensor<4x5xf32>) -> tensor<4x1xf32>
    tess.yield %3 : tensor<4x1xf32>
  } : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %2 = tess.fusion %t attributes {axes = array<i64>} {
  ^bb0(%a: tensor<4x5xf32>):
    %3 = tess.relu %a : (tensor<4x5xf32>) -> tensor<4x5xf32>
    tess.yield %3 : tensor<4x5xf32>
  } : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0, %1, %2 : tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x5xf32>
}

// -----

// A view that cannot show the memory of its operand shows a copy; one that can must not.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = tess.transpose %arg0
// CHECK-NEXT: %[[C:.*]] = tess.copy %[[T]]
// CHECK-NEXT: tess.reshape %[[C]]
// CHECK-NEXT: tess.reshape %arg0
// CHECK-NEXT: tess.matmul
func.func @main(%x: tensor<5x4xf32>) -> tensor<2x2xf32> {
  %t = tess.transpose %x : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %0 = tess.reshape %t {shape = array<i64: 2, 10>} : (tensor<4x5xf32>) -> tensor<2x10xf32>
  %1 = tess.reshape %x {shape = array<i64: 10, 2>} : (tensor<5x4xf32>) -> tensor<10x2xf32>
  %2 = tess.matmul %0, %1 : (tensor<2x10xf32>, tensor<10x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// Inputs, views, and what is an output twice have memory of their own; the first of two must not be copied.
// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]] = tess.expand_dims %arg0
// CHECK: %[[P:.*]] = tess.matmul
// CHECK-NEXT: %[[A:.*]] = tess.copy %arg0
// CHECK-NEXT: %[[B:.*]] = tess.copy %[[V]]
// CHECK-NEXT: %[[C:.*]] = tess.copy %[[P]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[P]], %[[C]]
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<1x4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %v = tess.expand_dims %x {axis = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  %p = tess.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %x, %v, %p, %p : tensor<4x4xf32>, tensor<1x4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A yielded value has memory of its own: an argument that becomes another value is copied, a carried value that stays must not
// be. A constant that only kernels read stays a view.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = tess.transpose
// CHECK-NEXT: tess.scan %[[T]], %arg1, %arg2
// CHECK: ^bb0(%[[W:.*]]: tensor<3x3xf32>, %[[A:.*]]: tensor<3x3xf32>, %[[B:.*]]: tensor<3x3xf32>):
// CHECK: tess.fusion %[[W]]
// CHECK: %[[C:.*]] = tess.copy %[[A]]
// CHECK-NEXT: tess.yield %[[A]], %[[C]]
func.func @main(%w: tensor<3x3xf32>, %x: tensor<3x3xf32>, %y: tensor<3x3xf32>) -> tensor<4x3x3xf32> {
  %t = tess.transpose %w : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %0:3 = tess.scan %t, %x, %y attributes {constants = 1 : si64, carried = 2 : si64, length = 4 : si64} {
  ^bb0(%c: tensor<3x3xf32>, %a: tensor<3x3xf32>, %b: tensor<3x3xf32>):
    %1 = tess.fusion %c attributes {axes = array<i64>} {
    ^bb0(%d: tensor<3x3xf32>):
      %2 = tess.exp %d : (tensor<3x3xf32>) -> tensor<3x3xf32>
      tess.yield %2 : tensor<3x3xf32>
    } : (tensor<3x3xf32>) -> tensor<3x3xf32>
    tess.yield %a, %a, %1 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
  } : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<4x3x3xf32>)
  return %0#2 : tensor<4x3x3xf32>
}
