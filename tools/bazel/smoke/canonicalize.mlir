// RUN: mlir-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @adds
// CHECK: arith.constant 5
func.func @adds() -> i32 {
  %a = arith.constant 2 : i32
  %b = arith.constant 3 : i32
  %c = arith.addi %a, %b : i32
  return %c : i32
}

// -----

// CHECK-LABEL: @keeps
// CHECK: arith.addi
func.func @keeps(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
