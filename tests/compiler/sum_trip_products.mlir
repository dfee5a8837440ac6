// RUN: tess-opt %s --tess-sum-trip-products --split-input-file | FileCheck %s

// A factor that a trip makes is stacked, one that is an element of xs is not; the loop keeps its other results.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = tess.scan %arg0, %arg2 attributes {carried = 1 : si64, constants = 0 : si64, reverse = true}
// CHECK: ^bb0(%[[H:.*]]: tensor<2x8xf32>, %[[X:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[G:.*]] = tess.mul %[[H]], %[[X]]
// CHECK-NEXT: tess.yield %[[G]], %[[G]] : tensor<2x8xf32>, tensor<2x8xf32>
// CHECK: (tensor<2x8xf32>, tensor<5x2x8xf32>) -> (tensor<2x8xf32>, tensor<5x2x8xf32>)
// CHECK: %[[R:.*]] = tess.add_products %arg1, %[[S]]#1, %arg2 {reverse = true}
// CHECK: return %[[S]]#0, %[[R]]
func.func @main(%h: tensor<2x8xf32>, %s: tensor<8x8xf32>, %xs: tensor<5x2x8xf32>) -> (tensor<2x8xf32>, tensor<8x8xf32>) {
  %0:2 = tess.scan %h, %s, %xs attributes {constants = 0 : si64, carried = 2 : si64, reverse = true} {
  ^bb0(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>, %c: tensor<2x8xf32>):
    %1 = tess.mul %a, %c : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %2 = tess.matmul %1, %c {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %3 = tess.add %b, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tess.yield %1, %3 : tensor<2x8xf32>, tensor<8x8xf32>
  } : (tensor<2x8xf32>, tensor<8x8xf32>, tensor<5x2x8xf32>) -> (tensor<2x8xf32>, tensor<8x8xf32>)
  return %0#0, %0#1 : tensor<2x8xf32>, tensor<8x8xf32>
}

// -----

// A loop with nothing else to do goes, and what a trip stacks already is not stacked twice. A carried value is a factor
// as it was before the trip.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tess.add_products %arg0, %arg1, %arg2 {{.*}}(tensor<8x8xf64>, tensor<?x2x8xf64>, tensor<?x2x8xf64>)
// CHECK-NEXT: return
func.func @main(%s: tensor<8x8xf64>, %xs: tensor<?x2x8xf64>, %ys: tensor<?x2x8xf64>) -> tensor<8x8xf64> {
  %0 = tess.scan %s, %xs, %ys attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%b: tensor<8x8xf64>, %c: tensor<2x8xf64>, %d: tensor<2x8xf64>):
    %2 = tess.matmul %c, %d {transpose_x = true} : (tensor<2x8xf64>, tensor<2x8xf64>) -> tensor<8x8xf64>
    %3 = tess.add %2, %b : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
    tess.yield %3 : tensor<8x8xf64>
  } : (tensor<8x8xf64>, tensor<?x2x8xf64>, tensor<?x2x8xf64>) -> tensor<8x8xf64>
  return %0 : tensor<8x8xf64>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = tess.scan %arg0, %arg2
// CHECK: ^bb0(%[[H:.*]]: tensor<2x8xf32>, %[[X:.*]]: tensor<2x8xf32>):
// CHECK: tess.yield %[[X]], %[[H]]
// CHECK: tess.add_products %arg1, %[[S]]#1, %[[S]]#1
func.func @main(%h: tensor<2x8xf32>, %s: tensor<8x8xf32>, %xs: tensor<5x2x8xf32>) -> (tensor<8x8xf32>, tensor<5x2x8xf32>) {
  %0:3 = tess.scan %h, %s, %xs attributes {constants = 0 : si64, carried = 2 : si64} {
  ^bb0(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>, %c: tensor<2x8xf32>):
    %2 = tess.matmul %a, %a {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %3 = tess.add %b, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tess.yield %c, %3, %a : tensor<2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>
  } : (tensor<2x8xf32>, tensor<8x8xf32>, tensor<5x2x8xf32>) -> (tensor<2x8xf32>, tensor<8x8xf32>, tensor<5x2x8xf32>)
  return %0#1, %0#2 : tensor<8x8xf32>, tensor<5x2x8xf32>
}

// -----

// Two products in a trip round between each other, a trip reads a sum, a factor stays, rows are many, the dtype is
// narrow: all of these sums stay where they are.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.add_products
func.func @main(%w: tensor<2x8xf32>, %s: tensor<8x8xf32>, %t: tensor<2x2xf32>, %u: tensor<8x8xbf16>, %xs: tensor<5x2x8xf32>, %ys: tensor<5x2x8xbf16>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>, tensor<8x8xbf16>) {
  %0:6 = tess.scan %w, %s, %s, %s, %t, %u, %xs, %ys attributes {constants = 1 : si64, carried = 5 : si64} {
  ^bb0(%k: tensor<2x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>, %d: tensor<2x2xf32>, %e: tensor<8x8xbf16>, %x: tensor<2x8xf32>, %y: tensor<2x8xbf16>):
    %1 = tess.matmul %x, %x {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %2 = tess.add %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = tess.add %2, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = tess.matmul %x, %x {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %5 = tess.add %b, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = tess.matmul %x, %k {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %7 = tess.add %c, %6 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %8 = tess.matmul %x, %x {transpose_y = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
    %9 = tess.add %d, %8 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %10 = tess.matmul %y, %y {transpose_x = true} : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<8x8xbf16>
    %11 = tess.add %e, %10 : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
    tess.yield %3, %5, %7, %9, %11, %b : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>, tensor<8x8xbf16>, tensor<8x8xf32>
  } : (tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>, tensor<8x8xbf16>, tensor<5x2x8xf32>, tensor<5x2x8xbf16>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>, tensor<8x8xbf16>, tensor<5x8x8xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>, tensor<8x8xbf16>
}

// -----

// A factor of a narrow float would be another operand than add_products takes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.add_products
func.func @main(%s: tensor<8x8xf32>, %xs: tensor<5x2x8xf32>, %ys: tensor<5x2x8xbf16>) -> tensor<8x8xf32> {
  %0 = tess.scan %s, %xs, %ys attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<8x8xf32>, %x: tensor<2x8xf32>, %y: tensor<2x8xbf16>):
    %1 = tess.matmul %x, %y {transpose_x = true, dtype = "f32"} : (tensor<2x8xf32>, tensor<2x8xbf16>) -> tensor<8x8xf32>
    %2 = tess.add %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tess.yield %2 : tensor<8x8xf32>
  } : (tensor<8x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xbf16>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A product of many rows takes less than its factors would take in all trips, and data ends a guarded loop.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.add_products
func.func @main(%p: tensor<i1>, %s: tensor<8x8xf32>, %xs: tensor<5x9x8xf32>, %ys: tensor<5x2x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = tess.scan %s, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<8x8xf32>, %x: tensor<9x8xf32>):
    %1 = tess.matmul %x, %x {transpose_x = true} : (tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<8x8xf32>
    %2 = tess.add %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tess.yield %2 : tensor<8x8xf32>
  } : (tensor<8x8xf32>, tensor<5x9x8xf32>) -> tensor<8x8xf32>
  %3:2 = tess.scan %p, %s, %ys attributes {constants = 0 : si64, carried = 2 : si64, guarded = true} {
  ^bb0(%g: tensor<i1>, %a: tensor<8x8xf32>, %x: tensor<2x8xf32>):
    %1 = tess.matmul %x, %x {transpose_x = true} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %2 = tess.add %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tess.yield %g, %2 : tensor<i1>, tensor<8x8xf32>
  } : (tensor<i1>, tensor<8x8xf32>, tensor<5x2x8xf32>) -> (tensor<i1>, tensor<8x8xf32>)
  return %0, %3#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
