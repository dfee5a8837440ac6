// RUN: tess-opt %s --tess-lower-fusions --split-input-file | FileCheck %s

// A softmax of rows: both reductions and the quotient in one kernel, lanes along the row.
// CHECK: tess.fusion %arg0 attributes {axes = array<i64: 1>, kernel = @kernel0}
// CHECK: tess.kernel @kernel0 {
// CHECK-NEXT: "kernel parallel=1 reduced=1 lanes=reduced attrs=0"
// CHECK-NEXT: "o0 = input f32 contiguous varies"
// CHECK-NEXT: "o1 = output f32 contiguous varies"
// CHECK-NEXT: "n0 = load o0 : f32"
// CHECK-NEXT: "n1 = reduce max n0 : f32"
// CHECK-NEXT: "n2 = sub n0 n1 : f32"
// CHECK-NEXT: "n3 = exp n2 : f32"
// CHECK-NEXT: "n4 = reduce sum n3 : f32"
// CHECK-NEXT: "n5 = div n3 n4 : f32"
// CHECK-NEXT: "store n5 o1"
// CHECK-NEXT: }
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = tess.fusion %x attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<4x5xf32>):
    %1 = tess.max %a {axes = array<i64: 1>, keepdims = true} : (tensor<4x5xf32>) -> tensor<4x1xf32>
    %2 = tess.sub %a, %1 : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
    %3 = tess.exp %2 : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %4 = tess.sum %3 {axes = array<i64: 1>, keepdims = true} : (tensor<4x5xf32>) -> tensor<4x1xf32>
    %5 = tess.div %3, %4 : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
    tess.yield %5 : tensor<4x5xf32>
  } : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Groups that compute the same must share a kernel; one that reads a view must not: its lanes find elements by stride.
// CHECK: tess.fusion %arg0 attributes {axes = array<i64>, kernel = @kernel0}
// CHECK: tess.fusion %arg1 attributes {axes = array<i64>, kernel = @kernel0}
// CHECK: tess.fusion %{{[0-9]+}} attributes {axes = array<i64>, kernel = @kernel1}
// CHECK: tess.kernel @kernel0
// CHECK-NEXT: "kernel parallel=1
// CHECK-NEXT: "o0 = input f32 contiguous"
// CHECK: tess.kernel @kernel1
// CHECK-NEXT: "kernel parallel=2
// CHECK-NEXT: "o0 = input f32 strided"
func.func @main(%x: tensor<4x5xf32>, %y: tensor<3x2xf32>) -> (tensor<4x5xf32>, tensor<3x2xf32>, tensor<5x4xf32>) {
  %0 = tess.fusion %x attributes {axes = array<i64>} {
  ^bb0(%a: tensor<4x5xf32>):
    %3 = tess.relu %a : (tensor<4x5xf32>) -> tensor<4x5xf32>
    tess.yield %3 : tensor<4x5xf32>
  } : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tess.fusion %y attributes {axes = array<i64>} {
  ^bb0(%a: tensor<3x2xf32>):
    %3 = tess.relu %a : (tensor<3x2xf32>) -> tensor<3x2xf32>
    tess.yield %3 : tensor<3x2xf32>
  } : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %t = tess.transpose %x : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %2 = tess.fusion %t attributes {axes = array<i64>} {
  ^bb0(%a: tensor<5x4xf32>):
    %3 = tess.relu %a : (tensor<5x4xf32>) -> tensor<5x4xf32>
    tess.yield %3 : tensor<5x4xf32>
  } : (tensor<5x4xf32>) -> tensor<5x4xf32>
  return %0, %1, %2 : tensor<4x5xf32>, tensor<3x2xf32>, tensor<5x4xf32>
}

// -----

// Beside a call, operands for each channel are repeated along rows, whatever the sizes are; whole operands and numbers are
// as ever. One for each row of an image must not be.
// CHECK: tess.kernel @kernel0
// CHECK-NEXT: "kernel parallel=3
// CHECK-NEXT: "o0 = input f32 contiguous"
// CHECK-NEXT: "o1 = input f32 repeated"
// CHECK-NEXT: "o2 = input f32 broadcast"
// CHECK-NEXT: "o3 = output f32 contiguous"
// CHECK: tess.kernel @kernel1
// CHECK-NOT: repeated
func.func @main(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>, %b: tensor<16x1x1xf32>, %n: tensor<f32>,
                %r: tensor<8x1xf32>) -> (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) {
  %c = tess.conv2d %x, %w {padding = array<i64: 1, 1>} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %0 = tess.fusion %c, %b, %n attributes {axes = array<i64>} {
  ^bb0(%a: tensor<1x16x8x8xf32>, %d: tensor<16x1x1xf32>, %e: tensor<f32>):
    %2 = tess.mul %a, %d : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
    %3 = tess.add %2, %e : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
    tess.yield %3 : tensor<1x16x8x8xf32>
  } : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %1 = tess.fusion %c, %r attributes {axes = array<i64>} {
  ^bb0(%a: tensor<1x16x8x8xf32>, %d: tensor<8x1xf32>):
    %2 = tess.mul %a, %d : (tensor<1x16x8x8xf32>, tensor<8x1xf32>) -> tensor<1x16x8x8xf32>
    tess.yield %2 : tensor<1x16x8x8xf32>
  } : (tensor<1x16x8x8xf32>, tensor<8x1xf32>) -> tensor<1x16x8x8xf32>
  return %0, %1 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// -----

// A kernel beside no call must broadcast such an operand: nothing packs its values.
// CHECK: tess.kernel @kernel0
// CHECK: "o1 = input f32 broadcast"
func.func @main(%x: tensor<?x16x8x8xf32>, %b: tensor<16x1x1xf32>) -> tensor<?x16x8x8xf32> {
  %0 = tess.fusion %x, %b attributes {axes = array<i64>} {
  ^bb0(%a: tensor<?x16x8x8xf32>, %d: tensor<16x1x1xf32>):
    %1 = tess.mul %a, %d : (tensor<?x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<?x16x8x8xf32>
    tess.yield %1 : tensor<?x16x8x8xf32>
  } : (tensor<?x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<?x16x8x8xf32>
  return %0 : tensor<?x16x8x8xf32>
}

// -----

// An input says how it lies where that is not row-major: no axes must be joined, and lanes of the second find elements
// by stride.
// CHECK: tess.kernel @kernel0
// CHECK-NEXT: "kernel parallel=2
// CHECK-NEXT: "o0 = input f32 contiguous"
// CHECK-NEXT: "o1 = input f32 strided"
// CHECK-NEXT: "o2 = output f32 contiguous"
func.func @main(%x: tensor<?x?xf32> {tess.layout = 1 : i8}, %y: tensor<?x?xf32> {tess.layout = 2 : i8}) -> tensor<?x?xf32> {
  %0 = tess.fusion %x, %y attributes {axes = array<i64>} {
  ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>):
    %1 = tess.add %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    tess.yield %1 : tensor<?x?xf32>
  } : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A running sum, what is before it and what is behind it are one kernel, from the last element to the first; lanes must
// go along columns where these are innermost.
// CHECK: tess.kernel @kernel0
// CHECK-NEXT: "kernel parallel=1 reduced=1 lanes=reduced order=backward attrs=0"
// CHECK-NEXT: "o0 = input f16 contiguous varies"
// CHECK-NEXT: "o1 = output f16 contiguous varies"
// CHECK-NEXT: "n0 = load o0 : f16"
// CHECK-NEXT: "n1 = exp n0 : f16 rounds"
// CHECK-NEXT: "n2 = scan add exclusive n1 : f16 rounds"
// CHECK-NEXT: "n3 = sub n0 n2 : f16 rounds"
// CHECK-NEXT: "store n3 o1"
// CHECK: tess.kernel @kernel1
// CHECK-NEXT: "kernel parallel=2 reduced=1 lanes=parallel order=sequential attrs=0"
// CHECK: "n2 = scan add n0 n1 : f32"
func.func @main(%x: tensor<4x5xf16>, %y: tensor<2x3x4xf32>, %w: tensor<2x3x4xf32>) -> (tensor<4x5xf16>, tensor<2x3x4xf32>) {
  %0 = tess.fusion %x attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<4x5xf16>):
    %2 = tess.exp %a : (tensor<4x5xf16>) -> tensor<4x5xf16>
    %3 = tess.cumsum %2 {axis = 1 : si64, exclusive = true, reverse = true} : (tensor<4x5xf16>) -> tensor<4x5xf16>
    %4 = tess.sub %a, %3 : (tensor<4x5xf16>, tensor<4x5xf16>) -> tensor<4x5xf16>
    tess.yield %4 : tensor<4x5xf16>
  } : (tensor<4x5xf16>) -> tensor<4x5xf16>
  %1 = tess.fusion %y, %w attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>):
    %2 = tess.linear_recurrence %a, %b {axis = 1 : si64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    tess.yield %2 : tensor<2x3x4xf32>
  } : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0, %1 : tensor<4x5xf16>, tensor<2x3x4xf32>
}

// -----

// Rows of a long function are taken side by side, 16 in the lanes; a single one must go along its elements.
// CHECK: tess.kernel @kernel0
// CHECK-NEXT: "kernel parallel=1 reduced=1 lanes=parallel order=sequential attrs=0"
// CHECK-NEXT: "o0 = input f32 strided varies"
// CHECK: tess.kernel @kernel1
// CHECK-NEXT: "kernel parallel=1 reduced=1 lanes=reduced order=sequential attrs=0"
// CHECK-NEXT: "o0 = input f32 contiguous varies"
func.func @main(%x: tensor<4x5xf32>, %y: tensor<1x5xf32>) -> (tensor<4x5xf32>, tensor<1x5xf32>) {
  %0 = tess.fusion %x attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<4x5xf32>):
    %2 = tess.logcumsumexp %a {axis = 1 : si64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
    tess.yield %2 : tensor<4x5xf32>
  } : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tess.fusion %y attributes {axes = array<i64: 1>} {
  ^bb0(%a: tensor<1x5xf32>):
    %2 = tess.logcumsumexp %a {axis = 1 : si64} : (tensor<1x5xf32>) -> tensor<1x5xf32>
    tess.yield %2 : tensor<1x5xf32>
  } : (tensor<1x5xf32>) -> tensor<1x5xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<1x5xf32>
}

// -----

// Rows of a table: one index for all lanes, so that these stay neighbours.
// CHECK: tess.kernel @kernel0 {
// CHECK-NEXT: "kernel parallel=2 reduced=0 lanes=parallel attrs=0"
// CHECK-NEXT: "o0 = input i32 broadcast"
// CHECK-NEXT: "o1 = input f32 contiguous"
// CHECK-NEXT: "o2 = output f32 contiguous"
// CHECK-NEXT: "n0 = load o0 : i32"
// CHECK-NEXT: "n1 = lookup o1 0 n0 : f32"
// CHECK-NEXT: "n2 = add n1 n1 : f32"
// CHECK-NEXT: "store n2 o2"
func.func @main(%i: tensor<4x1xi32>, %x: tensor<9x5xf32>) -> tensor<4x5xf32> {
  %0 = tess.fusion %i, %x attributes {axes = array<i64>} {
  ^bb0(%a: tensor<4x1xi32>, %b: tensor<9x5xf32>):
    %1 = tess.take_along_axes %b, %a {axes = array<i64: 0>, caller = "gather"} : (tensor<9x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
    %2 = tess.add %1, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    tess.yield %2 : tensor<4x5xf32>
  } : (tensor<4x1xi32>, tensor<9x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// The axis along which indices count is walked in order; the result has columns of its own. What is added to is not read.
// CHECK: tess.kernel @kernel0 {
// CHECK-NEXT: "kernel parallel=1 reduced=1 lanes=parallel order=sequential attrs=0"
// CHECK-NEXT: "o0 = input f32 contiguous varies"
// CHECK-NEXT: "o1 = input i32 contiguous varies"
// CHECK-NEXT: "o2 = input f32 broadcast"
// CHECK-NEXT: "o3 = output f32 contiguous varies"
// CHECK-NEXT: "n0 = load o0 : f32"
// CHECK-NEXT: "n1 = load o1 : i32"
// CHECK-NEXT: "store n0 o3 add at 0 n1"
func.func @main(%y: tensor<4x5xf32>, %i: tensor<4x5xi32>, %x: tensor<9x5xf32>) -> tensor<9x5xf32> {
  %0 = tess.fusion %y, %i, %x attributes {axes = array<i64>} {
  ^bb0(%a: tensor<4x5xf32>, %b: tensor<4x5xi32>, %c: tensor<9x5xf32>):
    %1 = tess.add_along_axes %c, %a, %b {axes = array<i64: 0>, caller = "gather"} : (tensor<9x5xf32>, tensor<4x5xf32>, tensor<4x5xi32>) -> tensor<9x5xf32>
    tess.yield %1 : tensor<9x5xf32>
  } : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  return %0 : tensor<9x5xf32>
}

// -----

// Copies, movements and windows have kernels, in a loop too; a movement that fills has two. A view must have none.
// CHECK: tess.transpose %arg0 :
// CHECK: tess.copy %{{.*}} {kernel = @kernel0}
// CHECK: tess.scan
// CHECK: tess.max_pool2d {{.*}}kernel = @kernel1
// CHECK: tess.pad {{.*}}kernel = [@kernel2, @kernel3]
// CHECK: tess.kernel @kernel0
// CHECK: "o0 = input f32 strided"
// CHECK: tess.kernel @kernel1
// CHECK: "n1 = reduce max n0 : f32"
// CHECK: tess.kernel @kernel2
// CHECK: "o0 = input f32 contiguous"
// CHECK-NEXT: "o1 = output f32 contiguous"
// CHECK: tess.kernel @kernel3
// CHECK: "n0 = attr
func.func @main(%x: tensor<5x4xf32>, %y: tensor<1x2x4x4xf32>) -> (tensor<4x5xf32>, tensor<1x2x4x4xf32>) {
  %t = tess.transpose %x : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %0 = tess.copy %t : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tess.scan %y attributes {constants = 0 : si64, carried = 1 : si64, length = 3 : si64} {
  ^bb0(%a: tensor<1x2x4x4xf32>):
    %2 = tess.max_pool2d %a {kernel_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
    %3 = tess.pad %2 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x4x4xf32>
    tess.yield %3 : tensor<1x2x4x4xf32>
  } : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<1x2x4x4xf32>
}
