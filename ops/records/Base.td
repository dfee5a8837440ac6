//===- Base.td - what a Tessera record may say ---------------*- tablegen -*-===//
//
// The base class of every operator record and the vocabulary of its fields.
// mlir-tblgen reads the ODS fields, tess-tblgen reads all of them. None of our
// field types derives from Attr (mlir-tblgen would emit them), and TableGen has
// no floats: constants in dags are strings.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_BASE
#define TESS_OPS_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ops/records/Scalar.td"
include "ops/records/Names.td"

def Tess_Dialect : Dialect {
  let name = "tess";
  let cppNamespace = "::tess::ir";
  let summary = "Tessera's operators on ranked tensors";
  let extraClassDeclaration = [{
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

// Operand and result types, the families of ops/vocabulary/DType.def. i1 is bool; signless integers are signed.
defvar floatTypes = [F16, BF16, F32, F64];
defvar intTypes = [I8, UI8, I16, UI16, I32, UI32, I64, UI64];
defvar numberTypes = !listconcat(floatTypes, intTypes);
defvar complexTypes = [Complex<F32>, Complex<F64>];
def Tess_Float : RankedTensorOf<floatTypes>;
def Tess_HalfOrF32 : RankedTensorOf<[F16, BF16, F32]>;
def Tess_WideFloat : RankedTensorOf<[F32, F64]>; // also of a result: float32 where the rule gives a half float
def Tess_Int : RankedTensorOf<intTypes>;
def Tess_Bool : RankedTensorOf<[I1]>;
def Tess_FloatOrBool : RankedTensorOf<!listconcat(floatTypes, [I1])>;
def Tess_IntOrBool : RankedTensorOf<!listconcat(intTypes, [I1])>;
def Tess_Number : RankedTensorOf<numberTypes>;
def Tess_NumberOrBool : RankedTensorOf<!listconcat(numberTypes, [I1])>;
def Tess_Complex : RankedTensorOf<complexTypes>;
def Tess_FloatOrComplex : RankedTensorOf<!listconcat(floatTypes, complexTypes)>;
def Tess_NumberOrComplex : RankedTensorOf<!listconcat(numberTypes, complexTypes)>;
def Tess_NumberOrBoolOrComplex : RankedTensorOf<!listconcat(numberTypes, [I1], complexTypes)>;
defvar anyTypes = !listconcat(numberTypes, [I1], complexTypes, [F8E4M3FN, F8E5M2]);
// Those of float8 too, with which nothing computes.
def Tess_Any : RankedTensorOf<anyTypes>;
// What only moves elements takes quantized ones besides: what is stored says nothing without scale and zero point.
def Tess_QuantizedElement : Type<CPred<"::llvm::isa<::tess::ir::QuantizedType>($_self)">, "quantized">;
def Tess_Quantized : RankedTensorOf<[Tess_QuantizedElement]>;
// And those of a quantized dtype that is stored as such integers.
class Tess_StoredAs<string storage>
    : Type<And<[Tess_QuantizedElement.predicate,
                CPred<"::tess::storageOf(::llvm::cast<::tess::ir::QuantizedType>($_self).getDType()) == ::tess::DType::" # storage>]>,
           "quantized to " # storage>;
def Tess_Byte : RankedTensorOf<[I8, UI8, Tess_StoredAs<"Int8">, Tess_StoredAs<"UInt8">]>;
def Tess_SignedByte : RankedTensorOf<[I8, Tess_StoredAs<"Int8">]>;
def Tess_QuantizedOrInt : RankedTensorOf<!listconcat(intTypes, [Tess_QuantizedElement])>;
// And those of few bits, whose numbers are odd: what makes zeros or sums takes none.
def Tess_LowBitElement : Type<CPred<"::llvm::isa<::tess::ir::LowBitType>($_self)">, "intb">;
def Tess_Unquantized : RankedTensorOf<!listconcat(anyTypes, [Tess_LowBitElement])>;
def Tess_Moved : RankedTensorOf<!listconcat(anyTypes, [Tess_QuantizedElement, Tess_LowBitElement])>;
def Tess_F32 : RankedTensorOf<[F32]>;
def Tess_Index : RankedTensorOf<[I32, I64]>;
def Tess_I8 : RankedTensorOf<[I8]>;
def Tess_I32 : RankedTensorOf<[I32]>;

//===----------------------------------------------------------------------===//
// Attributes. A number is `Runtime<...>`, an operand of the compiled code, or
// BindTime, or Static with a reason; of a view it is nothing of these, because a
// view compiles to nothing. Only the kinds of ops/vocabulary/AttrValue.h are allowed:
// SI64Attr (I64), F64Attr, BoolAttr, StrAttr, DenseI64ArrayAttr (I64List), Tess_DTypeAttr.
//===----------------------------------------------------------------------===//

// A dtype, stored as its short name ("f32").
def Tess_DTypeAttr : StringBasedAttr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "element type">;

class Runtime<Attr a> : Attr<a.predicate, a.summary> {
  let isOptional = a.isOptional;
  let storageType = a.storageType;
  let returnType = a.returnType;
  let convertFromStorage = a.convertFromStorage;
  let constBuilderCall = a.constBuilderCall;
  let defaultValue = a.defaultValue;
  let valueType = a.valueType;
  let baseAttr = a;
}

// Extra facts about one attribute: `let attrFacts = [Cases<"mode", ["a", "b"]>, Range<"axis", "-8", "7">]`.
class AttrFact<string n> { string attr = n; }
class Cases<string n, list<string> c> : AttrFact<n> { list<string> cases = c; }
class Range<string n, string lo, string hi> : AttrFact<n> { string low = lo; string high = hi; }
class Doc<string n, string text> : AttrFact<n> { string doc = text; }
// An axis, or a list of distinct axes, of operand `operand`: in [-n, n-1], n = rank + extra.
class Axis<string n, string op, int e = 0> : AttrFact<n> { string operand = op; int extra = e; }
// A list of axes whose order says nothing.
class AxisSet<string n, string op> : Axis<n, op>;
class Length<string n, int l> : AttrFact<n> { int length = l; }
// An integer dtype of the result must hold the number but for its fraction; with "AtMost" or "AtLeast" the number must not be
// above its largest, or below its smallest one.
class Fits<string n, string e = "Both"> : AttrFact<n> { string end = e; }
// The attribute decides shapes and places only, never code: read when shapes are bound, no part of a cache key. A
// composite that has one is applied operator by operator.
class BindTime<string n> : AttrFact<n>;
// The integer or list may be an expression of the sizes of a program's inputs (ops/vocabulary/SizeExpr.h), which bind computes.
class SizeAttr<string n> : AttrFact<n>;
// The numeric attribute is part of the code, because of `why`: one class of calls for each value.
class Static<string n, string why> : AttrFact<n> { string reason = why; }
defvar loopAxes = "which axes are reduced decides the loops of the code";
defvar normFormulas = "2 and the infinities are other formulas than powers";

//===----------------------------------------------------------------------===//
// Result dtypes
//===----------------------------------------------------------------------===//
class DTypeRule;
class Same<string op> : DTypeRule { string operand = op; }
class Promote<list<string> ops> : DTypeRule { list<string> operands = ops; }
// As Promote; where attribute `a` is given, it is float32, and operands are any floats up to that, each by itself. A graph that
// casts narrow operands to float32 gives it these as they are (ops/graphs/Subgraph.h).
class PromoteOr<list<string> ops, string a> : DTypeRule { list<string> operands = ops; string attr = a; }
class PromoteFloat<list<string> ops> : DTypeRule { list<string> operands = ops; }
// The operands of `agree`, if any, must have one dtype.
class Fixed<string d, list<string> agree = []> : DTypeRule { string dtype = d; list<string> operands = agree; }
class FromAttr<string a> : DTypeRule { string attr = a; }
class SumOf<string op> : DTypeRule { string operand = op; } // bool becomes int32
class PartOf<string op> : DTypeRule { string operand = op; } // of complex numbers the dtype of their parts
class ComplexOf<list<string> ops> : DTypeRule { list<string> operands = ops; } // whose parts the promoted floats are
class DTypes<list<string> t> : DTypeRule { list<string> terms = t; } // for each result, beside `sizes`

//===----------------------------------------------------------------------===//
// Scalar bodies, of the functions of Scalar.td: (s_mul $x, C<"0.5">); `$name` is an operand or an attribute,
// (s_id $x) the operand itself, (s_dimindex 0) the index along the last axis.
//===----------------------------------------------------------------------===//
class C<string v> { string value = v; }

//===----------------------------------------------------------------------===//
// Dags of operators, for `gradient` and `forward`: (op<"mul"> $dout, $rhs),
// (op<"sum", "axes=$axes;keepdims=true"> $x). In `gradient`: operands, results
// and `$d<result>`; one dag per operand, (none) where there is no gradient.
// A value of attribute text may be a term (ops/tblgen/TermParser.h): `$a` is an
// attribute of this op, `@x` the dtype and `#x` the shape of a value, `[1, *$a]` a list
// with the elements of one. reshape_like, sum_to and full_like become reshape, sum and
// full where shapes are known, so that nothing is saved for its shape alone.
// A dag that occurs again is made once, and one that no branch takes not at all.
// A Composite without a gradient is differentiated through its forward graph.
//===----------------------------------------------------------------------===//
class op<string n, string attrs = ""> { string opName = n; string attrText = attrs; }
// (when<"swap=true"> a, b) is `a` where the attribute has that value, else `b`; a condition may be a term, too.
class when<string c> { string condition = c; }
// (must<"height must be known", "isNumber(#x[2])", "{x}"> a) is `a`, or an error where the condition does not hold.
class must<string m, string c, string g> { string must = m; string condition = c; string got = g; }
// (each<"i < $n"> a), among the operands of another, or of a list of operands or results: `a` for each i.
class each<string r> { string range = r; }
// (at<"i"> $inputs): operand i of a list of them; in `gradient` of results and of their gradients, too.
class at<string i> { string index = i; }
// (result<"indices"> (op<"topk", "k=$k"> $x)): another result than the first one.
class result<string r> { string result = r; }
// (piece<"unflatten", ["1", "$groups", "#x[1] // $groups"]> $x): a short form of ops/graphs/GraphPieces.h or ops/graphs/PixelPieces.h,
// with terms; ops/tblgen/Graphs.cpp lists them.
class piece<string p, list<string> t = []> { string piece = p; list<string> terms = t; }
// A constant of a value's dtype, rank 0; "$a" is the number of an attribute.
class K<string v, string like> { string value = v; string likeOperand = like; }
def none;
def same; // (same $dout): the value itself
// In `gradient` of an elementwise operator: `grad`, or 0 where 0 arrives and the slope is infinite or NaN, as of an element
// that a mask leaves out. It stays linear in $dout, as gradients of gradients need it.
class Arriving<dag grad> {
  defvar zero = K<"0", "dout">;
  defvar isLeftOut = (op<"logical_and"> (op<"isnan"> grad), (op<"equal"> $dout, zero));
  defvar chosen = (op<"where"> isLeftOut, zero, grad);
  // A product or a quotient of $dout, or of a multiple of it, which has no name, has an operator that chooses.
  defvar name = !if(!isa<op>(!getdagop(grad)), !getdagop<op>(grad).opName, "");
  defvar first = !if(!initialized(!getdagname(grad, 0)), !getdagname(grad, 0), "dout");
  defvar isOfArriving = !and(!or(!eq(name, "mul"), !eq(name, "div")), !eq(first, "dout"));
  dag all = (when<"isComplex(@dout)"> grad, !if(isOfArriving, !setdagop(grad, op<"masked_" # name>), chosen));
}
// `x`, whose rank is a term, from `start` to below `stop` along an axis.
class Slice<dag x, string rank, string axis, string start, string stop, string step = "1"> {
  defvar end = !if(!empty(stop), "9223372036854775807", stop);
  dag all = (op<"slice", "starts=[(i == " # axis # " ? " # start # " : 0) for i < " # rank # "];stops=[(i == " # axis
                 # " ? " # end # " : 9223372036854775807) for i < " # rank # "];steps=[(i == " # axis # " ? " # step
                 # " : 1) for i < " # rank # "]"> x);
}
// The order of axes in which `axis` is the last one.
class LastAxis<string rank, string axis> {
  string pattern = "[*without([i for i < " # rank # "], " # axis # "), " # axis # "]";
}

//===----------------------------------------------------------------------===//
// Conditions. `must` and `got` are the two parts of the error, with operands and
// terms in braces; the constraint has `label`, or `must` without a term in
// parentheses: Require<"n ({$n}) must divide x", "#x[0] % $n == 0", "x {x}">. `subject`, a term, is what the error
// names in the place of the operator.
//===----------------------------------------------------------------------===//
class Require<string m, string c, string g, string l = "", string s = ""> {
  string must = m;
  string condition = c;
  string got = g;
  string label = l;
  string subject = s;
}
// Of a result that numbers, as int32, the elements along an axis; as a condition, where the term `size` is its size.
defvar fitsInt32 = "axis must have at most 2147483647 elements";
class FitsInt32<string size, string operand> : Require<fitsInt32,
  !strconcat(size, " < 2147483648"), !strconcat(operand, " {", operand, "}")>;
// An attribute in its one form, a term, where `when` holds; `#out` is the shape that inference gives.
class Normal<string a, string t, string w = "true", bit checked = 0> {
  string attr = a;
  string term = t;
  string when = w;
  bit isChecked = checked; // what inference refuses is an error before
}
// What a Movement copies from an operand to the result: `size` elements from `from` on, to `to`; lists as terms.
// `range` of a list of operands: "k < len(#inputs)".
class CopyRegion<string o, string f, string t, string s, string r = "", string st = ""> {
  string operand = o;
  string from = f; // empty: the operand is broadcast to this size
  string to = t;
  string size = s;
  string range = r;
  string steps = st; // along each axis of the result; empty: 1
}
// What slice, and slice_set of x, take along axis i, and their attributes in one form. In_bounds keeps the axes without a
// number for their size, whose bounds are checked later.
def SliceTerms {
  defvar step = "(len($steps) == 0 ? 1 : $steps[i])";
  defvar along = "($starts[i], $stops[i], " # step # ", #x[i])";
  defvar axis = "axis($in_bounds[i], len(#x))";
  defvar isEach = "len($starts) == len(#x) && len($stops) == len(#x) && (len($steps) == 0 || len($steps) == len(#x))";
  defvar isRight = isEach # " && !(0 in $steps)";
  defvar isOpen = "(!isNumber(#x[i]) || isSymbolic($starts[i]) || isSymbolic($stops[i]))";
  string starts = "[sliceStart" # along # " for i < len(#x)]";
  string steps = "[" # step # " for i < len(#x)]";
  string sizes = "[(len($in_bounds) != 0 && i in axis($in_bounds, len(#x)) && isOneIndex($starts[i], $stops[i], " # step
                 # ") ? 1 : sliceLength" # along # ") for i < len(#x)]";
  // Of channels that a slice takes all and forwards.
  string isWhole = "(isSame([$starts[i]], [0]) || isSame([$starts[i]], [-#x[i]])) && " # step # " == 1";
  list<Require> requires = [Require<"starts, stops and steps must have an entry for each axis", isEach,
                                    "x {x}, starts {$starts}, stops {$stops} and steps {$steps}">,
      Require<"steps must not be 0", "!(0 in $steps)", "{$steps}">,
      Require<"starts must be indices of x for the axes in_bounds",
              "all(startsInBounds($starts[" # axis # "], #x[" # axis # "]) for i < len($in_bounds))",
              "x {x}, starts {$starts} and in_bounds {$in_bounds}">];
  list<Normal> normalised = [
      Normal<"in_bounds", "[i for i < len(#x) if i in axis($in_bounds, len(#x)) && " # isOpen # "]",
             "len($in_bounds) != 0 && " # isRight, /*checked=*/1>,
      Normal<"starts", "[(" # isOpen # " ? $starts[i] : sliceStart" # along # ") for i < len(#x)]", isRight>,
      Normal<"stops", "[(" # isOpen # " ? $stops[i] : sliceStop" # along # ") for i < len(#x)]", isRight>,
      Normal<"steps", "[1 for i < len(#x)]", "len($steps) == 0 && " # isEach>];
}

//===----------------------------------------------------------------------===//
// Python surface
//===----------------------------------------------------------------------===//
class Py<string m, string n, list<string> meths = [], string oper = "", list<string> names = []> {
  string module = m;            // "functional.nn"
  string name = n;              // "softmax"
  list<string> methods = meths; // Tensor methods with the operand 0 as self
  string operator = oper;       // "+", "@", "abs": binary or unary operator of Tensor
  list<string> renamed = names; // "axes=axis": parameters that have another name in Python
}

// A channelAxis: nothing moves but along the axis.
defvar besidesAxis = "i == axis($axis, len(#x)) ? -1 : i";

//===----------------------------------------------------------------------===//
// Samples: operand shapes (and value ranges) that drive the generated tests.
//===----------------------------------------------------------------------===//
class Sample<list<string> s, string attrs = "", string lo = "-2", string hi = "2", list<string> dt = []> {
  list<string> shapes = s;    // "2,3", "" for rank 0
  string attrText = attrs;
  string low = lo;            // range of the random values; "-2; 0": one for each operand
  string high = hi;           // exclusive for integers
  list<string> dtypes = dt;   // empty: every allowed dtype
}
// What a version computed where its text had `when` ("mode=2"; "": wherever no Split before it holds), in operators of
// today: one dag for each result, whose `$a` are attributes as the upgrades give them.
class Split<int v, list<dag> g, string w = ""> {
  int version = v;
  list<dag> graph = g;
  string when = w;
}

// The outside oracle: a Python expression over `np`, `sp` (scipy), the operands and attributes by name.
class Oracle<string e> { string expr = e; }

// Names the library of the records in a file that programs load (docs/howto/custom_op.md), and its version.
class Plugin<string l, string v> {
  string library = l;
  string version = v;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//
class LoweringRule;
def Elementwise_ : LoweringRule;                                      // `scalar`
def Compute_ : LoweringRule;                                          // `compute`
class Reduction<string k, bit needs = 0> : LoweringRule {              // over `axes`, or `axis` for the index of an element
  string kind = k;                                                    // of ReduceKind in ops/operator/OpInfo.h
  bit needsElements = needs;                                          // no elements have no result
}
class Composite<string r = ""> : LoweringRule { string rule = r; }    // `forward` dags, or a function of ops/graphs/ForwardRules.h
class View<string k> : LoweringRule { string kind = k; }               // of ViewKind in ops/operator/OpInfo.h; see `order`
class Movement<string s = ""> : LoweringRule {                        // see `copies`
  string steps = s; // the attribute with the steps along each axis that a region takes in the result; none: steps of 1
}
def Lookup_ : LoweringRule;                                           // elements at the indices that operands 1 and on hold
class Scatter<string f = ""> : LoweringRule { string function = f; }  // operand 1 written at the indices that 2 and on hold
def Window_ : LoweringRule;                                           // `compute`, max or min over the elements of windows
class Library<string k> : LoweringRule { string kernel = k; }         // a kernel of runtime/KernelTable
class Sequential<string k> : LoweringRule { string kernel = k; }      // the same, on its allow-list

// What results are shaped like, and what must hold.
class Shaped {
  string shapes = "";          // signature, or
  string shapeRule = "";       // a function of ops/inference/ShapeRules.h; `compute` gives a signature, too, and a Composite without
                               // either has the shapes that its operators give
  list<string> sizes = [];     // in the place of `shapes`: a term for the shape of each result, or for those of a list
  string order = "";           // the same of a View, which permutes axes: those of operand 0 that the result has
  list<string> strided = [];   // of a View: terms for the first index along each axis of operand 0, and for the steps;
                               // one without order and strided reshapes or broadcasts, as its kind says
  list<Require> requires = []; // conditions beyond the signature, in the order in which they are checked; or
  string check = "";           // a function of ops/inference/Checks.h; reductions have theirs
  string boundRule = "";       // the same; largest result metas when a size depends on data
  list<string> constraints = []; // what rule or check demand beyond the signature; a label is <op>.<the words>
}

// No attributes but those of the record (ir/Dialect.h).
def RecordAttributes : NativeOpTrait<"RecordAttributes"> {
  let cppNamespace = "::tess::ir";
}

// createOp() (ir/OpBridge.h) builds all operators, by name. TableGen wants one builder where the default ones are left out.
class BuiltByName<string mnemonic, list<Trait> traits>
    : Op<Tess_Dialect, mnemonic, !listconcat(traits, [Pure, InferTypeOpAdaptorWithIsCompatible, RecordAttributes])> {
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands),
                            "$_state.addOperands(operands); $_state.addTypes(results);">];
}

// `summary`, `description` and one sample at least must be given: documentation shows the first sample, as Python and
// as text of the dialect.
class Tess_Op<string mnemonic, list<Trait> traits = []> : BuiltByName<mnemonic, traits>, Shaped {
  bit sharded = 0;             // the signature gives the sharding rule (Elementwise, Compute_: always)
  DTypeRule dtypes = ?;
  LoweringRule lowering = ?;
  string oldKernel = "";       // of runtime/KernelTable, which compiled files call that are older than the lowering
  list<dag> scalar = [];       // Elementwise: one dag per result
  string compute = "";         // Compute_: the result in index notation (ops/inference/Notation.h), in the place of `shapes`
  list<dag> forward = [];      // Composite: one dag per result
  list<dag> gradient = [];     // one dag per operand; or
  string gradientRule = "";    // a function of ops/graphs/GradientRules.h; of `compute` and of reductions it follows
  bit noGradient = 0;          // a Composite that is not differentiated
  list<string> hidden = [];    // results that are not returned
  list<string> inplace = [];   // "x=out"
  list<AttrFact> attrFacts = [];
  list<Normal> normalised = []; // attributes in one form; default: axes are counted from the front (but of views)
  list<CopyRegion> copies = []; // of a Movement, in the order in which they are copied
  bit stochastic = 0;
  list<string> multiplyAdds = []; // terms, over operands and results, whose product is the number of multiplications by definition
  string channels = "";        // a function of ops/inference/ChannelRules.h: where the axis of a quantized operand's channels goes; or
  string channelAxis = "";     // a term for that of axis i, -1 where the result has not these channels
  string quant = "";           // rounds: of a quantized operand 0, or of one on a grid, the result is computed in float32 and rounded to its grid
  string autocast = "";        // low, high or low_data: what it computes in where autocast is on (Precision in ops/operator/OpInfo.h)
  bit keepsAxes = 0;           // axes of a result mean what those of operand 0 do (Elementwise, Compute_: always)
  bit takesVectors = 0;        // the operands may be vectors, as those of NumPy's matmul
  int sampleRank = 0;          // rank of operand 0 for one sample, which gets a batch axis of 1; 0: it must have one
  list<Sample> samples = [];
  Oracle oracle = ?;
  Py python = ?;
  string flatWithout = "";     // the axis without which C++ flattens operand 0, as the sugar of Python does
  string opdef = "";           // default: CamelCase of the mnemonic
  // ONNX's operator: "Elu(alpha=alpha)" takes the operands in this order, and its attributes are those of the record that
  // stand behind the equal signs; of "Conv(...)" functions of tessera.onnx say what differs.
  string onnx = "";
  int version = 1;
  list<string> upgrades = [];  // for older texts: lines of ops/table/UpgradeStep.h
  list<Split> splits = [];     // versions that have become several operators
  string example = "";         // Python, for the docstring; default: made from the first sample
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // TESS_OPS_BASE
