//===- Passes.td - the compiler's passes --------------------*- tablegen -*-===//
#ifndef TESS_COMPILER_PASSES
#define TESS_COMPILER_PASSES

include "mlir/Pass/PassBase.td"

def ExpandCompositesPass : Pass<"tess-expand-composites", "::mlir::func::FuncOp"> {
  let summary = "replace composite operators by the operators that compute them";
  let description = [{
    Reductions leave with sorted axes and `keepdims = true`; a `squeeze` view follows where the user asked for less.
    ```
    %0 = tess.sum %x {axes = [-1]} : (tensor<2x3xf32>) -> tensor<2xf32>
    ```
    becomes
    ```
    %0 = tess.sum %x {axes = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %1 = tess.squeeze %0 {axis = [1]} : (tensor<2x1xf32>) -> tensor<2xf32>
    ```
  }];
  let options = [Option<"marksParts", "marks-parts", "bool", "false", "tess.part_of on each operator: the composite's name">];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def DifferentiatePass : Pass<"tess-differentiate", "::mlir::func::FuncOp"> {
  let summary = "append the gradients of an output";
  let description = [{
    Uses the same backward graphs as the tape; where a value is used more than once its gradients are added from the last use to
    the first, the order of the tape. The seed is one.
    ```
    func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = tess.exp %x ... return %0 }
    ```
    becomes
    ```
    func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) { ... %2 = tess.mul %1, %0 ... return %0, %2 }
    ```
  }];
  let options = [Option<"output", "output", "unsigned", "0", "number of the result to differentiate">,
                 ListOption<"inputs", "inputs", "unsigned", "numbers of the arguments; none: all that have a float dtype">];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def SimplifyPass : Pass<"tess-simplify", "::mlir::func::FuncOp"> {
  let summary = "remove operators that change no bit";
  let description = [{
    Only rewrites that are exact for every input: a cast to the own dtype, or through one that holds all numbers, a
    number that changes nothing, a quotient by a power of two, a view that changes nothing, two transposes or reshapes in
    a row, a view in the shape of a value whose shape is known, a broadcast that its readers imply, a slice of what an
    elementwise operator gives for others, a result of a loop that is stacked for nobody.
    ```
    %0 = tess.reshape %x {shape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
    %1 = tess.reshape %0 {shape = [3, 2]} : (tensor<6xf32>) -> tensor<3x2xf32>
    ```
    becomes
    ```
    %1 = tess.reshape %x {shape = [3, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
}

def FoldConstantsPass : Pass<"tess-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "compute what depends on constants only";
  let description = [{
    Compiles and runs that part of the function. A result may be 1 MiB larger than the constants that it is made of; what
    every kernel makes itself (`full`) stays, and so do random numbers and library calls.
    ```
    %c = tess.constant dense_resource<v> : tensor<4xf32> : tensor<4xf32>
    %0 = tess.sqrt %c : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```
    %0 = tess.constant dense_resource<folded> : tensor<4xf32> : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def ReassociatePass : Pass<"tess-reassociate", "::mlir::func::FuncOp"> {
  let summary = "join constant factors and terms to each other and to constant weights";
  let description = [{
    Moves bits, and is part of pipelines for `numerics = "fast"` only: a factor for each channel of a convolution's or a
    matrix product's result, or of its operand, goes into the weight; factors in a row become one, and so do terms; a quotient
    by a constant becomes a product. A remark tells each rewrite. Left alone are narrow floats, and factors beyond 2^-100 to
    2^100, whose products could overflow or lose digits.
    ```
    %0 = tess.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = tess.mul %0, %c : (tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x6x6xf32>
    ```
    becomes
    ```
    %0 = tess.reshape %c {shape = [4, 1, 1, 1]} : (tensor<1x4x1x1xf32>) -> tensor<4x1x1x1xf32>
    %1 = tess.mul %w, %0 : (tensor<4x3x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x3x3x3xf32>
    %2 = tess.conv2d %x, %1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def HoistInvariantsPass : Pass<"tess-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "move what every trip of a loop would compute alike before the loop";
  let description = [{
    Operators that read constants of the loop only; their results are constants, too.
    ```
    %s = tess.scan %w, %s0 ... { ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>): %0 = tess.exp %a ... %1 = tess.mul %b, %0 ... }
    ```
    becomes
    ```
    %0 = tess.exp %w : (tensor<4xf32>) -> tensor<4xf32>
    %s = tess.scan %w, %0, %s0 ... { ^bb0(%a: ..., %c: ..., %b: tensor<4xf32>): %1 = tess.mul %b, %c ... }
    ```
  }];
}

def SumTripProductsPass : Pass<"tess-sum-trip-products", "::mlir::func::FuncOp"> {
  let summary = "add the products of a loop's trips behind the loop";
  let description = [{
    A carried sum to which each trip adds a product `x^T y` of few rows: the loop stacks the factors that are no elements
    of xs, and one operator adds the products in the order of the trips.
    ```
    %s = tess.scan %s0, %xs, %ys attributes {carried = 1 : si64, ...} { ^bb0(%a: ..., %x: ..., %y: ...):
      %1 = tess.matmul %x, %y {transpose_x = true} ... %2 = tess.add %a, %1 ... tess.yield %2 ... }
    ```
    becomes
    ```
    %s = tess.add_products %s0, %xs, %ys : (tensor<64x64xf32>, tensor<5x2x64xf32>, tensor<5x2x64xf32>) -> tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def AccumulateProductsPass : Pass<"tess-accumulate-products", "::mlir::func::FuncOp"> {
  let summary = "add products where their sum stands";
  let description = [{
    A product `x^T y` that only a sum reads, whose other term nothing else reads: the call adds it in the memory of that term.
    ```
    %0 = tess.matmul %x, %y {transpose_x = true} : (tensor<9x4xf32>, tensor<9x6xf32>) -> tensor<4x6xf32>
    %1 = tess.add %s, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    ```
    becomes
    ```
    %0 = tess.expand_dims %x {axis = [0]} : (tensor<9x4xf32>) -> tensor<1x9x4xf32>
    %1 = tess.expand_dims %y {axis = [0]} : (tensor<9x6xf32>) -> tensor<1x9x6xf32>
    %2 = tess.add_products %s, %0, %1 : (tensor<4x6xf32>, tensor<1x9x4xf32>, tensor<1x9x6xf32>) -> tensor<4x6xf32>
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def RematerialisePass : Pass<"tess-rematerialise", "::mlir::func::FuncOp"> {
  let summary = "compute cheap values again instead of keeping them";
  let description = [{
    At the call that finds the most memory in use. Values that are behind a cheapest cut, elementwise ones, are computed again
    before their first reader from there on; operators from there on share no kernel with those before.
    ```
    %0 = tess.matmul %x, %w ...
    %1 = tess.relu %0 : (tensor<9x4xf32>) -> tensor<9x4xf32>
    %2 = tess.matmul %1, %w ...
    %3 = tess.matmul %2, %1 ...
    %4 = tess.mul %3, %0 ...
    ```
    becomes
    ```
    ...
    %2 = tess.matmul %1, %w ...
    %r = tess.relu %0 : (tensor<9x4xf32>) -> tensor<9x4xf32>
    %3 = tess.matmul %2, %r ...
    %4 = tess.mul %3, %0 ...
    ```
  }];
  let options = [Option<"leastBytes", "least-bytes", "int64_t", "1048576", "bytes that must be saved at a peak">];
}

def FuseElementwisePass : Pass<"tess-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "group elementwise operators and reductions into kernels";
  let description = [{
    Every elementwise operator and reduction ends in a `tess.fusion`; connected ones over one domain share it, when no
    path through an operator outside leads back into the group.
    ```
    %0 = tess.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tess.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```
    %1 = tess.fusion %x, %y attributes {axes = array<i64>} { ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>): ... }
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "off: one operator in each group">,
                 Option<"why", "why", "bool", "false", "a remark where a reader does not share its producer's kernel">];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def SinkUpdatesPass : Pass<"tess-sink-updates", "::mlir::func::FuncOp"> {
  let summary = "move kernels that only make outputs to the end";
  let description = [{
    Elementwise kernels whose results are outputs and nothing else: updates of parameters. Neighbours that touch no memory of
    each other are one launch of the executor.
    ```
    %p1 = tess.fusion %p, %dp ...
    %dq = tess.matmul %x, %y
    %q1 = tess.fusion %q, %dq ...
    ```
    becomes
    ```
    %dq = tess.matmul %x, %y
    %p1 = tess.fusion %p, %dp ...
    %q1 = tess.fusion %q, %dq ...
    ```
    With `raise`, each comes as early as it may instead, which shortens the lives of gradients.
  }];
  let options = [Option<"raise", "raise", "bool", "false", "move them up, not to the end">];
}

def FitMemoryPass : Pass<"tess-fit-memory", "::mlir::func::FuncOp"> {
  let summary = "run kernels and calls again so that values take no more than a limit";
  let description = [{
    Goes through the program with the memory that each operator finds in use; sizes must be known. Where more than the limit would
    be, values are dropped, and computed again before their next reader.
    ```
    %0 = tess.matmul %x, %w ...
    %1 = tess.fusion %0 ...
    %2 = tess.matmul %1, %w ...
    %3 = tess.matmul %2, %0 ...
    ```
    becomes
    ```
    %0 = tess.matmul %x, %w ...
    %1 = tess.fusion %0 ...
    %2 = tess.matmul %1, %w ...
    %r = tess.matmul %x, %w ...
    %3 = tess.matmul %2, %r ...
    ```
  }];
  let options = [Option<"limit", "limit", "int64_t", "0", "bytes">];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

def InsertCopiesPass : Pass<"tess-insert-copies", "::mlir::func::FuncOp"> {
  let summary = "copy what is not in memory as its reader needs it";
  let description = [{
    A kernel that reduces, a call and a movement read contiguous operands; an output, and what a trip of a loop yields, has
    memory of its own.
    ```
    %0 = tess.transpose %x : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %1 = tess.matmul %0, %y : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
    ```
    becomes
    ```
    %0 = tess.transpose %x : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %1 = tess.copy %0 : (tensor<5x4xf32>) -> tensor<5x4xf32>
    %2 = tess.matmul %1, %y : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
    ```
  }];
  let dependentDialects = ["::tess::ir::TessDialect"];
}

#endif // TESS_COMPILER_PASSES
