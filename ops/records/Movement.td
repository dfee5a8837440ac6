//===- Movement.td - elements brought to other places --------*- tablegen -*-===//
#ifndef TESS_OPS_MOVEMENT
#define TESS_OPS_MOVEMENT

include "ops/records/Base.td"

class MoveOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Moved:$out);
  let dtypes = Same<"x">;
  let lowering = Movement<>;
  let oracle = Oracle<expr>;
  let python = Py<"functional.tensor", m, [], "", ["x=inp"]>;
}
defvar someInputs = Require<"inputs must not be empty", "0 < len(#inputs)", "none">;
class JoinOp<string m, string what, string expr> : MoveOp<m, what, expr> {
  let arguments = (ins Variadic<Tess_Moved>:$inputs, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let dtypes = Promote<["inputs"]>;
  let keepsAxes = 1;
  let python = Py<"functional.tensor", m, [], "", ["inputs=inps"]>;
}
def Tess_ConcatOp : JoinOp<"concat", "tensors one after the other along an axis",
                           "np.concatenate(inputs, axis)"> {
  let description = [{Along axis, the elements of the first input come first, then those of the second, and so
    on; its size is the sum of the inputs' sizes, which may be 0.}];
  defvar axis = "axis($axis, len(#inputs[0]))";
  defvar rest = !strconcat("[without(#inputs[i], ", axis, ") for i < len(#inputs)]"); // sizes besides axis
  let requires = [someInputs,
      Require<"inputs must have the same rank, at least 1",
              "all(len(#inputs[i]) == len(#inputs[0]) && 0 < len(#inputs[i]) for i < len(#inputs))", "{inputs}">,
      Require<"dimensions besides axis {" # axis # "} must match", "alike(" # rest # ")", "{inputs}", "dimensions besides axis must match">];
  let sizes = [!strconcat("with(unified(", rest, "), ", axis, ", sum([#inputs[i][", axis, "] for i < len(#inputs)]))")];
  let copies = [CopyRegion<"inputs", "[0 for i < len(#out)]", "[(i == " # axis # " ? sum([#inputs[j][i] for j < k]) : 0) for i < len(#out)]",
                           "#inputs[k]", "k < len(#inputs)">];
  defvar size = !strconcat("#inputs[k][", axis, "]");
  defvar start = !strconcat("sum([#inputs[j][", axis, "] for j < k])");
  let gradient = [(each<"k < len(#inputs)"> (must<"size of the axis must be known for the gradient", "hasSize(" # size # ")", "{#inputs[k]}">
                     Slice<(same $dout), "len(#dout)", axis, start, start # " + " # size>.all))];
  let attrFacts = [Axis<"axis", "inputs">, BindTime<"axis">, Doc<"axis", "axis to join along">];
  let samples = [Sample<["2,3", "4,3"]>, Sample<["2,3", "2,1", "2,2"], "axis=1">, Sample<["2,3"], "axis=-1">,
                 Sample<["0,3", "2,3"]>, Sample<["2,1,3,2", "2,5,3,2"], "axis=1">];
  let onnx = "Concat(axis=axis)";
}
def Tess_StackOp : JoinOp<"stack", "tensors side by side along a new axis", "np.stack(inputs, axis)"> {
  let description = [{Input number i is `out[..., i, ...]`, i standing at axis, whose size is the number of inputs.}];
  defvar axis = "axis($axis, len(#inputs[0]) + 1)";
  let requires = [someInputs, Require<"inputs must have the same shape", "alike(#inputs)", "{inputs}">];
  let sizes = ["with(unified(#inputs), " # axis # ", len(#inputs))"];
  let lowering = Composite<>;
  let forward = [(op<"concat", "axis=" # axis> (each<"i < len(#inputs)"> (op<"expand_dims", "axis=[" # axis # "]"> (at<"i"> $inputs))))];
  let keepsAxes = 0;
  let channelAxis = axis # " <= i ? i + 1 : i";
  let attrFacts = [Axis<"axis", "inputs", 1>, Static<"axis", "it decides the order of axes in the code">,
                   Doc<"axis", "place of the new axis">];
  let samples = [Sample<["2,3", "2,3"]>, Sample<["2,3", "2,3", "2,3"], "axis=-1">, Sample<["", ""]>, Sample<["0", "0"], "axis=1">];
}
def Tess_SplitOp : MoveOp<"split", "parts of given sizes along an axis",
                          "np.split(x, np.cumsum(sections)[:-1], axis)"> {
  let description = [{Result number i has the next sections[i] elements along axis; a section may be 0.}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$sections, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Variadic<Tess_Moved>:$outs);
  defvar axis = "axis($axis, len(#x))";
  let requires = [Require<"sections must not be empty", "0 < len($sections)", "{$sections}">,
                  Require<"sections must add up to the size of axis {" # axis # "}", "#x[" # axis # "] == sum($sections)",
                          "sections {$sections} and x {x}", "sections must add up to the size of the axis">];
  let sizes = ["[with(without(#x, " # axis # "), " # axis # ", $sections[i]) for i < len($sections)]"];
  let lowering = Composite<>;
  let forward = [(each<"k < len($sections)"> Slice<(same $x), "len(#x)", axis, "sum($sections[:k])", "sum($sections[:k]) + $sections[k]">.all)];
  let gradient = [(op<"concat", "axis=$axis"> (each<"i < len($sections)"> (at<"i"> $douts)))];
  let channelAxis = besidesAxis;
  let attrFacts = [Axis<"axis", "x">, Range<"sections", "0", "9007199254740992.0">, Doc<"sections", "size of each part">,
                   Doc<"axis", "axis to cut">, BindTime<"sections">, SizeAttr<"sections">, BindTime<"axis">];
  let samples = [Sample<["6"], "sections=[1, 2, 3]">, Sample<["2,4"], "sections=[2, 2];axis=1">,
                 Sample<["2,4"], "sections=[2];axis=0">, Sample<["2,4"], "sections=[0, 4];axis=-1">];
  let onnx = "Split(...)";
}
def Tess_PadOp : MoveOp<"pad", "a border of one value",
    "tess_oracle.pad(x, low, high, value)"> {
  let description = [{The size of axis i becomes `low[i] + n + high[i]`; what is added is value, and what low or
    high is negative by is cut off.}];
  let arguments = (ins Tess_Any:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                   Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$value);
  let results = (outs Tess_Any:$out);
  defvar padded = "(#x[i] + ($low[i] + $high[i]))";
  defvar values = "x {x}, low {$low} and high {$high}";
  let requires = [Require<"low and high must have an entry for each axis", "len($low) == len(#x) && len($high) == len(#x)", values>,
                  Require<"padded dimensions must not be negative", "all(!isNumber(#x[i]) || !isNumber($low[i]) || !isNumber($high[i])"
                          # " || (hasSize(" # padded # ") && 0 <= " # padded # ") for i < len(#x))", values>];
  let sizes = ["[" # padded # " for i < len(#x)]"];
  let copies = [CopyRegion<"x", "[max(0, -$low[i]) for i < len(#x)]", "[max(0, $low[i]) for i < len(#x)]",
                        "[max(0, min(#x[i], #out[i] - $low[i]) - max(0, -$low[i])) for i < len(#x)]">];
  let gradient = [(op<"pad", "low=[-$low[i] for i < len($low)];high=[-$high[i] for i < len($high)]"> $dout)];
  let attrFacts = [Doc<"low", "elements added before, for each axis">, Doc<"high", "elements added after, for each axis">,
                   Doc<"value", "value of the border">, Fits<"value">, BindTime<"low">, BindTime<"high">,
                   SizeAttr<"low">, SizeAttr<"high">];
  let samples = [Sample<["5"], "low=[1];high=[2]">, Sample<["2,3"], "low=[0, 1];high=[2, 0];value=1.5">,
                 Sample<["4,3"], "low=[-1, 0];high=[-2, 1]">, Sample<["0,3"], "low=[1, 0];high=[1, 0]">,
                 Sample<[""], "low=[];high=[]">];
  let python = Py<"functional.nn", "pad">;
  let onnx = "Pad(...)";
}
def Tess_SliceSetOp : MoveOp<"slice_set", "the tensor with a slice of it replaced",
                             "tess_oracle.slice_set(x, value, starts, stops, steps)"> {
  let shapes = "(*D), (*V) -> (*D)";
  let requires = !listconcat(SliceTerms.requires, [Require<"value must broadcast to the slice", !strconcat("fits(#value, ", SliceTerms.sizes, ")"),
                                                           !strconcat("value {value} and slice {", SliceTerms.sizes, "}")>]);
  let description = [{`out = x` but for `out[slice] = value`. Starts, stops, steps and in_bounds mean what they
    mean for slice; value broadcasts to the shape of the slice.}];
  let lowering = Movement<"steps">;
  let copies = [CopyRegion<"x", "[0 for i < len(#x)]", "[0 for i < len(#x)]", "#x">,
                CopyRegion<"value", "", SliceTerms.starts, SliceTerms.sizes, "", SliceTerms.steps>];
  let arguments = (ins Tess_Moved:$x, Tess_Moved:$value, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$stops,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$in_bounds);
  let dtypes = Promote<["x", "value"]>;
  let gradient = [(op<"slice_set", "starts=$starts;stops=$stops;steps=$steps"> $dout, K<"0", "dout">),
                  (op<"slice", "starts=$starts;stops=$stops;steps=$steps"> $dout)];
  let inplace = ["x=out"];
  let channelAxis = !strconcat(SliceTerms.isWhole, " && len(#value) == len(#x) ? i : -1");
  let normalised = SliceTerms.normalised;
  let attrFacts = [Doc<"starts", "first index for each axis">, Doc<"stops", "first index not taken, for each axis">,
                   Doc<"steps", "distance of indices, for each axis">,
                   Axis<"in_bounds", "x">, Doc<"in_bounds", "axes whose start must be an index of x">,
                   BindTime<"starts">, BindTime<"stops">, SizeAttr<"starts">, SizeAttr<"stops">,
                   Static<"steps", "a step of 1 along the last axis is copied by vectors">,
                   Static<"in_bounds", "each axis adds a check of its own">];
  let samples = [Sample<["6", "3"], "starts=[1];stops=[4]">, Sample<["4,6", "2,3"], "starts=[0, 5];stops=[4, -7];steps=[2, -2]">,
                 Sample<["4,6", ""], "starts=[1, 1];stops=[3, 3]">, Sample<["4,6", "6"], "starts=[1, 0];stops=[3, 6]">,
                 Sample<["4", "0"], "starts=[2];stops=[2]">,
                 Sample<["4,6", "6"], "starts=[-1, 0];stops=[4, 6];in_bounds=[0]">];
  let version = 2;
}
class RearrangeOp<string m, string what, string notation, string expr> : MoveOp<m, what, expr> {
  let compute = notation;
  let lowering = Compute_;
}
def Tess_RepeatOp : RearrangeOp<"repeat", "each element repeated along an axis",
                                 "out[*a, (t k), *b] = x[*a, t:axis, *b] where k < repeats", "np.repeat(x, repeats, axis)"> {
  let description = [{[a, b] repeated twice is [a, a, b, b], as by NumPy's repeat.}];
  let arguments = (ins Tess_Moved:$x, SI64Attr:$repeats, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let attrFacts = [Axis<"axis", "x">, Range<"repeats", "0", "1e9">, Doc<"repeats", "how often">,
                   Doc<"axis", "axis to repeat along">, BindTime<"repeats">, SizeAttr<"repeats">, BindTime<"axis">];
  let samples = [Sample<["3"], "repeats=2">, Sample<["2,3"], "repeats=3;axis=1">, Sample<["2,3"], "repeats=0">];
  let flatWithout = "axis";
}
def Tess_TileOp : RearrangeOp<"tile", "the tensor repeated along each axis",
                               "out[*(k t)] = x[*t] where *k < *reps", "np.tile(x, reps)"> {
  let description = [{[a, b] with reps 2 is [a, b, a, b], as by NumPy's tile: reps belong to the last axes, and more of them
    make new ones.}];
  let arguments = (ins Tess_Moved:$x, DenseI64ArrayAttr:$reps);
  let attrFacts = [Range<"reps", "0", "1e9">, BindTime<"reps">, SizeAttr<"reps">, Doc<"reps", "how often, for each axis">];
  let samples = [Sample<["3"], "reps=[2]">, Sample<["2,3"], "reps=[1, 3]">, Sample<["2,3"], "reps=[2, 2]">, Sample<["2,3"], "reps=[2, 0]">,
                 Sample<["2,3"], "reps=[2]">, Sample<["2"], "reps=[3, 1, 2]">];
  let python = Py<"functional.tensor", "tile", ["tile"], "", ["x=inp"]>;
  let onnx = "Tile(...)";
}
def Tess_PixelShuffleOp : RearrangeOp<"pixel_shuffle", "channels made pixels",
    "out[*n, c, (h i), (w j)] = x[*n, (c i j), h, w] where i < upscale_factor, j < upscale_factor", "tess_oracle.pixel_shuffle(x, upscale_factor)"> {
  let description = [{`out[..., c, h * r + i, w * r + j] = x[..., (c * r + i) * r + j, h, w]`, r being upscale_factor. W.
    Shi et al.: Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural
    Network, CVPR 2016.}];
  let arguments = (ins Tess_Moved:$x, SI64Attr:$upscale_factor);
  let attrFacts = [Range<"upscale_factor", "1", "1e5">, BindTime<"upscale_factor">,
                   Doc<"upscale_factor", "how much larger height and width become">];
  let samples = [Sample<["2,8,3,2"], "upscale_factor=2">, Sample<["9,2,1"], "upscale_factor=3">,
                 Sample<["2,3,2,2"], "upscale_factor=1">, Sample<["2,0,4,2,2"], "upscale_factor=2">];
  let python = Py<"functional.nn", "pixel_shuffle", [], "", ["x=inp"]>;
  let onnx = "DepthToSpace(...)";
}
def Tess_RollOp : MoveOp<"roll", "the elements moved along an axis, around its end",
                         "np.roll(x, shift, axis)"> {
  let description = [{`out[(i + shift) mod n] = x[i]` along axis: what leaves at one end comes back at the
    other, as by NumPy's roll.}];
  let arguments = (ins Tess_Moved:$x, SI64Attr:$shift, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let shapes = "(*D) -> (*D)";
  // Two pieces change places: the elements that leave at the end of the axis return at its start.
  defvar isAlong = "i == axis($axis, len(#x))";
  defvar size = "#x[axis($axis, len(#x))]";
  defvar shift = "(" # size # " == 0 ? 0 : $shift % " # size # ")";
  defvar start = "[0 for i < len(#x)]";
  let copies = [CopyRegion<"x", "[(" # isAlong # " ? " # size # " - " # shift # " : 0) for i < len(#x)]", start,
                        "[(" # isAlong # " ? " # shift # " : #x[i]) for i < len(#x)]">,
                 CopyRegion<"x", start, "[(" # isAlong # " ? " # shift # " : 0) for i < len(#x)]",
                        "[(" # isAlong # " ? " # size # " - " # shift # " : #x[i]) for i < len(#x)]">];
  let gradient = [(op<"roll", "shift=-$shift;axis=$axis"> $dout)];
  let channelAxis = besidesAxis;
  let attrFacts = [Axis<"axis", "x">, Range<"shift", "-9007199254740992.0", "9007199254740992.0">,
                   Doc<"shift", "by how many places">, BindTime<"shift">, SizeAttr<"shift">,
                   BindTime<"axis">, Doc<"axis", "axis to move along">];
  let samples = [Sample<["5"], "shift=2">, Sample<["2,3"], "shift=-1;axis=1">, Sample<["2,3"], "shift=7;axis=1">,
                 Sample<["0,3"], "shift=1">];
  let python = Py<"functional.tensor", "roll", ["roll"], "", ["x=inp"]>;
  let flatWithout = "axis";
}

#endif // TESS_OPS_MOVEMENT
