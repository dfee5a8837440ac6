//===- KernelPasses.td - fused groups to kernels, for readers -*- tablegen -*-===//
//
// Compiling goes from a fused group to machine code without these: they show the
// forms between.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_COMPILER_LOWERING_KERNELPASSES
#define TESS_COMPILER_LOWERING_KERNELPASSES

include "mlir/Pass/PassBase.td"

def LowerFusionsPass : Pass<"tess-lower-fusions", "::mlir::ModuleOp"> {
  let summary = "add the text of the kernel that each fused group becomes";
  let description = [{
    Groups that start with a call of the library have none. Groups that compute the same share one.
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
