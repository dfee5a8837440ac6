//===- KernelPasses.td - the kernels of a program, for readers -*- tablegen -*-===//
//
// They print what compiling keeps in memory: the same classes find the kernels
// (StepKernels), and write them (emitKernel).
//
//===----------------------------------------------------------------------===//
#ifndef TESS_COMPILER_LOWERING_KERNELPASSES
#define TESS_COMPILER_LOWERING_KERNELPASSES

include "mlir/Pass/PassBase.td"

def LowerFusionsPass : Pass<"tess-lower-fusions", "::mlir::ModuleOp"> {
  let summary = "add the text of the kernels that steps launch";
  let description = [{
    Fused groups, copies, movements and windows have one, in loops, too; steps that compute the same share it. A movement that
    fills has two.
    ```
    %0 = tess.fusion %x attributes {axes = array<i64>} { ... tess.relu ... } : ...
    ```
    becomes
    ```
    %0 = tess.fusion %x attributes {axes = array<i64>, kernel = @kernel0} { ... tess.relu ... } : ...
    tess.kernel @kernel0 {
      "kernel parallel=1 reduced=0 lanes=parallel attrs=0"
      "o0 = input f32 contiguous"
      ...
    }
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def EmitKernelsPass : Pass<"tess-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "replace the text of kernels by functions of the LLVM dialect";
  let description = [{
    Code generation begins with these functions; runtime/schema/KernelAbi.h says how they are called.
    ```
    tess.kernel @kernel0 { "kernel parallel=1 reduced=0 lanes=parallel attrs=0" ... }
    ```
    becomes
    ```
    llvm.func @kernel0(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i64, ...) { ... }
    ```
  }];
  let options = [Option<"narrowMasks", "narrow-masks", "bool", "false",
                        "the machine has masked loads and stores of 8- and 16-bit elements">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TESS_COMPILER_LOWERING_KERNELPASSES
