// RUN: tess-opt %s --tess-reassociate --split-input-file | FileCheck %s

// A factor for each channel of the result goes into the weight of a convolution.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = tess.reshape %{{.*}} {shape = array<i64: 2, 1, 1, 1>}
// CHECK: %[[W:.*]] = tess.mul %{{.*}}, %[[S]] : (tensor<2x1x1x1xf32>, tensor<2x1x1x1xf32>)
// CHECK: %[[R:.*]] = tess.conv2d %arg0, %[[W]]
// CHECK: return %[[R]]
func.func @main(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tess.constant dense_resource<weight> : tensor<2x1x1x1xf32> : tensor<2x1x1x1xf32>
  %c = tess.constant dense_resource<scale> : tensor<1x2x1x1xf32> : tensor<1x2x1x1xf32>
  %0 = tess.conv2d %x, %w : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tess.mul %0, %c : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}
{-# dialect_resources: { builtin: { weight: "0x040000000000803F00000040", scale: "0x040000000000404000008040" } } #-}

// -----

// A factor that varies along another axis stays, and so does that of a result with a second reader.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = tess.conv2d %arg0
// CHECK-NEXT: %[[M:.*]] = tess.mul %[[C]]
// CHECK: %[[D:.*]] = tess.conv2d %arg0
// CHECK-NEXT: %[[N:.*]] = tess.mul %[[D]]
// CHECK: return %[[M]], %[[D]], %[[N]]
func.func @main(%x: tensor<1x1x3x2xf32>) -> (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) {
  %w = tess.constant dense_resource<weight> : tensor<2x1x1x1xf32> : tensor<2x1x1x1xf32>
  %c = tess.constant dense_resource<scale> : tensor<2xf32> : tensor<2xf32>
  %two = tess.full {shape = array<i64>, value = 2.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.conv2d %x, %w : (tensor<1x1x3x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x2xf32>
  %1 = tess.mul %0, %c : (tensor<1x2x3x2xf32>, tensor<2xf32>) -> tensor<1x2x3x2xf32>
  %2 = tess.conv2d %x, %w {strides = array<i64: 1, 1>} : (tensor<1x1x3x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x2xf32>
  %3 = tess.mul %2, %two : (tensor<1x2x3x2xf32>, tensor<f32>) -> tensor<1x2x3x2xf32>
  return %1, %2, %3 : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>
}
{-# dialect_resources: { builtin: { weight: "0x040000000000803F00000040", scale: "0x040000000000404000008040" } } #-}

// -----

// A term between product and factor is scaled, too; the factors of operands go in the same way.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[W:.*]] = tess.constant dense_resource<weight>
// CHECK-DAG: %[[B:.*]] = tess.constant dense_resource<bias>
// CHECK-DAG: %[[F:.*]] = tess.full
// CHECK: %[[S:.*]] = tess.reshape %[[B]] {shape = array<i64: 1, 2>}
// CHECK: %[[V:.*]] = tess.mul %[[W]], %[[S]]
// CHECK: %[[U:.*]] = tess.mul %[[V]], %[[F]]
// CHECK: %[[P:.*]] = tess.matmul %arg0, %[[U]]
// CHECK: %[[T:.*]] = tess.mul %[[B]], %[[F]]
// CHECK: %[[R:.*]] = tess.add %[[P]], %[[T]]
// CHECK: return %[[R]]
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = tess.constant dense_resource<weight> : tensor<2x2xf32> : tensor<2x2xf32>
  %b = tess.constant dense_resource<bias> : tensor<2xf32> : tensor<2xf32>
  %two = tess.full {shape = array<i64>, value = 2.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.mul %x, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %1 = tess.matmul %0, %w {transpose_y = true} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %2 = tess.add %1, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %3 = tess.mul %2, %two : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}
{-# dialect_resources: { builtin: { weight: "0x040000000000803F000000400000404000008040",
                                    bias: "0x040000000000404000008040" } } #-}

// -----

// A weight of narrow floats would lose digits.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = tess.matmul %arg0
// CHECK: tess.mul %[[P]]
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = tess.constant dense_resource<weight> : tensor<2x2xbf16> : tensor<2x2xbf16>
  %b = tess.constant dense_resource<bias> : tensor<2xf32> : tensor<2xf32>
  %0 = tess.matmul %x, %w {transpose_y = true, dtype = "f32"} : (tensor<?x2xf32>, tensor<2x2xbf16>) -> tensor<?x2xf32>
  %1 = tess.mul %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
{-# dialect_resources: { builtin: { weight: "0x02000000803F004040408040", bias: "0x040000000000404000008040" } } #-}

// -----

// Factors in a row become one, and terms; the quotient is a product with the reciprocal.
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = tess.div
// CHECK: %[[F:.*]] = tess.mul %{{.*}}, %[[Q]] : (tensor<f32>, tensor<f32>)
// CHECK: %[[M:.*]] = tess.mul %arg0, %[[F]]
// CHECK: %[[T:.*]] = tess.sub %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>)
// CHECK: %[[R:.*]] = tess.add %[[M]], %[[T]]
// CHECK: return %[[R]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = tess.full {shape = array<i64>, value = 2.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %three = tess.full {shape = array<i64>, value = 3.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.mul %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = tess.div %0, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = tess.add %1, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = tess.sub %2, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Factors that would overflow together stay apart, a quotient by 0 stays one, and so do narrow floats.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tess.mul %arg0
// CHECK-NEXT: %[[B:.*]] = tess.mul %[[A]]
// CHECK-NEXT: %[[D:.*]] = tess.div %arg0
// CHECK-NEXT: %[[E:.*]] = tess.mul %arg1
// CHECK-NEXT: %[[F:.*]] = tess.mul %[[E]]
// CHECK-NEXT: return %[[B]], %[[D]], %[[F]]
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>) {
  %large = tess.full {shape = array<i64>, value = 1.0e20 : f64, dtype = "f32"} : () -> tensor<f32>
  %zero = tess.full {shape = array<i64>, value = 0.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %half = tess.full {shape = array<i64>, value = 3.0 : f64, dtype = "f16"} : () -> tensor<f16>
  %0 = tess.mul %x, %large : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = tess.mul %0, %large : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = tess.div %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = tess.mul %y, %half : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %4 = tess.mul %3, %half : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  return %1, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>
}

// -----

// With groups, the factors of operands stay where they differ, and those of results go in.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = tess.mul %arg0
// CHECK: %[[W:.*]] = tess.mul
// CHECK: %[[R:.*]] = tess.conv2d %[[X]], %[[W]] {groups = 2 : si64}
// CHECK: return %[[R]]
func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tess.constant dense_resource<weight> : tensor<2x1x1x1xf32> : tensor<2x1x1x1xf32>
  %c = tess.constant dense_resource<scale> : tensor<1x2x1x1xf32> : tensor<1x2x1x1xf32>
  %0 = tess.mul %x, %c : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tess.conv2d %0, %w {groups = 2 : si64} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = tess.mul %1, %c : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}
{-# dialect_resources: { builtin: { weight: "0x040000000000803F00000040", scale: "0x040000000000404000008040" } } #-}
