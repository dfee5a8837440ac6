// RUN: tess-opt %s --tess-simplify --split-input-file | FileCheck %s

// A cast to the own dtype goes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.cast
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.cast %x {dtype = "f32"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A cast there and back stays: it rounds.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: tess.cast
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.cast %x {dtype = "f16"} : (tensor<4xf32>) -> tensor<4xf16>
  %1 = tess.cast %0 {dtype = "f32"} : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Two reshapes become one.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = tess.reshape %arg0
// CHECK-NOT: tess.reshape
// CHECK: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tess.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = tess.reshape %0 {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// A reshape of a transpose stays: the order of the elements differs.
// CHECK-LABEL: func.func @main
// CHECK: tess.transpose
// CHECK: tess.reshape
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = tess.transpose %x {pattern = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tess.reshape %0 {shape = array<i64: 6>} : (tensor<3x2xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Whatever keeps the order of the elements is one reshape.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = tess.reshape %arg0 {shape = array<i64: 6>}
// CHECK: return %[[R]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = tess.expand_dims %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %1 = tess.flatten %0 {end_axis = -1 : si64, start_axis = 0 : si64} : (tensor<2x1x3xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Two axes exchanged twice are where they were.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.{{swapaxes|transpose}}
// CHECK: return %arg0
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tess.transpose %x {pattern = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = tess.swapaxes %0 {axis1 = -1 : si64, axis2 = 1 : si64} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// A transpose of its inverse goes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.transpose
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tess.transpose %x {pattern = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = tess.transpose %0 {pattern = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// A view in the shape of another value needs only that shape, when it is known.
// CHECK-LABEL: func.func @main
// CHECK: tess.reshape %arg0 {shape = array<i64: 3, 2>}
// CHECK: tess.broadcast_to %arg2 {shape = array<i64: 3, 2>}
func.func @main(%x: tensor<2x3xf32>, %like: tensor<3x2xf32>, %y: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = tess.reshape_like %x, %like : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = tess.broadcast_like %y, %like : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// One in a shape that is not known stays.
// CHECK-LABEL: func.func @main
// CHECK: tess.reshape_like %arg0, %arg1
func.func @main(%x: tensor<?x3xf32>, %like: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = tess.reshape_like %x, %like : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// -----

// What a loop stacks for nobody goes, and what computed it; carried values and results with readers stay.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]]:2 = tess.scan %arg0, %arg1 attributes {carried = 1 : si64, constants = 0 : si64}
// CHECK-NOT: tess.exp
// CHECK: tess.yield %{{[^,]*}}, %{{[^,]*}} : tensor<3xf32>, tensor<f32>
// CHECK: return %[[R]]#1
func.func @main(%h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<2xf32> {
  %0, %1, %2 = tess.scan %h, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %3 = tess.add %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %4 = tess.exp %3 : (tensor<3xf32>) -> tensor<3xf32>
    %5 = tess.sum %3 {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
    tess.yield %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>, tensor<2xf32>)
  return %2 : tensor<2xf32>
}

// -----

// What another operand repeats already is not repeated before.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.broadcast_to
// CHECK: tess.mul %arg0, %arg1
func.func @main(%x: tensor<4x1xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = tess.broadcast_to %x {shape = array<i64: 4, 5>} : (tensor<4x1xf32>) -> tensor<4x5xf32>
  %1 = tess.mul %0, %y : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// Nothing else has the sizes of the result.
// CHECK-LABEL: func.func @main
// CHECK: tess.broadcast_to
// CHECK: tess.mul %0, %arg1
func.func @main(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<4x5xf32> {
  %0 = tess.broadcast_to %x {shape = array<i64: 4, 5>} : (tensor<4x1xf32>) -> tensor<4x5xf32>
  %1 = tess.mul %0, %y : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// An unknown size is that of the other operand where both are those of one value.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.broadcast_like
// CHECK: tess.mul %arg0,
func.func @main(%x: tensor<4x1xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tess.square %y : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = tess.broadcast_like %x, %0 : (tensor<4x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %2 = tess.add %y, %y : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %3 = tess.mul %1, %2 : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %3 : tensor<4x?xf32>
}

// -----

// That of another value may be 1.
// CHECK-LABEL: func.func @main
// CHECK: tess.broadcast_like
// CHECK: tess.mul %0, %arg2
func.func @main(%x: tensor<4x1xf32>, %y: tensor<4x?xf32>, %z: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tess.broadcast_like %x, %y : (tensor<4x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = tess.mul %0, %z : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}

// -----

// One name is one size.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.broadcast_like
// CHECK: tess.mul %arg0, %arg2
func.func @main(%x: tensor<4x1xf32>, %y: tensor<4x?xf32> {tess.arg_dims = array<i64: -1, 0>},
                %z: tensor<4x?xf32> {tess.arg_dims = array<i64: -1, 0>}) -> tensor<4x?xf32> {
  %0 = tess.broadcast_like %x, %y : (tensor<4x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = tess.mul %0, %z : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}

// -----

// A reduction that keeps its axes has the sizes that it does not reduce.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.broadcast_like
// CHECK: tess.mul %0, %arg0
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tess.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<?x?xf32>) -> tensor<?x1xf32>
  %1 = tess.broadcast_like %0, %x : (tensor<?x1xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = tess.mul %1, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// What has all sizes, and none that may be 1, is not repeated.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: tess.set_along_axes %arg0, %arg1
func.func @main(%x: tensor<?x?xf32>, %v: tensor<?x?xf32>, %i: tensor<?x?xi32>) -> tensor<?x?xf32>
    attributes {tess.ones_known} {
  %0 = tess.take_along_axes %x, %i {axes = array<i64: 0>, caller = "test"} : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<?x?xf32>
  %1 = tess.broadcast_like %v, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = tess.set_along_axes %x, %1, %i {axes = array<i64: 0>, caller = "test"} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// One that may be 1 is.
// CHECK-LABEL: func.func @main
// CHECK: tess.broadcast_like
func.func @main(%x: tensor<?x?xf32>, %v: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tess.broadcast_like %v, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
