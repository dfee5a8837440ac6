//===- LocalConv.td - windows of images, one by one ----------*- tablegen -*-===//
//
// Convolutions whose weights, windows or elements depend on the place, as
// compositions: windows are taken by arrays of indices and multiplied as matrices.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_LOCAL_CONV
#define TESS_OPS_LOCAL_CONV

include "ops/records/Base.td"

defvar placeAttrs = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                         DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding,
                         DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilation);
defvar placeGroups = !con(placeAttrs, (ins DefaultValuedAttr<SI64Attr, "1">:$groups));
defvar placeFacts = [Length<"strides", 2>, Length<"padding", 2>, Length<"dilation", 2>, Range<"strides", "1", "1e9">,
                     Range<"padding", "0", "1e9">, Range<"dilation", "1", "1e9">, BindTime<"strides">, BindTime<"padding">,
                     BindTime<"dilation">, Doc<"strides", "distance of windows along height and width">,
                     Doc<"padding", "zeros added on both sides of height and width">,
                     Doc<"dilation", "distance of the elements of a window">];
defvar groupFacts = !listconcat(placeFacts, [Range<"groups", "1", "1e9">, BindTime<"groups">,
                                             Doc<"groups", "number of independent blocks of channels">]);
defvar kernelFacts = !listconcat(placeFacts, [Length<"kernel_size", 2>, Range<"kernel_size", "1", "1e9">,
                                              BindTime<"kernel_size">, Doc<"kernel_size", "height and width of a window">]);
defvar fits = "window must fit into the padded input";

// Windows of images: height and width of a window, and of the images, as terms.
class WindowsOf<string kh, string kw, string image> {
  string oh = "windows(" # image # "[0], " # kh # ", $strides[0], $padding[0], $dilation[0])";
  string ow = "windows(" # image # "[1], " # kw # ", $strides[1], $padding[1], $dilation[1])";
  string places = oh # ", " # ow;
  string fit = oh # " != -1 && " # ow # " != -1";
  string known = "isNumber(" # kh # ") && isNumber(" # kw # ")";
}
defvar border = "low=[0, 0, $padding[0], $padding[1]];high=[0, 0, $padding[0], $padding[1]]";
// Where the elements of windows of padded images are along an axis, [KH, 1, OH, 1] or [1, KW, 1, OW].
class Places<dag padded, int axis, string kernel> {
  defvar reach = "$dilation[" # axis # "] * (" # kernel # " - 1)";
  defvar numbers = (piece<"numbers", [!cast<string>(!add(axis, 2)), "i32"]> padded);
  defvar first = Slice<numbers, "1", "0", "0", "(" # reach # " == 0 ? 9223372036854775807 : -(" # reach # "))",
                       "$strides[" # axis # "]">.all;
  defvar inside = (op<"arange", "num=" # kernel # ";step=$dilation[" # axis # "];dtype=i32">);
  defvar place = (op<"add"> (op<"expand_dims", "axis=[1]"> inside), first);
  dag all = (op<"expand_dims", !if(!eq(axis, 0), "axis=[1, 3]", "axis=[0, 2]")> place);
}
// The windows of images, [N, C, KH, KW, OH, OW].
class Patches<dag images, string kh, string kw> {
  defvar padded = (op<"pad", border> images);
  dag all = (op<"index_get", "axes=[2, 3]"> padded, Places<padded, 0, kh>.all, Places<padded, 1, kw>.all);
}

// A value of which only the shape counts: that of `x` with so many channels; there may be none.
class WithChannels<dag x, string channels> {
  dag all = (op<"broadcast_to", "shape=[-1, " # channels # ", -1, -1]"> (op<"sum", "axes=[1];keepdims=true"> x));
}
// Channels [N, G * size, ...] as [N * G, size, ...].
class ByBlock<dag x, string blocks, string size> {
  dag all = (op<"flatten", "start_axis=0;end_axis=1"> (piece<"unflatten", ["1", blocks, size]> x));
}
// The convolution of a record by its weight [O, I, KH, KW], of patches [N, C * KH * KW, OH, OW].
class Convolved<dag patches> {
  defvar flat = (op<"flatten", "start_axis=1;end_axis=3"> $weight);
  defvar rows = (piece<"unflatten", ["0", "$groups", "#weight[0] // $groups"]> flat);
  defvar columns = (op<"flatten", "start_axis=3;end_axis=4">
      (piece<"unflatten", ["1", "$groups", "#weight[1] * (#weight[2] * #weight[3])"]> patches));
  defvar product = (op<"flatten", "start_axis=1;end_axis=2"> (op<"matmul"> rows, columns)); // [N, O, OH * OW]
  dag all = (op<"reshape_like"> product, WithChannels<patches, "#weight[0]">.all);
}
def ConvolvedWindows : WindowsOf<"#weight[2]", "#weight[3]", "[#x[2], #x[3]]">;
// What a record must hold whose windows are those of its weight.
defvar convolvedRequires = [
    Require<"channels of x must be groups ({$groups}) times those of weight", "#x[1] == #weight[1] * $groups",
            "x {x} and weight {weight}">,
    Require<"output channels must be a multiple of groups ({$groups})", "divides($groups, #weight[0])", "weight {weight}">,
    Require<fits, ConvolvedWindows.fit, "x {x} and weight {weight}">];

class PlaceOp<string m, string what, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let lowering = Composite<>;
  let attrFacts = groupFacts;
  let oracle = Oracle<"tess_oracle." # expr>;
  let python = Py<"functional.local_conv", m>;
}
def Tess_SlidingWindowOp : PlaceOp<"sliding_window", "windows of images",
                                   "sliding_window(x, kernel_size, strides, padding, dilation)"> {
  let description = [{`out[n, c, i, j, p, q] = x[n, c, i * strides[0] - padding[0] + p * dilation[0], j * strides[1] - padding[1]
    + q * dilation[1]]`, beyond the edges 0; sizes are those of a convolution.}];
  let arguments = !con((ins Tess_Number:$x, DenseI64ArrayAttr:$kernel_size), placeAttrs);
  let results = (outs Tess_Number:$out);
  let dtypes = Same<"x">;
  let attrFacts = kernelFacts;
  defvar windows = WindowsOf<"$kernel_size[0]", "$kernel_size[1]", "[#x[2], #x[3]]">;
  let requires = [Require<"x must have rank 4", "len(#x) == 4", "x {x}">, Require<fits, windows.fit, "x {x}">];
  let sizes = ["[#x[0], #x[1], " # windows.places # ", *$kernel_size]"];
  let forward = [(op<"transpose", "pattern=[0, 1, 4, 5, 2, 3]">
      Patches<(same $x), "$kernel_size[0]", "$kernel_size[1]">.all)];
  let samples = [Sample<["2,3,5,6"], "kernel_size=[3, 2]">,
                 Sample<["1,2,4,5"], "kernel_size=[2, 2];strides=[2, 1];padding=[1, 0];dilation=[1, 2]">,
                 Sample<["0,2,4,4"], "kernel_size=[1, 1]">];
}
def Tess_SlidingWindowTransposeOp : PlaceOp<"sliding_window_transpose", "images that windows add up to",
    "sliding_window_transpose(x, output_size, kernel_size, strides, padding, dilation)"> {
  let description = [{The gradient of `sum(sliding_window(y) * x)` by y, whose height and width are output_size: each element
    of x is added where sliding_window takes it from.}];
  let arguments = !con((ins Tess_Number:$x, DenseI64ArrayAttr:$output_size, DenseI64ArrayAttr:$kernel_size), placeAttrs);
  let results = (outs Tess_Number:$out);
  let shapes = "(N, C, OH, OW, KH, KW) -> (N, C, *@output_size)";
  defvar windows = WindowsOf<"$kernel_size[0]", "$kernel_size[1]", "$output_size">;
  defvar places = "[" # windows.places # ", *$kernel_size]";
  let requires = [Require<fits, windows.fit, "{$kernel_size} and output_size {$output_size}">,
                  Require<"x must have the windows of output_size, {" # places # "}",
                          "[#x[2], #x[3], #x[4], #x[5]] == " # places, "x {x}", "x must have the windows of output_size">];
  // Every window is added to zeros, of which the border is cut off; of images only the batch and the channels count.
  defvar images = (op<"sum", "axes=[2, 3];keepdims=true"> (op<"sum", "axes=[2, 3]"> $x));
  defvar size = "[-1, -1, $output_size[0] + 2 * $padding[0], $output_size[1] + 2 * $padding[1]]";
  defvar zeros = (op<"full_like", "value=0.0"> (op<"broadcast_to", "shape=" # size> images));
  defvar patches = (op<"transpose", "pattern=[0, 1, 4, 5, 2, 3]"> $x);
  defvar total = (op<"index_add", "axes=[2, 3]"> zeros, patches, Places<zeros, 0, "$kernel_size[0]">.all,
                                                Places<zeros, 1, "$kernel_size[1]">.all);
  let forward = [(op<"pad", "low=[0, 0, -$padding[0], -$padding[1]];high=[0, 0, -$padding[0], -$padding[1]]"> total)];
  let dtypes = Same<"x">;
  let attrFacts = !listconcat(kernelFacts, [Length<"output_size", 2>, Range<"output_size", "1", "1e9">,
      BindTime<"output_size">, SizeAttr<"output_size">, Doc<"output_size", "height and width of the result">]);
  let samples = [Sample<["2,3,3,5,3,2"], "output_size=[5, 6];kernel_size=[3, 2]">,
                 Sample<["1,2,3,3,2,2"], "output_size=[4, 5];kernel_size=[2, 2];strides=[2, 1];padding=[1, 0];dilation=[1, 2]">,
                 Sample<["0,2,4,1,1,1"], "output_size=[4, 1];kernel_size=[1, 1]">];
  let onnx = "Col2Im(...)";
}
def Tess_LocalConv2dOp : PlaceOp<"local_conv2d", "convolution with a weight for each place",
                                 "local_conv2d(x, weight, strides, padding, dilation)"> {
  let description = [{As conv2d, but `out[n, g * O + o, i, j]` has the weight `weight[g, i, j, :, :, :, o]`: x is [N, G * I, H, W],
    weight [G, OH, OW, I, KH, KW, O], the result [N, G * O, OH, OW].}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight), placeAttrs);
  let dtypes = Promote<["x", "weight"]>;
  let attrFacts = placeFacts;
  defvar windows = WindowsOf<"#weight[4]", "#weight[5]", "[#x[2], #x[3]]">;
  let requires = [Require<"x must have rank 4", "len(#x) == 4", "x {x}">,
                  Require<"weight must have rank 7", "len(#weight) == 7", "weight {weight}">,
                  Require<"channels of x must be those of weight", "#x[1] == #weight[0] * #weight[3]",
                          "x {x} and weight {weight}">,
                  Require<fits, windows.fit, "x {x} and weight {weight}">,
                  Require<"weight must have the height and width of the result, {[" # windows.places # "]}",
                          "[" # windows.places # "] == [#weight[1], #weight[2]]", "weight {weight}",
                          "weight must have the height and width of the result">];
  let sizes = ["[#x[0], #weight[0] * #weight[6], " # windows.places # "]"];
  // One product of matrices for each group and each place of the result: rows are [G, OH, OW, N, I * KH * KW].
  defvar patches = (piece<"unflatten", ["1", "#weight[0]", "#weight[3]"]>
      (must<"height and width of windows must be known", windows.known, "{[#weight[4], #weight[5]]}">
          Patches<(same $x), "#weight[4]", "#weight[5]">.all));
  defvar rows = (op<"flatten", "start_axis=4;end_axis=6"> (op<"transpose", "pattern=[1, 5, 6, 0, 2, 3, 4]"> patches));
  defvar products = (op<"matmul"> rows, (op<"flatten", "start_axis=3;end_axis=5"> $weight));
  let forward = [(op<"flatten", "start_axis=1;end_axis=2"> (op<"transpose", "pattern=[3, 0, 4, 1, 2]"> products))];
  let samples = [Sample<["2,3,4,5", "1,3,4,3,2,2,4"]>,
                 Sample<["1,4,5,4", "2,3,2,2,3,1,3"], "strides=[2, 2];padding=[1, 0]">,
                 Sample<["1,2,6,4", "2,2,4,1,3,1,1"], "dilation=[2, 1]">, Sample<["0,3,2,2", "1,2,2,3,1,1,2"]>];
}
def Tess_RegionRestrictedConvOp : PlaceOp<"region_restricted_conv", "convolution within regions",
    "region_restricted_conv(x, weight, rin, rout, strides, padding, dilation, groups)"> {
  let description = [{As conv2d, but of the elements of the window of `out[n, o, i, j]` those count whose number in rin [N, H, W] is
    `rout[n, i, j]`.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight, Tess_Int:$rin, Tess_Int:$rout), placeGroups);
  let dtypes = Promote<["x", "weight"]>;
  defvar places = ConvolvedWindows.places;
  defvar result = "[#x[0], #weight[0], " # places # "]";
  let requires = !listconcat(
      [Require<"x must have rank 4", "len(#x) == 4", "x {x}">,
       Require<"weight must have rank 4", "len(#weight) == 4", "weight {weight}">,
       Require<"rin must have rank 3", "len(#rin) == 3", "rin {rin}">, Require<"rout must have rank 3", "len(#rout) == 3", "rout {rout}">],
      convolvedRequires,
      [Require<"rin must have the places of x and rout those of the result, {" # result # "}",
               "#rin == [#x[0], #x[2], #x[3]] && #rout == [#x[0], " # places # "]",
               "rin {rin} and rout {rout}", "rin must have the places of x and rout those of the result">]);
  let sizes = [result];
  // Elements of a window whose region is another one count as 0; then [N, C * KH * KW, OH, OW].
  defvar given = Patches<(op<"expand_dims", "axis=[1]"> (piece<"as", ["i64"]> $rin)), "#weight[2]", "#weight[3]">.all;
  defvar wanted = (op<"expand_dims", "axis=[1, 2, 3]"> (piece<"as", ["i64"]> $rout));
  defvar own = Patches<(same $x), "#weight[2]", "#weight[3]">.all;
  defvar kept = (op<"flatten", "start_axis=1;end_axis=3"> (op<"where"> (op<"equal"> given, wanted), own, K<"0", "x">));
  let forward = [(must<"height and width of windows must be known", ConvolvedWindows.known, "{[#weight[2], #weight[3]]}">
      Convolved<kept>.all)];
  let samples = [Sample<["2,3,4,5", "4,3,2,3", "2,4,5", "2,3,3"], "", "-2; -2; 0; 0", "2; 2; 3; 3">,
                 Sample<["1,4,4,4", "2,2,3,3", "1,4,4", "1,2,4"],
                        "strides=[2, 1];padding=[1, 1];groups=2", "-2; -2; 0; 0", "2; 2; 2; 2">,
                 Sample<["1,2,6,4", "2,2,3,1", "1,6,4", "1,2,4"], "dilation=[2, 1]", "-2; -2; 0; 0", "2; 2; 2; 2">,
                 Sample<["0,3,2,2", "2,3,1,1", "0,2,2", "0,2,2"]>];
}
// The entry of an attribute for an axis.
class EntryOf<string attr, string axis> {
  dag all = (op<"full", "shape=[];value=0.0 + $" # attr # "[" # axis # "];dtype=@offset">);
}
// Places of the elements of windows along an axis (0 for height), moved by `offset` [N * D, KH * KW, 2, OH, OW]:
// [N * D, KH * KW, OH * OW].
class MovedPlaces<dag offset, int axis> {
  defvar number = !cast<string>(axis);
  defvar by = (op<"squeeze", "axis=[2]"> Slice<offset, "5", "2", number, !cast<string>(!add(axis, 1))>.all);
  defvar each = (op<"arange", "num=#weight[2] * #weight[3];dtype=i64">);
  defvar width = (op<"scalar_tensor", "value=#weight[3];dtype=i64">);
  defvar element = (op<"cast", "dtype=@offset"> (op<!if(!eq(axis, 0), "floor_div", "mod")> each, width));
  defvar numbers = (piece<"numbers", [!cast<string>(!add(axis, 2)), "@offset"]> by);
  defvar windows = (op<"sub"> (op<"mul"> numbers, EntryOf<"strides", number>.all), EntryOf<"padding", number>.all);
  defvar first = !if(!eq(axis, 0), (op<"expand_dims", "axis=[1]"> windows), windows);
  defvar inside = (op<"expand_dims", "axis=[1, 2]"> (op<"mul"> element, EntryOf<"dilation", number>.all));
  dag all = (op<"flatten", "start_axis=2;end_axis=3"> (op<"add"> by, (op<"add"> inside, first)));
}
def Tess_DeformableConv2dOp : PlaceOp<"deformable_conv2d", "convolution of moved and weighted elements",
    "deformable_conv2d(x, weight, offset, mask, strides, padding, dilation, groups)"> {
  let description = [{As conv2d, but element (p, q) of the window of (i, j) is taken from where offset moves it, by offset[n, 2 * (d
    * KH * KW + p * KW + q), i, j] rows and the channel after it columns, and multiplied by mask[n, d * KH * KW + p * KW +
    q, i, j], d being the block of channels of x, of which there are as many as mask has channels for. Between four pixels
    it is their weighted mean, those outside of the image being 0. X. Zhu et al.: Deformable ConvNets v2, CVPR 2019.}];
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$weight, Tess_Float:$offset, Tess_Float:$mask), placeGroups);
  let dtypes = Promote<["x", "weight", "offset", "mask"]>;
  defvar elements = "(#weight[2] * #weight[3])";
  defvar blocks = "#mask[1] // " # elements;
  defvar places = ConvolvedWindows.places;
  let requires = !listconcat(
      !foreach(v, ["x", "weight", "offset", "mask"], Require<v # " must have rank 4", "len(#" # v # ") == 4", v # " {" # v # "}">),
      convolvedRequires,
      [Require<"offset and mask must have channels for blocks of windows",
               "#mask == [#x[0], #mask[1], " # places # "] && #offset == [#x[0], #mask[1] * 2, " # places # "] && (!isNumber("
               # elements # ") || (" # elements # " != 0 && #mask[1] != 0 && divides(" # elements # ", #mask[1]) && (!isNumber("
               # blocks # ") || divides(" # blocks # ", #x[1]))))", "offset {offset} and mask {mask}">]);
  let sizes = ["[#x[0], #weight[0], " # places # "]"];
  // Blocks of channels are images of their own.
  defvar offsets = (piece<"unflatten", ["1", elements, "2"]> ByBlock<(same $offset), blocks, elements # " * 2">.all);
  defvar images = ByBlock<(same $x), blocks, "#x[1] // (" # blocks # ")">.all;
  defvar pixels = (piece<"pixels", ["'linear'", "'constant'", "0.0"]> images, MovedPlaces<offsets, 0>.all, MovedPlaces<offsets, 1>.all);
  defvar factors = (op<"flatten", "start_axis=2;end_axis=3"> ByBlock<(same $mask), blocks, elements>.all);
  defvar moved = (op<"mul"> pixels, (op<"expand_dims", "axis=[1]"> factors));
  defvar patches = (op<"reshape_like"> moved, WithChannels<(same $mask), "#x[1] * " # elements>.all);
  let forward = [(must<"height and width of windows must be known", ConvolvedWindows.known, "{[#weight[2], #weight[3]]}">
      Convolved<patches>.all)];
  let samples = [Sample<["1,2,4,5", "3,2,2,3", "1,12,3,3", "1,6,3,3"]>,
                 Sample<["2,4,4,4", "2,2,3,3", "2,36,2,4", "2,18,2,4"], "strides=[2, 1];padding=[1, 1];groups=2">,
                 Sample<["1,2,6,4", "2,2,3,1", "1,6,2,4", "1,3,2,4"], "dilation=[2, 1]">,
                 Sample<["0,3,2,2", "2,3,1,1", "0,2,2,2", "0,1,2,2"]>];
  let onnx = "DeformConv(...)";
}

// Samples along an axis of the result (0 for height): how many, and the part of trans that each one's bin is in.
class BinSamples<int axis> {
  defvar bins = "$output_shape[" # axis # "]";
  string count = bins # " * $sample_per_part";
  defvar sample = (op<"arange", "num=" # count # ";dtype=i64">);
  defvar bin = (op<"floor_div"> sample, (op<"scalar_tensor", "value=$sample_per_part;dtype=i64">));
  defvar parts = (op<"scalar_tensor", "value=#trans[" # !add(axis, 2) # "];dtype=i64">);
  dag part = (op<"floor_div"> (op<"mul"> bin, parts), (op<"scalar_tensor", "value=" # bins # ";dtype=i64">));
}
// The end of boxes in a column of rois, in pixels from `added` behind its own, [K, 1, 1].
class BoxEnd<int column, string added> {
  defvar end = Slice<(same $rois), "2", "1", !cast<string>(column), !cast<string>(!add(column, 1))>.all;
  defvar pixel = (op<"floor"> (op<"add"> end, K<added, "rois">));
  dag all = (op<"expand_dims", "axis=[2]"> (op<"sub"> (op<"mul"> pixel, K<"$scale", "rois">), K<"0.5", "rois">));
}
// How far the samples of each box and class are moved, in boxes, [K, classes, 2, rows, columns].
def BinsMoved {
  defvar byClass = (piece<"unflatten", ["1", "#trans[1] // 2", "2"]> $trans);
  defvar taken = (op<"index_get", "axes=[3, 4]"> byClass, (op<"expand_dims", "axis=[1]"> BinSamples<0>.part), BinSamples<1>.part);
  dag all = (op<"mul"> taken, K<"$trans_std", "trans">);
}
// Where the samples along an axis are: of each box, or of each box and class, and then with those of the other axis.
class SamplePlaces<int axis> {
  defvar column = !sub(2, axis); // of rois; its end is two columns further
  defvar first = BoxEnd<column, "0.5">.all;
  defvar length = (op<"maximum"> (op<"sub"> BoxEnd<!add(column, 2), "1.5">.all, first), K<"0.1", "rois">);
  defvar count = BinSamples<axis>.count;
  defvar sample = (op<"arange", "num=" # count # ";dtype=@x">);
  defvar total = (op<"full", "shape=[];value=0.0 + " # count # ";dtype=@x">);
  defvar step = (op<"div"> (op<"expand_dims", "axis=[" # !sub(1, axis) # "]"> sample), total);
  defvar offset = Slice<BinsMoved.all, "5", "2", !cast<string>(!sub(1, axis)), !cast<string>(!sub(2, axis))>.all;
  defvar movedStep = (op<"add"> step, (op<"squeeze", "axis=[2]"> offset));
  defvar moved = (op<"add"> (op<"expand_dims", "axis=[3]"> first),
                            (op<"mul"> movedStep, (op<"expand_dims", "axis=[3]"> length)));
  dag all = (when<"$no_trans"> (op<"add"> first, (op<"mul"> step, length)),
                               (op<"flatten", "start_axis=0;end_axis=1"> moved));
  // Whether they are inside of the image, or less than half a pixel away from it.
  defvar low = K<"-0.5", "x">;
  defvar high = (op<"add"> (piece<"extent", [!cast<string>(!add(axis, 2)), "@x"]> $x), low);
  dag inside = (op<"logical_and"> (op<"greater_equal"> all, low), (op<"less_equal"> all, high));
}
def RowSamples : SamplePlaces<0>;
def ColumnSamples : SamplePlaces<1>;
// Samples [K, channels, rows, columns], those of a bin added.
class Binned<dag samples> {
  defvar columns = (piece<"unflatten", ["3", "$output_shape[1]", "$sample_per_part"]> samples);
  dag all = (op<"sum", "axes=[3, 5]"> (piece<"unflatten", ["2", "$output_shape[0]", "$sample_per_part"]> columns));
}
def Tess_DeformablePsroiPoolingOp : PlaceOp<"deformable_psroi_pooling", "means of the moved bins of boxes",
    "deformable_psroi_pooling(x, rois, trans, output_shape, sample_per_part, scale, trans_std, no_trans)"> {
  let description = [{A row of rois is the number of an image, then the left, upper, right and lower end of a box: rounded to
    pixels, the right and lower ones plus 1, times scale, less half a pixel. `out[k, c, i, j]` is the mean of sample_per_part
    squared positions in bin (i, j), interpolated, those outside of the image left out. Part `floor((i, j) * P / (OH,
    OW))` of trans, which has columns and rows for each block of channels, times trans_std moves the bin, in boxes. J. Dai et
    al.: Deformable Convolutional Networks, ICCV 2017, the score maps being one for all bins.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$rois, Tess_Float:$trans, DenseI64ArrayAttr:$output_shape,
                   SI64Attr:$sample_per_part, Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$scale,
                   Runtime<DefaultValuedAttr<F64Attr, "0.1">>:$trans_std,
                   DefaultValuedAttr<BoolAttr, "false">:$no_trans);
  let shapes = "(N, C, H, W), (K, 5), (K, T, P, P) -> (K, C, *@output_shape)";
  defvar classes = "($no_trans ? 1 : #trans[1] // 2)";
  let requires = [Require<"trans must have two channels for each block of channels of x", "$no_trans || !isNumber(#trans[1]) || ("
                          # "#trans[1] != 0 && #trans[1] % 2 == 0 && divides(#trans[1] // 2, #x[1]))", "x {x} and trans {trans}">,
                  Require<"height and width of x must not be 0", "#x[2] != 0 && #x[3] != 0", "x {x}">];
  // Classes are images of their own, and of a box there is one for each of them.
  defvar first = Slice<(same $rois), "2", "1", "0", "1">.all;
  defvar byBox = (op<"mul"> (piece<"as", ["i32"]> first), (op<"scalar_tensor", "value=" # classes # ";dtype=i32">));
  defvar image = (op<"expand_dims", "axis=[1, 2]"> (op<"flatten", "start_axis=0;end_axis=1">
      (op<"add"> byBox, (op<"arange", "num=" # classes # ";dtype=i32">))));
  defvar images = ByBlock<(same $x), classes, "#x[1] // " # classes>.all;
  defvar pixels = (piece<"pixels_of", ["'linear'", "'replicate'", "0.0"]> images, image, RowSamples.all, ColumnSamples.all);
  defvar counted = (op<"expand_dims", "axis=[1]"> (piece<"as", ["@x"]> (op<"logical_and"> RowSamples.inside, ColumnSamples.inside)));
  defvar count = (op<"maximum"> Binned<counted>.all, K<"1", "x">); // the mean of no samples is 0
  defvar means = (op<"div"> Binned<(op<"mul"> pixels, counted)>.all, count);
  defvar size = "[-1, #x[1], $output_shape[0], $output_shape[1]]"; // there may be any number of boxes
  let forward = [(op<"reshape_like"> means, (op<"broadcast_to", "shape=" # size> (op<"expand_dims", "axis=[2, 3]"> first)))];
  let dtypes = Promote<["x", "rois", "trans"]>;
  let attrFacts = [Length<"output_shape", 2>, Range<"output_shape", "1", "1e6">, BindTime<"output_shape">,
                   Doc<"output_shape", "height and width of the result">, Range<"sample_per_part", "1", "1e6">,
                   BindTime<"sample_per_part">, Doc<"sample_per_part", "positions along height and width of a bin">,
                   Doc<"scale", "pixels of x for each unit of the boxes">, Doc<"trans_std", "what trans counts for">,
                   BindTime<"no_trans">, Doc<"no_trans", "bins stay where they are">];
  let samples = [Sample<["2,4,5,6", "3,5", "3,4,2,2"], "output_shape=[2, 3];sample_per_part=2", "-2; 0; -2", "2; 1.9; 2">,
                 Sample<["2,3,4,5", "3,5", "3,2,1,1"], "output_shape=[2, 1];sample_per_part=1;scale=2.0;no_trans=true", "-2; 0; -2", "2; 1.9; 2">,
                 Sample<["2,2,4,4", "3,5", "3,2,3,3"], "output_shape=[2, 2];sample_per_part=3;trans_std=0.5", "-2; 0; -2", "2; 1.9; 2">,
                 Sample<["2,2,4,4", "0,5", "0,2,1,1"], "output_shape=[2, 2];sample_per_part=2">];
}

#endif // TESS_OPS_LOCAL_CONV
