// RUN: tess-opt %s --tess-fuse-elementwise --split-input-file | FileCheck %s

// A chain becomes one kernel.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %{{.*}}, %{{.*}} attributes {axes = array<i64>}
// CHECK: tess.mul
// CHECK: tess.exp
// CHECK: tess.yield
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Unconnected operators stay apart: their unknown sizes may differ.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: tess.fusion
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tess.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = tess.exp %y : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Softmax is one kernel: two reductions over one axis and what lies between.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %{{.*}} attributes {axes = array<i64: 1>}
// CHECK: tess.max
// CHECK: tess.sum
// CHECK: tess.div
// CHECK: tess.yield
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %m = tess.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %d = tess.sub %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %e = tess.exp %d : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = tess.sum %e {axes = array<i64: 1>, keepdims = true} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  %r = tess.div %e, %s : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// Running results in one direction are one kernel, with what is before and behind them.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %{{.*}} attributes {axes = array<i64: 1>}
// CHECK: tess.exp
// CHECK: tess.cumsum
// CHECK: tess.cummax
// CHECK: tess.sub
// CHECK: tess.yield
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tess.exp %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = tess.cumsum %e {axis = -1 : si64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = tess.cummax %s {axis = 1 : si64, exclusive = true} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = tess.sub %s, %m : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// Such that go in two directions, along two axes, or beside a reduction must not be.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: tess.fusion
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x1xf32>) {
  %0 = tess.cumsum %x {axis = 1 : si64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = tess.cumsum %0 {axis = 1 : si64, reverse = true} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = tess.cumsum %0 {axis = 0 : si64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = tess.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  return %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x1xf32>
}

// -----

// Reductions over different axes must not share a kernel.
// CHECK-LABEL: func.func @main
// CHECK-DAG: axes = array<i64: 0>
// CHECK-DAG: axes = array<i64: 1>
func.func @main(%x: tensor<8x16xf32>) -> (tensor<1x16xf32>, tensor<8x1xf32>) {
  %y = tess.exp %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %0 = tess.sum %y {axes = array<i64: 0>, keepdims = true} : (tensor<8x16xf32>) -> tensor<1x16xf32>
  %1 = tess.sum %y {axes = array<i64: 1>, keepdims = true} : (tensor<8x16xf32>) -> tensor<8x1xf32>
  return %0, %1 : tensor<1x16xf32>, tensor<8x1xf32>
}

// -----

// A path through a library call closes a loop, so the addition gets a kernel of its own.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion
// CHECK: tess.exp
// CHECK: tess.matmul
// CHECK: tess.fusion
// CHECK: tess.add
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tess.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// An operand that varies along only some of a run of reduced axes would change the lanes: it is made first.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion {{.*}} attributes {axes = array<i64>}
// CHECK: tess.fusion {{.*}} attributes {axes = array<i64: 1, 2>}
func.func @main(%x: tensor<2x3x5xf32>, %w: tensor<1x1x5xf32>) -> tensor<2x1x1xf32> {
  %0 = tess.mul %x, %w : (tensor<2x3x5xf32>, tensor<1x1x5xf32>) -> tensor<2x3x5xf32>
  %1 = tess.sum %0 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x3x5xf32>) -> tensor<2x1x1xf32>
  return %1 : tensor<2x1x1xf32>
}

// -----

// A number is made inside every kernel that reads it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.full
// CHECK: tess.fusion %arg0 attributes {axes = array<i64>}
// CHECK: tess.full
// CHECK: tess.mul
// CHECK: tess.fusion %arg1 attributes {axes = array<i64>}
// CHECK: tess.full
// CHECK: tess.add
func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  %c = tess.full {shape = array<i64>, value = 5.000000e-01 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = tess.add %y, %c : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0, %1 : tensor<4xf32>, tensor<5xf32>
}

// -----

// Rows of %x and rows of %w may be of different lengths.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion {{.*}} attributes {axes = array<i64: 1>}
// CHECK: tess.fusion {{.*}} attributes {axes = array<i64>}
func.func @main(%x: tensor<4x?xf32>, %w: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tess.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x?xf32>) -> tensor<4x1xf32>
  %1 = tess.add %0, %w : (tensor<4x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}

// -----

// Here an operator reads both, so they are one.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion {{.*}} attributes {axes = array<i64: 1>}
// CHECK-NOT: tess.fusion
func.func @main(%x: tensor<4x?xf32>, %w: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tess.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x?xf32>) -> tensor<4x1xf32>
  %1 = tess.sub %x, %0 : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  %2 = tess.mul %1, %w : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %2 : tensor<4x?xf32>
}

// -----

// The operators of a loop's body become kernels, none of which crosses its edge.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %arg0
// CHECK: tess.scan
// CHECK: ^bb0(%[[H:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<3xf32>):
// CHECK: tess.fusion %[[H]], %[[X]]
// CHECK: tess.add
// CHECK: tess.exp
// CHECK-NOT: tess.fusion
// CHECK: return
func.func @main(%h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = tess.neg %h : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tess.scan %0, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %2 = tess.add %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = tess.exp %2 : (tensor<3xf32>) -> tensor<3xf32>
    tess.yield %3 : tensor<3xf32>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// A reader that its kernel was put behind follows it; what comes later in the program stays behind the reader.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]]:2 = tess.fusion %arg0
// CHECK: tess.matmul %[[F]]#0, %arg0
// CHECK: tess.matmul %arg1, %arg1
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tess.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tess.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tess.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tess.matmul %y, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A copy begins a kernel, which its readers may join.
// CHECK-LABEL: func.func @main
// CHECK: tess.fusion %arg0
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tess.exp
// CHECK-NEXT: tess.yield
// CHECK: tess.fusion
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tess.copy
// CHECK-NEXT: tess.relu
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.copy %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tess.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
