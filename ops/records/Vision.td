//===- Vision.td - images, and pixels at computed positions ----*- tablegen -*-===//
//
// Compositions of other records. A position counts pixels, from 0 at the centre
// of the first one; gradients reach positions through the weights of pixels.
//
//===----------------------------------------------------------------------===//
#ifndef TESS_OPS_VISION
#define TESS_OPS_VISION

include "ops/records/Base.td"

class VisionOp<string m, string what, string signature, string expr> : Tess_Op<m> {
  let summary = what;
  let results = (outs Tess_Float:$out);
  let shapes = signature;
  let dtypes = PromoteFloat<["x"]>;
  let oracle = Oracle<"tess_oracle." # expr>;
  let python = Py<"functional.vision", m>;
}
defvar pixels = [Require<"height and width of x must not be 0", "#x[2] != 0 && #x[3] != 0", "x {x}">];
// What decides the pixels at positions, by the record.
defvar modes = ["$interp_mode", "$border_mode", "$border_val"];
// Row `row` of matrices times (column, row, 1) of every pixel of the result, [B, OH, OW].
class Transformed<string row> {
  defvar rows = Slice<(same $mat), "3", "1", row, row # " + 1">.all;
  dag a = Slice<rows, "3", "2", "0", "1">.all;
  dag b = Slice<rows, "3", "2", "1", "2">.all;
  dag c = Slice<rows, "3", "2", "2", "3">.all;
  dag x = (op<"mul"> a, (op<"arange", "num=$out_shape[1];dtype=@mat">));
  dag y = (op<"mul"> b, (op<"expand_dims", "axis=[1]"> (op<"arange", "num=$out_shape[0];dtype=@mat">)));
  dag all = (op<"add"> (op<"add"> x, y), c);
}

//===----------------------------------------------------------------------===//
// Images of another size
//===----------------------------------------------------------------------===//
// `image` with axis number `i` behind the channels resized.
class Resized<dag image, string i> {
  defvar axis = i # " + 2";
  defvar one = K<"1.0", "x">;
  dag indices = (op<"floor_div"> (op<"mul"> (op<"arange", "num=$size[" # i # "];dtype=i64">), (piece<"extent", [axis, "i64"]> $x)),
                                 (op<"scalar_tensor", "value=$size[" # i # "];dtype=i64">));
  dag nearest = (op<"index_get", "axes=[" # axis # "]"> image, indices); // in integers: no rounding takes another one
  dag number = (op<"arange", "num=$size[" # i # "];dtype=@x">);
  dag from = (piece<"extent", [axis, "@x"]> $x);
  dag to = (op<"scalar_tensor", "value=$size[" # i # "];dtype=@x">);
  dag last = (op<"sub"> from, one);
  // One element alone is at 0.
  dag ofCorners = (op<"mul"> number, (op<"div"> last, (op<"maximum"> (op<"sub"> to, one), one)));
  dag ofCentres = (op<"sub"> (op<"mul"> (op<"add"> number, K<"0.5", "x">), (op<"div"> from, to)), K<"0.5", "x">);
  dag place = (when<"$align_corners"> ofCorners, ofCentres);
  // The element at an end is there as it is.
  dag limited = (when<"$mode == 'linear'"> (op<"maximum"> (op<"minimum"> place, last), K<"0.0", "x">), place);
  dag all = (when<"$mode == 'nearest'"> nearest, (piece<"interpolated", [axis, "$mode"]> image, limited, from));
}
def Tess_ResizeOp : VisionOp<"resize", "images, or sequences or volumes, of another size", "(N, C, *S) -> (N, C, *@size)",
                             "resize(x, size, mode, align_corners)"> {
  let quant = "rounds";
  let keepsAxes = 1;
  let description = [{Element i along an axis is x at position `(i + 0.5) * n / m - 0.5`, n being the size of x and m
    that of the result, or with align_corners at `i * (n - 1) / (m - 1)`: the mean of two neighbours, weighted by their
    distance ("linear"), the cubic convolution of four with a = -0.75 ("cubic": R. Keys, Cubic Convolution
    Interpolation for Digital Image Processing, 1981), or element `floor(i * n / m)` ("nearest"). Beyond an end lies
    the element at the end. As PyTorch's interpolate.}];
  let arguments = (ins Tess_Float:$x, DenseI64ArrayAttr:$size, DefaultValuedStrAttr<StrAttr, "linear">:$mode,
                   DefaultValuedAttr<BoolAttr, "false">:$align_corners);
  let requires = [Require<"x must have rank 3 to 5", "3 <= len(#x) && len(#x) <= 5", "x {x}">,
      Require<"size must have an entry for each axis after the channels", "len($size) == len(#x) - 2", "{$size} and x {x}">,
      Require<"axes after the channels must not be empty", "all(#x[i + 2] != 0 for i < len(#x) - 2)", "x {x}">,
      Require<"align_corners must be false where mode is nearest", "$mode != 'nearest' || !$align_corners", "true">];
  let lowering = Composite<>;
  defvar first = Resized<(same $x), "0">.all;
  defvar second = Resized<first, "1">.all;
  let forward = [(when<"len($size) == 1"> first, (when<"len($size) == 2"> second, Resized<second, "2">.all))];
  let attrFacts = [Doc<"size", "size of the result along each axis after the channels">, Range<"size", "1", "1e9">,
                   BindTime<"size">, SizeAttr<"size">, Cases<"mode", ["nearest", "linear", "cubic"]>, BindTime<"mode">,
                   Doc<"mode", "which elements make one">, BindTime<"align_corners">,
                   Doc<"align_corners", "the first and the last elements stay where they are">];
  let samples = [Sample<["1,2,3,4"], "size=[5, 3]">, Sample<["2,3,4"], "size=[7];align_corners=true">,
                 Sample<["1,2,3,2,4"], "size=[2, 4, 3]">, Sample<["1,2,4,5"], "size=[6, 3];mode=\"cubic\"">,
                 Sample<["1,2,4,5"], "size=[3, 9];mode=\"nearest\"">, Sample<["0,2,3"], "size=[4]">,
                 Sample<["2,3,5"], "size=[1];mode=\"cubic\";align_corners=true">];
  let python = Py<"functional.vision", "resize">;
  let onnx = "Resize(...)";
}

//===----------------------------------------------------------------------===//
// Pixels at positions
//===----------------------------------------------------------------------===//
defvar bordered = [{ "replicate" takes the pixel at the edge, "reflect" mirrors at the edge (cba|abc), "reflect_101" at
    the pixel there (cb|abc), "wrap" begins again, "constant" has border_val there. "nearest" takes the pixel that a
    position is in, "linear" weights two along each axis, "cubic" four by a cubic convolution with a = -0.75. A
    position that is NaN gives NaN, with "nearest" the first pixel.}];
defvar borderAttrs = (ins DefaultValuedStrAttr<StrAttr, "replicate">:$border_mode,
                          Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$border_val,
                          DefaultValuedStrAttr<StrAttr, "linear">:$interp_mode);
defvar warpAttrs = !con((ins DenseI64ArrayAttr:$out_shape), borderAttrs);
defvar borderFacts = [Cases<"border_mode", ["replicate", "reflect", "reflect_101", "wrap", "constant"]>, Doc<"border_mode", "what lies outside of the image">,
                      Doc<"border_val", "value outside, where border_mode is constant">,
                      Cases<"interp_mode", ["nearest", "linear", "cubic"]>, Doc<"interp_mode", "which pixels make one">];
defvar warpFacts = !listconcat([Length<"out_shape", 2>, Range<"out_shape", "0", "1e9">, BindTime<"out_shape">,
                                SizeAttr<"out_shape">, Doc<"out_shape", "height and width of the result">], borderFacts);
class Warp<string m, string what, string signature, string operands, list<string> second>
    : VisionOp<m, what, signature, m # "(" # operands # ")"> {
  let dtypes = PromoteFloat<!listconcat(["x"], second)>;
  let lowering = Composite<>;
  let requires = pixels;
  let attrFacts = warpFacts;
}
def Tess_RemapOp : Warp<"remap", "pixels of images at given positions",
    "(N, C, H, W), (N, OH, OW, 2) -> (N, C, OH, OW)", "x, map_xy, border_mode, border_val, interp_mode", ["map_xy"]> {
  let description = !strconcat([{`out[n, c, i, j]` is image n at the position whose column is map_xy[n, i, j, 0] and whose
    row is map_xy[n, i, j, 1]. }], "Outside of the image", bordered);
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$map_xy), borderAttrs);
  let attrFacts = borderFacts;
  defvar column = (op<"squeeze", "axis=[3]"> Slice<(same $map_xy), "4", "3", "0", "1">.all);
  defvar row = (op<"squeeze", "axis=[3]"> Slice<(same $map_xy), "4", "3", "1", "2">.all);
  let forward = [(piece<"pixels", modes> $x, row, column)];
  let samples = [Sample<["2,3,4,5", "2,3,2,2"], "", "-2; -3", "2; 8">,
                 Sample<["1,2,4,3", "1,3,4,2"], "border_mode=\"reflect\";interp_mode=\"nearest\"", "-2; -9", "2; 9">,
                 Sample<["1,2,4,3", "1,3,4,2"], "border_mode=\"reflect_101\"", "-2; -9", "2; 9">,
                 Sample<["1,2,4,3", "1,3,4,2"], "border_mode=\"wrap\";interp_mode=\"cubic\"", "-2; -9", "2; 9">,
                 Sample<["1,2,1,1", "1,3,4,2"], "border_mode=\"reflect_101\"", "-2; -3", "2; 3">,
                 Sample<["1,2,4,3", "1,4,4,2"], "border_mode=\"constant\";border_val=1.5", "-2; -3", "2; 6">,
                 Sample<["0,2,4,3", "0,2,2,2"]>];
  let onnx = "GridSample(...)";
}
def Tess_WarpPerspectiveOp : Warp<"warp_perspective", "images seen through perspective transformations",
    "(N, C, H, W), (B, 3, 3), (B) -> (B, C, *@out_shape)",
    "x, mat, mat_idx, out_shape, border_mode, border_val, interp_mode", ["mat"]> {
  let description = !strconcat([{`out[b, c, i, j]` is image mat_idx[b] at column `(m00 * j + m01 * i + m02) / d` and
    row `(m10 * j + m11 * i + m12) / d`, d being `m20 * j + m21 * i + m22` and m mat[b]: the inverse of what OpenCV's
    warpPerspective takes without a flag. Outside of the image}], bordered);
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$mat, Tess_Index:$mat_idx), warpAttrs);
  defvar column = (op<"div"> Transformed<"0">.all, Transformed<"2">.all);
  defvar row = (op<"div"> Transformed<"1">.all, Transformed<"2">.all);
  defvar image = (op<"expand_dims", "axis=[1, 2]"> (piece<"as", ["i32"]> $mat_idx));
  let forward = [(piece<"pixels_of", modes> $x, image, row, column)];
  let samples = [Sample<["2,3,4,5", "2,3,3", "2"], "out_shape=[3, 2]", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,3,4,5", "6,3,3", "6"], "out_shape=[2, 3];border_mode=\"wrap\"", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,2,4,3", "1,3,3", "1"], "out_shape=[3, 4];border_mode=\"constant\";border_val=-1.5", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,2,4,3", "1,3,3", "1"], "out_shape=[0, 4];border_mode=\"reflect\"", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,2,4,3", "1,3,3", "1"], "out_shape=[1, 1];border_mode=\"reflect_101\"", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,2,4,3", "1,3,3", "1"], "out_shape=[3, 2];interp_mode=\"cubic\"", "-2; 0.2; 0", "2; 2; 2">,
                 Sample<["2,2,4,3", "1,3,3", "1"], "out_shape=[3, 2];interp_mode=\"nearest\"", "-2; 0.2; 0", "2; 2; 2">];
}
def Tess_WarpAffineOp : Warp<"warp_affine", "images seen through affine transformations",
    "(N, C, H, W), (N, 2, 3) -> (N, C, *@out_shape)", "x, mat, out_shape, border_mode, border_val, interp_mode",
    ["mat"]> {
  let description = !strconcat([{`out[n, c, i, j]` is image n at column `m00 * j + m01 * i + m02` and row `m10 * j + m11 * i +
    m12`, m being mat[n]: the inverse of what OpenCV's warpAffine takes without a flag. Outside of the image}], bordered);
  let arguments = !con((ins Tess_Float:$x, Tess_Float:$mat), warpAttrs);
  let forward = [(piece<"pixels", modes> $x, Transformed<"1">.all, Transformed<"0">.all)];
  let samples = [Sample<["2,3,4,5", "2,2,3"], "out_shape=[3, 2]">,
                 Sample<["1,2,4,3", "1,2,3"], "out_shape=[3, 4];border_mode=\"constant\";border_val=-1.5">,
                 Sample<["1,2,4,3", "1,2,3"], "out_shape=[0, 4];border_mode=\"reflect\"">,
                 Sample<["1,2,4,3", "1,2,3"], "out_shape=[3, 1];border_mode=\"reflect_101\"">,
                 Sample<["1,2,4,3", "1,2,3"], "out_shape=[3, 2];border_mode=\"wrap\";interp_mode=\"cubic\"">,
                 Sample<["1,2,4,3", "1,2,3"], "out_shape=[3, 2];interp_mode=\"nearest\"">];
}

//===----------------------------------------------------------------------===//
// Regions of images
//===----------------------------------------------------------------------===//
class Roi<string m, string what, string expr>
    : VisionOp<m, what, "(N, C, H, W), (K, 5) -> (K, C, *@output_shape)", expr> {
  let dtypes = PromoteFloat<["x", "rois"]>;
  let lowering = Composite<>;
  let requires = pixels;
  list<AttrFact> regionFacts = [Length<"output_shape", 2>, Range<"output_shape", "1", "1e9">, BindTime<"output_shape">,
                                Doc<"output_shape", "height and width of the result">, Cases<"mode", ["average", "max"]>,
                                BindTime<"mode">, Doc<"mode", "what becomes of the elements of a bin">,
                                Doc<"scale", "pixels of x for each unit of the boxes">];
}
defvar boxes = [{A row of rois is the number of an image, which must be one, then the left, upper, right and lower end of a box, which scale
    multiplies; the box is divided into bins, output_shape of them. }];
// The images that the boxes are in, [K]. The ends of a box along an axis, of which the first is in column `column`, scaled.
// A number below 0, or NaN, is refused as the largest index: it would count from the end, or be 0.
defvar numbersOfImages = (op<"squeeze", "axis=[1]"> Slice<(same $rois), "2", "1", "0", "1">.all);
defvar isNumber = (op<"greater_equal"> numbersOfImages, K<"0", "rois">);
defvar imagesOfBoxes = (op<"where"> isNumber, (piece<"as", ["i32"]> numbersOfImages),
                                    (op<"full", "shape=[];value=2147483647.0;dtype=i32">));
class Ends<int column> {
  dag first = (op<"mul"> Slice<(same $rois), "2", "1", !cast<string>(column), !cast<string>(!add(column, 1))>.all,
                         K<"$scale", "rois">);
  dag last = (op<"mul"> Slice<(same $rois), "2", "1", !cast<string>(!add(column, 2)), !cast<string>(!add(column, 3))>.all,
                        K<"$scale", "rois">);
}
// Sample positions along an axis, [K, bins * samples].
class SamplePositions<int column, int axis> {
  defvar ends = Ends<column>;
  defvar count = "$output_shape[" # axis # "] * $sample_points[" # axis # "]";
  dag length = (op<"maximum"> (op<"sub"> ends.last, ends.first), K<"0", "rois">);
  dag step = (op<"div"> length, (op<"full", "shape=[];value=0.0 + " # count # ";dtype=@rois">));
  dag half = (op<"full", "shape=[];value=($aligned ? 0.5 : 0.0);dtype=@rois">);
  dag places = (op<"arange", "num=" # count # ";start=0.5;dtype=@rois">);
  dag all = (op<"add"> (op<"sub"> ends.first, half), (op<"mul"> places, step));
}
def Tess_RoiAlignOp : Roi<"roi_align", "boxes of images in one size, by interpolation",
                          "roi_align(x, rois, output_shape, mode, scale, sample_points, aligned)"> {
  let description = !strconcat(boxes, [{`out[k, c, i, j]` is the mean or the largest of sample_points positions spread
    evenly over bin (i, j), each weighting the four pixels around it, of which those outside of the image are 0. With
    aligned the box is moved by half a pixel up and left. K. He et al.: Mask R-CNN, ICCV 2017.}]);
  let arguments = (ins Tess_Float:$x, Tess_Float:$rois, DenseI64ArrayAttr:$output_shape,
                   DefaultValuedStrAttr<StrAttr, "average">:$mode, Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$scale,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{2, 2}">:$sample_points,
                   DefaultValuedAttr<BoolAttr, "true">:$aligned);
  defvar row = (op<"expand_dims", "axis=[2]"> SamplePositions<2, 0>.all);
  defvar column = (op<"expand_dims", "axis=[1]"> SamplePositions<1, 1>.all);
  defvar image = (op<"expand_dims", "axis=[1, 2]"> imagesOfBoxes);
  defvar values = (piece<"pixels_of", ["'linear'", "'constant'", "0.0"]> $x, image, row, column);
  // [K, C, OH, samples, OW, samples]
  defvar bins = (piece<"unflatten", ["2", "$output_shape[0]", "$sample_points[0]"]>
      (piece<"unflatten", ["3", "$output_shape[1]", "$sample_points[1]"]> values));
  let forward = [(when<"$mode == 'max'"> (op<"max", "axes=[3, 5]"> bins), (op<"mean", "axes=[3, 5]"> bins))];
  let attrFacts = !listconcat(regionFacts, [Length<"sample_points", 2>, Range<"sample_points", "1", "1e9">,
      BindTime<"sample_points">, Doc<"sample_points", "positions in a bin along height and width">, BindTime<"aligned">,
      Doc<"aligned", "the centre of a pixel is 0.5 away from its edge">]);
  let samples = [Sample<["2,3,4,5", "4,5"], "output_shape=[2, 3]", "-2; 0", "2; 1.9">,
                 Sample<["3,2,4,4", "3,5"], "output_shape=[1, 2];mode=\"max\";scale=2.0;sample_points=[1, 3]", "-2; 0", "2; 2.9">,
                 Sample<["2,2,4,4", "3,5"], "output_shape=[2, 2];aligned=false", "-2; 0", "2; 1.9">,
                 Sample<["2,2,4,4", "0,5"], "output_shape=[2, 2]">];
  let onnx = "RoiAlign(...)";
}
class Rounded<dag x> { dag all = (op<"floor"> (op<"add"> x, K<"0.5", "rois">)); }
// The pixels of each bin along an axis, from `first` on and below `end`, [K, bins], and which pixels of x they are, [K, 1,
// bins, 1, size]. The quotients are of whole numbers.
class Bins<int column, int axis> {
  defvar first = Rounded<Ends<column>.first>.all;
  defvar last = Rounded<Ends<column>.last>.all;
  defvar one = K<"1", "rois">;
  defvar zero = K<"0", "rois">;
  defvar count = "$output_shape[" # axis # "]";
  defvar number = !cast<string>(!add(axis, 2));
  defvar bins = (op<"full", "shape=[];value=0.0 + " # count # ";dtype=@rois">);
  defvar length = (op<"maximum"> (op<"add"> (op<"sub"> last, first), one), one);
  defvar bin = (op<"arange", "num=" # count # ";dtype=@rois">);
  defvar image = (piece<"extent", [number, "@rois"]> $x);
  defvar below = (op<"floor"> (op<"div"> (op<"mul"> bin, length), bins));
  defvar above = (op<"ceil"> (op<"div"> (op<"mul"> (op<"add"> bin, one), length), bins));
  dag begin = (op<"minimum"> (op<"maximum"> (op<"add"> first, below), zero), image);
  dag end = (op<"minimum"> (op<"maximum"> (op<"add"> first, above), zero), image);
  defvar pixel = (piece<"numbers", [number, "@rois"]> $x);
  dag pixels = (op<"logical_and"> (op<"greater_equal"> pixel, (op<"expand_dims", "axis=[1, 3, 4]"> begin)),
                                  (op<"less"> pixel, (op<"expand_dims", "axis=[1, 3, 4]"> end)));
}
// Of [K, C, A, size] the bins along the last axis, [K, C, bins, A]: what is in no bin counts as nothing.
class Pooled<dag x, dag pixels> {
  defvar byBin = (op<"expand_dims", "axis=[2]"> x);
  defvar lowest = (op<"full", "shape=[];value=-inf;dtype=@x">);
  dag all = (when<"$mode == 'max'"> (op<"max", "axes=[4]"> (op<"where"> pixels, byBin, lowest)),
                                    (op<"sum", "axes=[4]"> (op<"where"> pixels, byBin, K<"0.0", "x">)));
}
def Tess_RoiPoolingOp : Roi<"roi_pooling", "boxes of images in one size, by pooling",
                            "roi_pooling(x, rois, output_shape, mode, scale)"> {
  let description = !strconcat(boxes, [{Ends are rounded to pixels, halves up, and both belong to the box. `out[k, c, i, j]` is
    the largest or the mean pixel of bin (i, j), from `floor(i * height / OH)` to below `ceil((i + 1) * height / OH)` of
    the rows and likewise of the columns, as far as they are in the image; 0 where none is. Equal largest ones share the
    gradient. R. Girshick: Fast R-CNN, ICCV 2015.}]);
  let arguments = (ins Tess_Float:$x, Tess_Float:$rois, DenseI64ArrayAttr:$output_shape,
                   DefaultValuedStrAttr<StrAttr, "max">:$mode, Runtime<DefaultValuedAttr<F64Attr, "1.0">>:$scale);
  let attrFacts = regionFacts;
  defvar rows = Bins<2, 0>;
  defvar columns = Bins<1, 1>;
  defvar out = Pooled<Pooled<(op<"index_get", "axes=[0]"> $x, imagesOfBoxes), columns.pixels>.all, rows.pixels>.all;
  defvar height = (op<"expand_dims", "axis=[2]"> (op<"sub"> rows.end, rows.begin));
  defvar width = (op<"expand_dims", "axis=[1]"> (op<"sub"> columns.end, columns.begin));
  defvar count = (op<"expand_dims", "axis=[1]"> (op<"mul"> height, width)); // [K, 1, OH, OW]
  defvar one = K<"1", "rois">;
  defvar mean = (when<"$mode == 'max'"> out, (op<"div"> out, (op<"maximum"> count, one)));
  let forward = [(op<"where"> (op<"greater_equal"> count, one), mean, K<"0", "x">)];
  let samples = [Sample<["2,3,4,5", "4,5"], "output_shape=[2, 3]", "-2; 0", "2; 1.9">,
                 Sample<["3,2,4,4", "3,5"], "output_shape=[1, 2];mode=\"average\";scale=2.0", "-2; 0", "2; 2.9">,
                 Sample<["2,2,4,4", "3,5"], "output_shape=[3, 2];scale=4.0", "-2; 0", "2; 1.9">,
                 Sample<["2,2,4,4", "0,5"], "output_shape=[2, 2]">];
}
def Tess_NmsOp : VisionOp<"nms", "boxes that overlap no better one much", "", "nms(boxes, scores, iou_thresh, max_output)"> {
  let description = [{Boxes [x1, y1, x2, y2] are taken by falling score, unless the area that they share with one taken before,
    divided by that of both together, is above iou_thresh; the result has their indices in this order, at most max_output. Of
    equal scores the first box comes first; NaN is larger than every number. How many they are is known when the kernel has
    run. R. Girshick et al.: Rich Feature Hierarchies for Accurate Object Detection, CVPR 2014.}];
  let arguments = (ins Tess_Float:$boxes, Tess_Float:$scores, F64Attr:$iou_thresh, OptionalAttr<SI64Attr>:$max_output);
  let results = (outs Tess_I32:$out);
  let shapeRule = "nms";
  let boundRule = "nmsBound";
  let dtypes = Fixed<"i32", ["boxes", "scores"]>;
  let lowering = Sequential<"nms">;
  let attrFacts = [Doc<"iou_thresh", "largest overlap of two boxes that are both taken">, BindTime<"iou_thresh">,
                   Doc<"max_output", "how many boxes at most; left out: all">, Range<"max_output", "0", "1e9">,
                   BindTime<"max_output">];
  let constraints = ["boxes must have rank 2", "scores must have rank 1", "boxes must have four ends each",
                     "there must be a score for each box"];
  let samples = [Sample<["7,4", "7"], "iou_thresh=0.3", "0", "3">, Sample<["9,4", "9"], "iou_thresh=0.1;max_output=2", "0", "3">,
                 Sample<["5,4", "5"], "iou_thresh=0.5;max_output=0">, Sample<["0,4", "0"], "iou_thresh=0.5">];
  let onnx = "NonMaxSuppression(...)";
}
// Sizes of a correlation: displacements along an axis, and the room for patches.
class DisplacedSizes<string border = "2 * $pad_size - 2 * $max_displacement - $kernel_size"> {
  string reach = "$max_displacement // $stride2";
  string places = "(2 * (" # reach # ") + 1)";
  string height = "(agreed(#x[2], #y[2]) + (" # border # "))"; // less that of a patch
  string width = "(agreed(#x[3], #y[3]) + (" # border # "))";
}
// The second image is taken at every displacement at once, [N, C, places, places, H, W]; patches are averaged last.
def Displaced {
  defvar sizes = DisplacedSizes<>;
  defvar sides = "low=[0, 0, $pad_size, $pad_size];high=[0, 0, $pad_size, $pad_size]";
  defvar end = "($max_displacement == 0 ? 9223372036854775807 : -$max_displacement)";
  defvar byRows = Slice<(op<"pad", sides> $x), "4", "2", "$max_displacement", end>.all;
  defvar inner = Slice<byRows, "4", "3", "$max_displacement", end>.all;
  defvar shift = (op<"expand_dims", "axis=[1]"> (op<"arange", "num=" # sizes.places # ";start=$max_displacement - (" # sizes.reach
                                                    # ") * $stride2;step=0.0 + $stride2;dtype=i32">));
  defvar row = (op<"add"> shift, (piece<"numbers", ["2", "i32"]> byRows)); // [places, inner]
  defvar column = (op<"add"> shift, (piece<"numbers", ["3", "i32"]> inner));
  defvar moved = (op<"index_get", "axes=[2, 3]"> (op<"pad", sides> $y), (op<"expand_dims", "axis=[1, 3]"> row),
                                                 (op<"expand_dims", "axis=[0, 2]"> column));
  defvar here = (op<"expand_dims", "axis=[2, 3]"> inner);
  defvar likeness = (when<"$is_multiply"> (op<"mul"> here, moved), (op<"abs"> (op<"sub"> here, moved)));
  defvar images = (op<"flatten", "start_axis=1;end_axis=2"> (op<"mean", "axes=[1]"> likeness));
  dag all = (op<"avg_pool2d", "kernel_size=[$kernel_size, $kernel_size];strides=[$stride1, $stride1]"> images);
}
def Tess_CorrelationOp : VisionOp<"correlation", "likeness of patches of two images", "",
    "correlation(x, y, kernel_size, max_displacement, stride1, stride2, pad_size, is_multiply)"> {
  let description = [{Channel (p, q) is the mean, over channels and a window of kernel_size squared, of `x * y` or `abs(x - y)`,
    y being moved by stride2 times `(p, q) - r` pixels, r `floor(max_displacement / stride2)`; windows are stride1 apart, and
    both images get pad_size zeros around them. P. Fischer et al.: FlowNet: Learning Optical Flow with Convolutional
    Networks, ICCV 2015.}];
  let arguments = (ins Tess_Float:$x, Tess_Float:$y, DefaultValuedAttr<SI64Attr, "1">:$kernel_size,
                   DefaultValuedAttr<SI64Attr, "1">:$max_displacement, DefaultValuedAttr<SI64Attr, "1">:$stride1,
                   DefaultValuedAttr<SI64Attr, "1">:$stride2, DefaultValuedAttr<SI64Attr, "0">:$pad_size,
                   DefaultValuedAttr<BoolAttr, "true">:$is_multiply);
  defvar places = DisplacedSizes<>;
  let requires = [Require<"operands must have rank 4", "len(#x) == 4", "x {x}">,
                  Require<"operands must have rank 4", "len(#y) == 4", "y {y}">,
                  Require<"x and y must have the same shape", "#x == #y", "x {x} and y {y}">,
                  Require<"kernel_size must be odd", "$kernel_size % 2 == 1", "{$kernel_size}">,
                  Require<"patches and their displacements must fit into the padded images",
                          places.height # " >= 0 && " # places.width # " >= 0", "x {x}">];
  let sizes = ["[agreed(#x[0], #y[0]), " # places.places # " * " # places.places # ", " # places.height # " // $stride1 + 1, "
               # places.width # " // $stride1 + 1]"];
  let dtypes = PromoteFloat<["x", "y"]>;
  let lowering = Composite<>;
  let forward = [Displaced.all];
  let attrFacts = [Range<"kernel_size", "1", "1e9">, Range<"max_displacement", "0", "1e9">, Range<"stride1", "1", "1e9">,
                   Range<"stride2", "1", "1e9">, Range<"pad_size", "0", "1e9">, BindTime<"kernel_size">,
                   BindTime<"max_displacement">, BindTime<"stride1">, BindTime<"stride2">, BindTime<"pad_size">,
                   BindTime<"is_multiply">, Doc<"kernel_size", "height and width of a patch, odd">,
                   Doc<"max_displacement", "largest distance of patches">, Doc<"stride1", "distance of patches in x">,
                   Doc<"stride2", "distance of patches in y that are compared with one">,
                   Doc<"pad_size", "zeros on each side">, Doc<"is_multiply", "multiply, not subtract">];
  let samples = [Sample<["2,3,5,6", "2,3,5,6"], "max_displacement=2;pad_size=2">,
                 Sample<["1,2,5,5", "1,2,5,5"], "kernel_size=3;stride1=2;pad_size=1;is_multiply=false">,
                 Sample<["1,2,4,4", "1,2,4,4"], "max_displacement=0">, Sample<["0,2,4,4", "0,2,4,4"]>,
                 Sample<["1,2,5,7", "1,2,5,7"], "max_displacement=2;stride2=2">];
}

//===----------------------------------------------------------------------===//
// Mirror images
//===----------------------------------------------------------------------===//
def Tess_FlipOp : VisionOp<"flip", "the elements along axes in the opposite order", "(*D) -> (*D)", "flip(x, axes)"> {
  let description = [{As by NumPy's flip; axes may be empty.}];
  let arguments = (ins Tess_Any:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Tess_Any:$out);
  let dtypes = Same<"x">;
  let lowering = Composite<>;
  defvar isTurned = "i in axis($axes, len(#x))"; // x[::-1]; below this stop lie expressions of sizes
  let forward = [(op<"slice", "starts=[(" # isTurned # " ? -1 : 0) for i < len(#x)];stops=[(" # isTurned #
      " ? -4611686018427387904 : 9223372036854775807) for i < len(#x)];steps=[(" # isTurned #
      " ? -1 : 1) for i < len(#x)]"> $x)];
  let gradient = [(op<"flip", "axes=$axes"> $dout)];
  let attrFacts = [Axis<"axes", "x">, Doc<"axes", "axes to turn round">, BindTime<"axes">];
  let samples = [Sample<["2,3"], "axes=[1]">, Sample<["2,3,4"], "axes=[0, -1]">, Sample<[""], "axes=[]">,
                 Sample<["0,3"], "axes=[0]">];
}

#endif // TESS_OPS_VISION
