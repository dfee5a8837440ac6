// RUN: tess-opt %s --tess-accumulate-products --split-input-file | FileCheck %s

// Each product but the first is added to the sum of those before it, whichever operand of its addition it is.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tess.matmul %arg0, %arg1 {transpose_x = true}
// CHECK: %[[X:.*]] = tess.expand_dims %arg1 {{.*}} -> tensor<1x?x4xf32>
// CHECK: %[[Y:.*]] = tess.expand_dims %arg2 {{.*}} -> tensor<1x?x4xf32>
// CHECK: %[[B:.*]] = tess.add_products %[[A]], %[[X]], %[[Y]]
// CHECK: %[[C:.*]] = tess.add_products %[[B]]
// CHECK-NOT: tess.add %
// CHECK: return %[[C]]
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %z: tensor<?x4xf32>) -> tensor<4x4xf32> {
  %0 = tess.matmul %x, %y {transpose_x = true} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %y, %z {transpose_x = true} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
  %2 = tess.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.matmul %z, %x {transpose_x = true} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
  %4 = tess.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// An input's memory is not the program's, and a sum with a second reader must stay.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.add_products
func.func @main(%s: tensor<4x4xf32>, %x: tensor<9x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.matmul %x, %x {transpose_x = true} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<4x4xf32>
  %1 = tess.add %s, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.exp %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.mul %x, %x : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %4 = tess.matmul %3, %x {transpose_x = true} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<4x4xf32>
  %5 = tess.add %2, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A product that is read twice, one of rows of the left matrix, and one of a narrow float.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.add_products
func.func @main(%s: tensor<4x4xf32>, %x: tensor<4x4xf32>, %n: tensor<4x4xbf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>) {
  %0 = tess.exp %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %x, %x {transpose_x = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.sin %s : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tess.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = tess.add %3, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = tess.exp %n : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %7 = tess.matmul %n, %n {transpose_x = true} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %8 = tess.add %6, %7 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %1, %2, %5, %8 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>
}
