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

// A loop keeps its body and what its operands are.
// CHECK-LABEL: func.func @loop
// CHECK: %[[R:.*]]:2 = tess.scan %arg0, %arg1, %arg2 attributes {carried = 1 : si64, constants = 1 : si64, reverse = true}
// CHECK: ^bb0(%[[W:.*]]: tensor<3xf32>, %[[H:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<3xf32>):
// CHECK: tess.yield %{{.*}}, %[[H]] : tensor<3xf32>, tensor<3xf32>
func.func @loop(%w: tensor<3xf32>, %h: tensor<3xf32>, %xs: tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>) {
  %0, %1 = tess.scan %w, %h, %xs attributes {constants = 1 : si64, carried = 1 : si64, reverse = true} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>):
    %2 = tess.mul %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = tess.add %2, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    tess.yield %3, %b : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>)
  return %0, %1 : tensor<3xf32>, tensor<?x3xf32>
}

// Quantized dtypes keep their scales.
// CHECK-LABEL: func.func @quantized
// CHECK-SAME: tensor<2x3x!tess.quantized<"quint8@1<0.1:128|0.2:3|1:0>">>
// CHECK: tess.transpose %arg0 {pattern = array<i64: 1, 0>} : (tensor<2x3x!tess.quantized<"quint8@1<0.1:128|0.2:3|1:0>">>) -> tensor<3x2x!tess.quantized<"quint8@0<0.1:128|0.2:3|1:0>">>
// CHECK: tess.quantize {{.*}}dtype = "qint8<0.5>"{{.*}} -> tensor<2x3x!tess.quantized<"qint8<0.5>">>
func.func @quantized(%q: tensor<2x3x!tess.quantized<"quint8@1<0.1:128|0.2:3|1:0>">>, %x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<3x2x!tess.quantized<"quint8@0<0.1:128|0.2:3|1:0>">> {
  %0 = tess.transpose %q {pattern = array<i64: 1, 0>} : (tensor<2x3x!tess.quantized<"quint8@1<0.1:128|0.2:3|1:0>">>) -> tensor<3x2x!tess.quantized<"quint8@0<0.1:128|0.2:3|1:0>">>
  %1 = tess.quantize %x, %s, %z {dtype = "qint8<0.5>"} : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x3x!tess.quantized<"qint8<0.5>">>
  return %0 : tensor<3x2x!tess.quantized<"quint8@0<0.1:128|0.2:3|1:0>">>
}

// Low-bit dtypes have their names.
// CHECK-LABEL: func.func @low_bit
// CHECK: tess.cast %arg0 {dtype = "intb2"} : (tensor<3x!tess.intb4>) -> tensor<3x!tess.intb2>
func.func @low_bit(%x: tensor<3x!tess.intb4>) -> tensor<3x!tess.intb2> {
  %0 = tess.cast %x {dtype = "intb2"} : (tensor<3x!tess.intb4>) -> tensor<3x!tess.intb2>
  return %0 : tensor<3x!tess.intb2>
}

// The channels of an element of xs, and of what is stacked, are an axis apart.
// CHECK-LABEL: func.func @channels
func.func @channels(%h: tensor<f32>, %xs: tensor<?x2x!tess.quantized<"qint8@1<1|2>">>) -> (tensor<f32>, tensor<?x2x!tess.quantized<"qint8@1<1|2>">>) {
  // CHECK: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<2x!tess.quantized<"qint8@0<1|2>">>):
  %0, %1 = tess.scan %h, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<f32>, %b: tensor<2x!tess.quantized<"qint8@0<1|2>">>):
    tess.yield %a, %b : tensor<f32>, tensor<2x!tess.quantized<"qint8@0<1|2>">>
  } : (tensor<f32>, tensor<?x2x!tess.quantized<"qint8@1<1|2>">>) -> (tensor<f32>, tensor<?x2x!tess.quantized<"qint8@1<1|2>">>)
  return %0, %1 : tensor<f32>, tensor<?x2x!tess.quantized<"qint8@1<1|2>">>
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
