// RUN: tess-opt %s --tess-expand-composites --split-input-file | FileCheck %s
// RUN: tess-opt %s --tess-expand-composites=marks-parts=true --split-input-file | FileCheck %s --check-prefix=MARKED

// A reduction leaves with sorted axes and keepdims; a squeeze gives the shape the user asked for.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = tess.sum %arg0 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK: tess.squeeze %[[S]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = tess.sum %x {axes = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// No axes means all of them.
// CHECK-LABEL: func.func @main
// CHECK: tess.mean %arg0 {axes = array<i64: 0, 1>, keepdims = true}
func.func @main(%x: tensor<2x3xf32>) -> tensor<f32> {
  %0 = tess.mean %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A canonical reduction is left alone.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tess.sum
// CHECK-NEXT: return
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %0 = tess.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// Softmax is a composite: max, sub, exp, sum, div.
// CHECK-LABEL: func.func @main
// CHECK: tess.max
// CHECK: tess.sub
// CHECK: tess.exp
// CHECK: tess.sum
// CHECK: tess.div
// CHECK-NOT: tess.softmax
// MARKED: tess.sub {{.*}}tess.part_of = "softmax"
// MARKED: tess.div {{.*}}tess.part_of = "softmax"
func.func @main(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = tess.softmax %x {axis = -1 : si64} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

// Slices of an unknown size say less than the composite did: they take its types, because its readers were typed by them.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> tensor<1xf32>
// CHECK: %[[PART:.*]] = tess.slice {{.*}} -> tensor<1xf32>
// CHECK: return %[[PART]] : tensor<1xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<1xf32> {
  %0:2 = tess.split %x {axis = 0 : si64, sections = array<i64: 1, 2>} : (tensor<?xf32>) -> (tensor<1xf32>, tensor<2xf32>)
  return %0#0 : tensor<1xf32>
}
