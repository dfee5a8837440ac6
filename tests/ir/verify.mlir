// RUN: not tess-opt %s --split-input-file 2>&1 | FileCheck %s

// The verifier is the records' inference: same rule, same text as in eager.
// CHECK: matmul: dimension K must match, got x f32[2, 3] (K=3) and y f32[4, 5] (K=4)
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %0 = tess.matmul %x, %y : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// An attribute that the record does not declare is an error, with the name that was meant; a user's name must not be.
// CHECK-NOT: tess.name
// CHECK: transpose: attributes must be those of its record, got patterns, did you mean 'pattern'?
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tess.transpose %x {tess.name = "turned", patterns = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// A fusion's region must fit its operands.
// CHECK: region arguments must have the types of the inputs
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.fusion %x attributes {axes = array<i64>} {
  ^bb0(%a: tensor<5xf32>):
    %1 = tess.exp %a : (tensor<5xf32>) -> tensor<5xf32>
    tess.yield %1 : tensor<5xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The text of an attribute may be of no value that the record knows.
// CHECK: cast: dtype must be
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.cast %x {dtype = "f33"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A loop's body takes an element of the xs.
// CHECK: region arguments must have the types of the inputs, of xs without axis 0
func.func @main(%h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<2x3xf32>):
    tess.yield %a : tensor<3xf32>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// What is carried comes out of a trip as it went in.
// CHECK: yielded values must have the types of the carried inputs
func.func @main(%h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h, %xs attributes {constants = 0 : si64, carried = 1 : si64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %1 = tess.sum %a {axes = array<i64: 0>, keepdims = true} : (tensor<3xf32>) -> tensor<1xf32>
    tess.yield %1 : tensor<1xf32>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A guarded loop carries its guard first.
// CHECK: the first carried input of a guarded loop must be tensor<i1> or tensor<i64>
func.func @main(%h: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h attributes {constants = 0 : si64, carried = 1 : si64, length = 2 : si64, guarded = true} {
  ^bb0(%a: tensor<3xf32>):
    tess.yield %a : tensor<3xf32>
  } : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// There cannot be more constants and carried values than inputs.
// CHECK: constants and carried values must be inputs, got 1 and 1 of 1
func.func @main(%h: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h attributes {constants = 1 : si64, carried = 1 : si64, length = 2 : si64} {
  ^bb0(%a: tensor<3xf32>):
    tess.yield %a : tensor<3xf32>
  } : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A quantized dtype has a scale above 0.
// CHECK: quantized: dtype must be a quantized one, got 'qint8<0>'
func.func @main(%x: tensor<3x!tess.quantized<"qint8<0>">>) -> tensor<3x!tess.quantized<"qint8<0>">> {
  return %x : tensor<3x!tess.quantized<"qint8<0>">>
}

// -----

// A type of the dialect is one of four.
// CHECK: type: its name must be quantized, intb1, intb2 or intb4, got 'intb3'
func.func @main(%x: tensor<3x!tess.intb3>) -> tensor<3x!tess.intb3> {
  return %x : tensor<3x!tess.intb3>
}

// -----

// Low-bit numbers are odd: a sum of two has no dtype.
// CHECK: 'tess.add' op operand #0 must be ranked tensor of
func.func @main(%x: tensor<3x!tess.intb2>) -> tensor<3x!tess.intb2> {
  %0 = tess.add %x, %x : (tensor<3x!tess.intb2>, tensor<3x!tess.intb2>) -> tensor<3x!tess.intb2>
  return %0 : tensor<3x!tess.intb2>
}

// -----

// Nothing computes with stored integers.
// CHECK: 'tess.neg' op operand #0 must be ranked tensor of
func.func @main(%x: tensor<3x!tess.quantized<"qint8<0.5>">>) -> tensor<3x!tess.quantized<"qint8<0.5>">> {
  %0 = tess.neg %x : (tensor<3x!tess.quantized<"qint8<0.5>">>) -> tensor<3x!tess.quantized<"qint8<0.5>">>
  return %0 : tensor<3x!tess.quantized<"qint8<0.5>">>
}
