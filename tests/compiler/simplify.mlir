// RUN: tess-opt %s --tess-simplify --split-input-file | FileCheck %s

// A cast to the own dtype goes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tess.cast
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.cast %x {dtype = "f32"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A cast through a dtype that holds all numbers is one cast, or none.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = tess.cast %arg0 {dtype = "f64"} : (tensor<4xf16>) -> tensor<4xf64>
// CHECK-NEXT: return %arg0, %[[C]], %arg1
func.func @main(%x: tensor<4xf16>, %i: tensor<4xi8>) -> (tensor<4xf16>, tensor<4xf64>, tensor<4xi8>) {
  %0 = tess.cast %x {dtype = "f32"} : (tensor<4xf16>) -> tensor<4xf32>
  %1 = tess.cast %0 {dtype = "f16"} : (tensor<4xf32>) -> tensor<4xf16>
  %2 = tess.cast %0 {dtype = "f64"} : (tensor<4xf32>) -> tensor<4xf64>
  %3 = tess.cast %i {dtype = "i64"} : (tensor<4xi8>) -> tensor<4xi64>
  %4 = tess.cast %3 {dtype = "i8"} : (tensor<4xi64>) -> tensor<4xi8>
  return %1, %2, %4 : tensor<4xf16>, tensor<4xf64>, tensor<4xi8>
}

// -----

// Casts from one kind of number to another stay, and so do those between dtypes that hold other numbers.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: tess.cast
func.func @main(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xi32>, tensor<4xbf16>) {
  %0 = tess.cast %x {dtype = "f32"} : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = tess.cast %0 {dtype = "i32"} : (tensor<4xf32>) -> tensor<4xi32>
  %2 = tess.cast %y {dtype = "bf16"} : (tensor<4xf16>) -> tensor<4xbf16>
  %3 = tess.cast %2 {dtype = "f16"} : (tensor<4xbf16>) -> tensor<4xf16>
  %4 = tess.cast %3 {dtype = "bf16"} : (tensor<4xf16>) -> tensor<4xbf16>
  return %1, %4 : tensor<4xi32>, tensor<4xbf16>
}

// -----

// Numbers that change nothing go; a quotient by a power of two is a product.
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = tess.full {{.*}}value = 1.250000e-01
// CHECK: %[[P:.*]] = tess.mul %arg0, %[[Q]]
// CHECK-NEXT: return %[[P]], %arg1
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %one = tess.full {shape = array<i64>, value = 1.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %zero = tess.full {shape = array<i64>, value = 0.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %minus = tess.full {shape = array<i64>, value = -0.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %eight = tess.full {shape = array<i64>, value = 8.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %none = tess.full {shape = array<i64>, value = 0.0 : f64, dtype = "i32"} : () -> tensor<i32>
  %0 = tess.mul %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = tess.div %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = tess.sub %1, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = tess.add %2, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = tess.div %3, %eight : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = tess.add %i, %none : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %4, %5 : tensor<4xf32>, tensor<4xi32>
}

// -----

// x + 0 stays, because -0.0 + 0 is 0; so does x * 1 of a larger shape, and a quotient by another number.
// CHECK-LABEL: func.func @main
// CHECK: tess.add
// CHECK: tess.mul
// CHECK: tess.div
func.func @main(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) {
  %zero = tess.full {shape = array<i64>, value = 0.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %ones = tess.full {shape = array<i64: 4>, value = 1.0 : f64, dtype = "f32"} : () -> tensor<4xf32>
  %six = tess.full {shape = array<i64>, value = 6.0 : f64, dtype = "f32"} : () -> tensor<f32>
  %0 = tess.add %x, %zero : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = tess.mul %x, %ones : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tess.div %x, %six : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<1xf32>, tensor<4xf32>, tensor<1xf32>
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

// -----

// Slices of what is computed for elementwise operators are computed of slices; an axis of size 1 stays, and so does an
// operand that a slice takes whole.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[X0:.*]] = tess.slice %arg0 {starts = array<i64: 0, 0>, {{.*}}stops = array<i64: 2, 3>}
// CHECK-DAG: %[[B0:.*]] = tess.slice %arg1 {starts = array<i64: 0>, {{.*}}stops = array<i64: 3>}
// CHECK-DAG: %[[X1:.*]] = tess.slice %arg0 {starts = array<i64: 0, 7>, steps = array<i64: 1, -2>
// CHECK-DAG: %[[B1:.*]] = tess.slice %arg1 {starts = array<i64: 7>, steps = array<i64: -2>
// CHECK-DAG: %[[A0:.*]] = tess.add %[[X0]], %[[B0]]
// CHECK-DAG: %[[A1:.*]] = tess.add %[[X1]], %[[B1]]
// CHECK-DAG: %[[M0:.*]] = tess.mul %[[A0]], %arg2
// CHECK-DAG: %[[M1:.*]] = tess.mul %[[A1]], %arg2
// CHECK: tess.exp %[[M0]]
// CHECK: tess.mul %{{.*}}, %[[M1]]
// CHECK-NEXT: return
func.func @main(%x: tensor<2x8xf32>, %b: tensor<8xf32>, %c: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = tess.add %x, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %1 = tess.mul %0, %c : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %2 = tess.slice %1 {starts = array<i64: 0, 0>, stops = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %3 = tess.slice %1 {starts = array<i64: 0, 7>, stops = array<i64: 2, 1>, steps = array<i64: 1, -2>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %4 = tess.exp %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tess.mul %4, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// -----

// Slices that overlap, that are read by others, or beside the whole, stay behind.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = tess.exp %arg0
// CHECK: tess.slice %[[E]]
// CHECK: tess.slice %[[E]]
// CHECK: %[[S:.*]] = tess.sqrt %arg0
// CHECK: tess.slice %[[S]]
// CHECK: %[[T:.*]] = tess.tanh %arg0
// CHECK: tess.slice %[[T]]
func.func @main(%x: tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.slice %0 {starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  %2 = tess.slice %0 {starts = array<i64: 1>, stops = array<i64: 4>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  %3 = tess.mul %1, %2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = tess.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = tess.slice %4 {starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  %6 = tess.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %7 = tess.slice %6 {starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  %8 = tess.exp %7 : (tensor<2xf32>) -> tensor<2xf32>
  return %3, %5, %6, %8 : tensor<3xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>
}
