// RUN: tess-opt %s --tess-differentiate --split-input-file | FileCheck %s
// RUN: tess-opt %s --tess-differentiate=inputs=1 --split-input-file | FileCheck %s --check-prefix=SECOND

// The backward graph of each operator, last to first, from a seed of ones.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[OUT:.*]] = tess.mul %arg0, %arg1
// CHECK: %[[SEED:.*]] = tess.full_like %[[OUT]] {{.*}}value = 1.0
// CHECK: %[[DX:.*]] = tess.masked_mul %[[SEED]], %arg1
// CHECK: %[[DY:.*]] = tess.masked_mul %[[SEED]], %arg0
// CHECK: return %[[OUT]], %[[DX]], %[[DY]]
// Only the gradients that are asked for.
// SECOND-LABEL: func.func @main
// SECOND-SAME: -> (tensor<4xf32>, tensor<4xf32>)
// SECOND: tess.mul
// SECOND: tess.masked_mul
// SECOND-NOT: mul
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A value with two readers gets the sum, the last reader's share first: the order of the tape.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = tess.exp %arg0
// CHECK: %[[S:.*]] = tess.sin %arg0
// CHECK: %[[COS:.*]] = tess.cos %arg0
// CHECK: %[[SIN:.*]] = tess.masked_mul %{{.*}}, %[[COS]]
// CHECK: %[[EXP:.*]] = tess.masked_mul %{{.*}}, %[[E]]
// CHECK: tess.add %[[SIN]], %[[EXP]]
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tess.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tess.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What the output does not depend on has a gradient of zeros; integers have none.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>)
// CHECK: %[[ZERO:.*]] = tess.full_like %arg1 {{.*}}value = 0.0
// CHECK: return %{{.*}}, %{{.*}}, %[[ZERO]]
func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>, %n: tensor<3xi32>) -> tensor<4xf32> {
  %0 = tess.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// SECOND-LABEL: func.func @main
// The gradient of a loop is one in the other direction; it reads what the trips computed, which another loop stacks.
// Zeros are added to what is carried to its end.
// CHECK-LABEL: func.func @main
// CHECK: %[[OUT:.*]] = tess.scan %arg0, %arg1
// CHECK: %[[AGAIN:.*]]:2 = tess.scan %arg0, %arg1
// CHECK: %[[G:.*]]:2 = tess.scan {{.*}}reverse = true
// CHECK: %[[START:.*]] = tess.add %[[G]]#0
// CHECK: return %[[OUT]], %[[START]], %[[G]]#1
func.func @main(%h: tensor<3xf32>, %xs: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = tess.scan %h, %xs attributes {constants = 0 : si64, carried = 1 : si64, reverse = false} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %1 = tess.mul %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    tess.yield %1 : tensor<3xf32>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
