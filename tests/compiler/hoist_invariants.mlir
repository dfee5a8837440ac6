// RUN: tess-opt %s --tess-hoist-invariants --split-input-file | FileCheck %s

// What reads constants only moves out, of inner loops too; what reads a carried value or an x stays.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = tess.exp %arg0
// CHECK: tess.scan %arg0, %[[E]], %arg1, %arg2 attributes {carried = 1 : si64, constants = 2 : si64}
// CHECK: ^bb0(%{{.*}}: tensor<3xf32>, %[[C:.*]]: tensor<3xf32>, %[[H:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<3xf32>):
// CHECK-NOT: tess.exp
// CHECK: tess.mul %[[H]], %[[C]]
func.func @main(%w: tensor<3xf32>, %h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %w, %h, %xs attributes {constants = 1 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>):
    %1 = tess.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    %2 = tess.mul %b, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = tess.add %2, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    tess.yield %3 : tensor<3xf32>
  } : (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A number that every kernel makes itself stays, because outside it would take memory.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tess.scan
// CHECK: tess.full
func.func @main(%h: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h attributes {constants = 0 : si64, carried = 1 : si64, length = 4 : si64} {
  ^bb0(%a: tensor<3xf32>):
    %1 = tess.full {shape = array<i64>, value = 2.0 : f64, dtype = "f32"} : () -> tensor<f32>
    %2 = tess.mul %a, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    tess.yield %2 : tensor<3xf32>
  } : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A guarded loop may make no trip, so that nothing of it runs before.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tess.scan
// CHECK: tess.exp
func.func @main(%w: tensor<3xf32>, %p: tensor<i1>, %h: tensor<3xf32>) -> tensor<3xf32> {
  %0, %1 = tess.scan %w, %p, %h attributes {constants = 1 : si64, carried = 2 : si64, length = 1 : si64, guarded = true} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<i1>, %c: tensor<3xf32>):
    %2 = tess.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    tess.yield %b, %2 : tensor<i1>, tensor<3xf32>
  } : (tensor<3xf32>, tensor<i1>, tensor<3xf32>) -> (tensor<i1>, tensor<3xf32>)
  return %1 : tensor<3xf32>
}
