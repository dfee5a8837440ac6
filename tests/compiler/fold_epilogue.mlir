// RUN: tess-opt %s --tess-fold-epilogue --split-input-file | FileCheck %s

// Scale, shift and relu of a convolution join the call, in their order.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %arg0, %arg1, %arg2, %arg3 attributes {axes = array<i64>}
// CHECK: tess.conv2d
// CHECK-NEXT: tess.mul
// CHECK-NEXT: tess.add
// CHECK-NEXT: tess.relu
// CHECK-NEXT: tess.yield
func.func @main(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %a: tensor<1x4x1x1xf32>, %b: tensor<4x1x1xf32>) -> tensor<?x4x6x6xf32> {
  %0 = tess.conv2d %x, %w : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x6x6xf32>
  %1 = tess.mul %0, %a : (tensor<?x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<?x4x6x6xf32>
  %2 = tess.add %b, %1 : (tensor<4x1x1xf32>, tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  %3 = tess.relu %2 : (tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  return %3 : tensor<?x4x6x6xf32>
}

// -----

// A value with a second reader must leave the call as it is: what follows stays outside.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = tess.fusion %arg0, %arg1, %arg2
// CHECK: tess.matmul
// CHECK: tess.add
// CHECK: tess.yield
// CHECK: tess.relu %[[SUM]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>) {
  %0 = tess.matmul %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %1 = tess.add %0, %b : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8x5xf32>
  %2 = tess.relu %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  return %1, %2 : tensor<8x5xf32>, tensor<8x5xf32>
}

// -----

// The same when the other reader is an operator before.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = tess.fusion %arg0, %arg1, %arg2
// CHECK: tess.yield
// CHECK: tess.exp %[[SUM]]
// CHECK: tess.relu %[[SUM]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>) {
  %0 = tess.matmul %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %1 = tess.add %0, %b : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8x5xf32>
  %2 = tess.exp %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  %3 = tess.relu %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
  return %2, %3 : tensor<8x5xf32>, tensor<8x5xf32>
}

// -----

// The operand is there when the call runs, also when it is computed after the product in the program.
// CHECK-LABEL: func.func @main
// CHECK: %[[BIAS:.*]] = tess.exp
// CHECK: tess.fusion %arg0, %arg1, %[[BIAS]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<8x5xf32> {
  %0 = tess.matmul %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %1 = tess.exp %b : (tensor<5xf32>) -> tensor<5xf32>
  %2 = tess.add %0, %1 : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8x5xf32>
  return %2 : tensor<8x5xf32>
}

// -----

// An operand along another axis than the channels must stay outside: the library would round another way.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x5xf32>, %b: tensor<8x1xf32>) -> tensor<8x5xf32> {
  %0 = tess.matmul %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %1 = tess.add %0, %b : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  return %1 : tensor<8x5xf32>
}

// -----

// An operand whose size is not known could make the result larger: it must stay outside.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x?xf32>, %b: tensor<?xf32>) -> tensor<8x?xf32> {
  %0 = tess.matmul %x, %w : (tensor<8x4xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  %1 = tess.add %0, %b : (tensor<8x?xf32>, tensor<?xf32>) -> tensor<8x?xf32>
  return %1 : tensor<8x?xf32>
}

// -----

// An operation that takes no epilogue keeps none, and a number is made by the kernel that reads it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<1x2x4x4xf32>, %y: tensor<8x4xf32>, %w: tensor<4x5xf32>) -> (tensor<1x2x2x2xf32>, tensor<8x5xf32>) {
  %0 = tess.avg_pool2d %x {kernel_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = tess.relu %0 : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %c = tess.full {shape = array<i64>, value = 5.000000e-01 : f64, dtype = "f32"} : () -> tensor<f32>
  %2 = tess.matmul %y, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %3 = tess.mul %2, %c : (tensor<8x5xf32>, tensor<f32>) -> tensor<8x5xf32>
  return %1, %3 : tensor<1x2x2x2xf32>, tensor<8x5xf32>
}
