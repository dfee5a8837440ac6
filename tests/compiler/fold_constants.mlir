// RUN: tess-opt %s --tess-fold-constants --split-input-file | FileCheck %s

// What depends on constants only is computed: 2 * sqrt([1, 4, 9, 16]) = [2, 4, 6, 8].
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = tess.constant dense_resource<folded> : tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = tess.add %arg0, %[[C]]
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tess.constant dense_resource<squares> : tensor<4xf32> : tensor<4xf32>
  %two = tess.full {shape = array<i64>, value = 2.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.sqrt %c : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.mul %0, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = tess.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// The bytes of the four floats.
// CHECK: folded: "0x4000000000000040000080400000C04000000041"
{-# dialect_resources: { builtin: { squares: "0x040000000000803F000080400000104100008041" } } #-}

// -----

// A number stays one, which kernels make themselves: 3 - 1 = 2.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = tess.full
// CHECK-SAME: 2.000000e+00
// CHECK-NEXT: tess.mul %arg0, %[[C]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = tess.full {shape = array<i64>, value = 3.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %one = tess.full {shape = array<i64>, value = 1.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.sub %three, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = tess.mul %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A result far larger than what it is made of must not go into a file, and a kernel makes `full` and `arange` itself.
// CHECK-LABEL: func.func @main
// CHECK: tess.arange
// CHECK: tess.full
// CHECK: tess.add
func.func @main(%x: tensor<1024x1024xf32>, %y: tensor<8xf32>) -> (tensor<1024x1024xf32>, tensor<8xf32>) {
  %a = tess.arange {num = 8 : si64, start = 0.0 : f64, step = 1.0 : f64, dtype = "f32"} : () -> tensor<8xf32>
  %f = tess.full {shape = array<i64: 1024, 1024>, value = 1.0 : f64, dtype = "f32"} : () -> tensor<1024x1024xf32>
  %0 = tess.exp %f : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = tess.add %x, %0 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = tess.add %y, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<1024x1024xf32>, tensor<8xf32>
}

// -----

// A library call must wait for the machine and the threads of the run.
// CHECK-LABEL: func.func @main
// CHECK: tess.matmul
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = tess.constant dense_resource<matrix> : tensor<2x2xf32> : tensor<2x2xf32>
  %0 = tess.matmul %c, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tess.add %x, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
{-# dialect_resources: { builtin: { matrix: "0x040000000000803F000080400000104100008041" } } #-}
