//===- Structure.td - operators that only programs have ------*- tablegen -*-===//
//
// Constants, fused groups and loops: what the dialect needs beside the records of ops/.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_IR_STRUCTURE
#define TESS_IR_STRUCTURE

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ops/records/Ops.td"

class Tess_StructureOp<string mnemonic, list<Trait> traits = []> : Op<Tess_Dialect, mnemonic, traits>;

def Tess_ConstantOp : Tess_StructureOp<"constant", [Pure]> {
  let summary = "tensor known when the program is compiled";
  let description = [{
    The bytes live in a resource blob, row-major; `key` is the parameter's dotted path or empty.
    `%w = tess.constant dense_resource<fc_weight> : tensor<10x64xf32> : tensor<10x64xf32>`
  }];
  let arguments = (ins ElementsAttr:$value, DefaultValuedAttr<StrAttr, "\"\"">:$key);
  let results = (outs Tess_Moved:$out);
  let assemblyFormat = "$value attr-dict `:` type($out)";
}

def Tess_CustomOp : Tess_StructureOp<"custom", [Pure]> {
  let summary = "operator of a library";
  let description = [{
    An operator that a library or a frontend brought (ops/custom), by the name of its row. Its attributes are those of the row.
    `%y = tess.custom "demo.scaled_relu"(%x) {scale = 2.0 : f64} : (tensor<?xf32>) -> tensor<?xf32>`
  }];
  let arguments = (ins StrAttr:$record, Variadic<Tess_Moved>:$inputs);
  let results = (outs Variadic<Tess_Moved>:$outs);
  let hasVerifier = 1;
  let assemblyFormat = "$record `(` $inputs `)` attr-dict `:` functional-type($inputs, $outs)";
}

def Tess_FusionOp : Tess_StructureOp<"fusion", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "operators that become one kernel";
  let description = [{
    The region computes its results with elementwise operators and reductions over `axes` of one domain.
    `%r = tess.fusion %x, %y { ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>): ... tess.yield %c : tensor<?xf32> } : ...`
  }];
  let arguments = (ins Variadic<Tess_Moved>:$inputs, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Tess_Moved>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$inputs attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)";
}

def Tess_ScanOp : Tess_StructureOp<"scan", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "a body applied again and again, each time to what the last one left";
  let description = [{
    The first inputs are constants, which each trip reads; then come carried values, then xs, of which a trip takes the
    element of its number along axis 0. The body yields the carried values, then elements of the results that are
    stacked. `length` is the number of trips where there are no xs; with `reverse` the last element comes first. The
    first carried value of a `guarded` loop says before each trip whether to go on: a bool by its value, an i64 as the
    number of trips to make, which a loop in reverse asks once.
    `%s, %ys = tess.scan %w, %s0, %xs {constants = 1 : si64, carried = 1 : si64} { ^bb0(...): ... tess.yield %s1, %y : ... } : ...`
  }];
  let arguments = (ins Variadic<Tess_Moved>:$inputs, SI64Attr:$constants, SI64Attr:$carried, OptionalAttr<SI64Attr>:$length,
                   DefaultValuedAttr<BoolAttr, "false">:$reverse, DefaultValuedAttr<BoolAttr, "false">:$guarded);
  let results = (outs Variadic<Tess_Moved>:$outs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$inputs attr-dict-with-keyword $body `:` functional-type($inputs, $outs)";
}

def Tess_YieldOp : Tess_StructureOp<"yield", [Pure, Terminator, ParentOneOf<["FusionOp", "ScanOp"]>]> {
  let summary = "results of a fused group, or of a trip of a loop";
  let description = "`tess.yield %c : tensor<?xf32>`";
  let arguments = (ins Variadic<Tess_Moved>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tess_NamedSizeOp : Tess_StructureOp<"named_size", [MemoryEffects<[MemWrite]>]> {
  let summary = "a size that data decides, with a symbol for sizes of later operators";
  let description = [{
    Symbol number 2^31 + `number` stands for the size of `axis` of the value in sizes that are expressions. It has an effect, so that
    the value is computed although only its size is used.
    `tess.named_size %y {axis = 0 : i64, number = 0 : i64} : tensor<?xf32>`
  }];
  let arguments = (ins Tess_Moved:$value, I64Attr:$axis, I64Attr:$number);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tess_KernelOp : Tess_StructureOp<"kernel", [Symbol]> {
  let summary = "text of the kernel that a fused group becomes";
  let description = [{
    Lines of a kernel's text form, for those who read or test the compiler; executables hold machine code instead.
    `tess.kernel @kernel0 { "kernel parallel=1 reduced=0 lanes=parallel attrs=0" "o0 = input f32 contiguous" ... }`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$text);
  let assemblyFormat = "$sym_name custom<Lines>($text) attr-dict";
}

#endif // TESS_IR_STRUCTURE
