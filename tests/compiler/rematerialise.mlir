// RUN: tess-opt %s "--pass-pipeline=builtin.module(func.func(tess-rematerialise{least-bytes=256}))" --split-input-file | FileCheck %s

// At the third product the results of both relus are in memory, and what they were computed from. It reads the second one; the
// first is computed again before its reader.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tess.matmul %arg0, %arg1 : (
// CHECK-NEXT: %[[R:.*]] = tess.relu %[[A]] : (
// CHECK-NEXT: %[[B:.*]] = tess.matmul %[[R]], %arg1 : (
// CHECK-NEXT: %[[S:.*]] = tess.relu %[[B]] : (
// CHECK-NEXT: %[[C:.*]] = tess.matmul %[[S]], %arg1 {tess.phase = [[#P:]] : i64}
// CHECK-NEXT: %[[D:.*]] = tess.mul %[[C]], %[[B]] {tess.phase = [[#P]] : i64}
// CHECK-NEXT: %[[E:.*]] = tess.matmul %[[D]], %[[S]] {tess.phase = [[#P]] : i64}
// CHECK-NEXT: %[[F:.*]] = tess.mul %[[E]], %[[A]] {tess.phase = [[#P]] : i64}
// CHECK-NEXT: %[[AGAIN:.*]] = tess.relu %[[A]] {tess.again, tess.phase = [[#P]] : i64}
// CHECK-NEXT: tess.matmul %[[F]], %[[AGAIN]]
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tess.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = tess.relu %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = tess.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = tess.relu %2 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = tess.matmul %3, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = tess.mul %4, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = tess.matmul %5, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %7 = tess.mul %6, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %8 = tess.matmul %7, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %8 : tensor<64x64xf32>
}

// -----

// The result of tanh is kept, since its input costs as much; its square needs nothing else, and must wait for its reader.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = tess.tanh {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT: %[[A:.*]] = tess.matmul {{.*}} {tess.phase = 1 : i64}
// CHECK-NEXT: %[[S:.*]] = tess.mul %[[T]], %[[T]] {tess.again, tess.phase = 1 : i64}
// CHECK-NEXT: tess.mul %[[A]], %[[S]] {tess.phase = 1 : i64}
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tess.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = tess.tanh %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = tess.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = tess.mul %1, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = tess.mul %2, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// -----

// Results of library calls, random numbers and arguments are not computed again.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: tess.uniform
// CHECK-NOT: tess.uniform
// CHECK: return
func.func @main(%x: tensor<64x64xf32>, %seed: tensor<i64>) -> tensor<64x64xf32> {
  %0 = tess.uniform %seed, %seed {shape = array<i64: 64, 64>} : (tensor<i64>, tensor<i64>) -> tensor<64x64xf32>
  %1 = tess.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = tess.matmul %1, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = tess.matmul %2, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = tess.mul %3, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
