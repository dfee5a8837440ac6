// RUN: tess-opt %s | tess-opt | FileCheck %s

// Text that was printed reads back as the same program.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = tess.conv2d %arg0, %arg1
// CHECK: %[[F:.*]] = tess.fusion %[[C]] attributes {axes = array<i64>}
// CHECK: tess.relu
// CHECK: tess.yield
func.func @main(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x6x6xf32> {
  %0 = tess.conv2d %x, %w : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x6x6xf32>
  %1 = tess.fusion %0 attributes {axes = array<i64>} {
  ^bb0(%a: tensor<?x4x6x6xf32>):
    %2 = tess.relu %a : (tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
    tess.yield %2 : tensor<?x4x6x6xf32>
  } : (tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  return %1 : tensor<?x4x6x6xf32>
}

// State keeps its initial value.
// CHECK-LABEL: func.func @state
// CHECK-SAME: tess.initial = dense_resource<start> : tensor<2xf32>
// CHECK: start: "0x040000000000803F00000040"
func.func @state(%s: tensor<2xf32> {tess.initial = dense_resource<start> : tensor<2xf32>}) -> tensor<2xf32> {
  %0 = tess.neg %s : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      start: "0x040000000000803F00000040"
    }
  }
#-}
