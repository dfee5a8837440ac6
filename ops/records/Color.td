//===- Color.td - conversions of colours ---------------------*- tablegen -*-===//
#ifndef TESS_OPS_COLOR
#define TESS_OPS_COLOR

include "ops/records/Vision.td"

defvar planes = ["NV12", "NV21", "YU12", "YV12"];
// A channel of the result: what each one of x counts for, and delta ("0": nothing).
class Channel<list<string> f, string d = "0"> {
  list<string> factors = f;
  string delta = d;
}
// Modes that make the same of channels, and the condition that the mode is one of them; `ofPlanes`: the rows of x are
// those of planes of Y, Cr and Cb.
class Conversion<list<string> m, list<Channel> c> {
  list<string> modes = m;
  list<Channel> channels = c;
  string isIt = !interleave(!foreach(each, m, "$mode == '" # each # "'"), " || ");
  bit ofPlanes = 0;
}
class OfPlanes<string colours, list<Channel> c> : Conversion<!foreach(p, planes, colours # "_" # p), c> {
  defvar isOther = !eq(!find(colours, "BT601"), -1); // whose name is the end of one of BT601
  let isIt = "contains($mode, '" # colours # "_')" # !if(isOther, " && !contains($mode, 'BT601')", "");
  let ofPlanes = 1;
}
defvar red = "0.299";
defvar green = "0.587";
defvar blue = "0.114";
defvar channel0 = Channel<["1", "0", "0"]>;
defvar channel1 = Channel<["0", "1", "0"]>;
defvar channel2 = Channel<["0", "0", "1"]>;
defvar gray = Channel<[red, green, blue]>;
defvar redOfCr = Channel<["1", "1.403", "0"], "-1.403">;
defvar greenOfBoth = Channel<["1", "-0.714", "-0.344"], "1.058">;
defvar blueOfCb = Channel<["1", "0", "1.773"], "-1.773">;
// Y in [16, 235], 16 being an eighth of delta.
defvar redOfVideo = Channel<["1.164", "1.596", "0"], "-1.596 - 1.164 / 8">;
defvar greenOfVideo = Channel<["1.164", "-0.813", "-0.391"], "0.813 + 0.391 - 1.164 / 8">;
defvar blueOfVideo = Channel<["1.164", "0", "2.018"], "-2.018 - 1.164 / 8">;
defvar conversions = [
    Conversion<["RGB2GRAY"], [gray]>, Conversion<["BGR2GRAY"], [Channel<[blue, green, red]>]>, Conversion<["RGBA2GRAY"], [gray]>,
    Conversion<["GRAY2RGB"], [channel0, channel0, channel0]>, Conversion<["RGB2BGR", "BGR2RGB"], [channel2, channel1, channel0]>,
    Conversion<["RGBA2RGB"], [channel0, channel1, channel2]>, Conversion<["RGBA2BGR"], [channel2, channel1, channel0]>,
    Conversion<["RGB2YUV"], [gray, Channel<["-0.492 * 0.299", "-0.492 * 0.587", "0.492 * (1 - 0.114)"], "1">,
                             Channel<["0.877 * (1 - 0.299)", "-0.877 * 0.587", "-0.877 * 0.114"], "1">]>,
    Conversion<["YUV2RGB"], [Channel<["1", "0", "1.140"], "-1.140">, Channel<["1", "-0.395", "-0.581"], "0.976">,
                             Channel<["1", "2.032", "0"], "-2.032">]>,
    Conversion<["YCrCb2RGB"], [redOfCr, greenOfBoth, blueOfCb]>, Conversion<["YCrCb2BGR"], [blueOfCb, greenOfBoth, redOfCr]>,
    OfPlanes<"YUV2GRAY", [channel0]>, OfPlanes<"YUV2RGB", [redOfCr, greenOfBoth, blueOfCb]>,
    OfPlanes<"YUV2BGR", [blueOfCb, greenOfBoth, redOfCr]>, OfPlanes<"BT601_YUV2RGB", [redOfVideo, greenOfVideo, blueOfVideo]>,
    OfPlanes<"BT601_YUV2BGR", [blueOfVideo, greenOfVideo, redOfVideo]>];
def Colours {
  list<string> ofPlanes = !foldl([]<string>, conversions, all, c, !if(c.ofPlanes, !listconcat(all, c.modes), all));
  list<string> modes = !foldl([]<string>, conversions, all, c, !listconcat(all, c.modes));
  string isOfPlanes = "contains($mode, '_')";
  // How many channels x and the result have, as terms.
  string from = "($mode == 'GRAY2RGB' || " # isOfPlanes # " ? 1 : contains($mode, 'RGBA2') ? 4 : 3)";
  string to = "(contains($mode, '2GRAY') ? 1 : 3)";
}
// Y, Cr and Cb of an image in planes: every colour is that of four pixels.
def PlanesOfColours {
  string rows = "#x[1] // 3 * 2";
  defvar below = Slice<(same $x), "4", "1", rows, "">.all;
  defvar apart = (op<"transpose", "pattern=[0, 2, 3, 1]"> (op<"reshape", "shape=[#x[0], 2, #x[1] // 3, #x[2] // 2]"> below));
  // One plane after the other where it is not one colour after the other.
  dag colours = (when<"contains($mode, '_NV')"> below, (op<"reshape", "shape=[#x[0], #x[1] // 3, #x[2], 1]"> apart));
  dag gray = Slice<(same $x), "4", "1", "0", rows>.all;
  string isSwapped = "(contains($mode, '_NV21') || contains($mode, '_YV12'))";
}
class Plane<string start> {
  dag half = Slice<PlanesOfColours.colours, "4", "2", start, "", "2">.all;
  dag all = (op<"repeat", "repeats=2;axis=2"> (op<"repeat", "repeats=2;axis=1"> half));
}
// A channel of the result, made of those of x.
class Mixed<Channel c, list<dag> parts> {
  defvar counted = !filter(i, [0, 1, 2], !ne(c.factors[i], "0"));
  list<dag> terms = !foreach(i, counted, !if(!eq(c.factors[i], "1"), (same parts[i]), (op<"mul"> parts[i], K<c.factors[i], "x">)));
  dag sum = !foldl(!head(terms), !tail(terms), all, t, (op<"add"> all, t));
  dag moved = !if(!eq(c.delta, "1"), (same K<"$delta", "x">), (op<"mul"> K<"$delta", "x">, K<c.delta, "x">));
  dag all = !if(!eq(c.delta, "0"), sum, (op<"add"> sum, moved));
}
class Converted<Conversion c> {
  defvar ofChannels = !foreach(i, [0, 1, 2], Slice<(same $x), "4", "3", !cast<string>(i), !cast<string>(!add(i, 1))>.all);
  defvar ofPlanes = [PlanesOfColours.gray, Plane<!strconcat("(", PlanesOfColours.isSwapped, " ? 0 : 1)")>.all,
                     Plane<!strconcat("(", PlanesOfColours.isSwapped, " ? 1 : 0)")>.all];
  list<dag> parts = !foreach(each, c.channels, Mixed<each, !if(c.ofPlanes, ofPlanes, ofChannels)>.all);
  dag all = !if(!eq(!size(parts), 1), parts[0], (op<"concat", "axis=3"> parts[0], parts[1], parts[2]));
}
def Conversions { // the one of the mode
  defvar asked = !foldl([]<Conversion>, conversions, all, c, !listconcat([c], all)); // the first one last
  dag all = !foldl(Converted<!head(asked)>.all, !tail(asked), rest, c, (when<c.isIt> Converted<c>.all, rest));
}
def Tess_CvtColorOp : VisionOp<"cvt_color", "images in other colours", "", "cvt_color(x, mode, delta)"> {
  let description = [{x is [N, H, W, C], and so is the result, each with the channels that mode names. GRAY is `0.299 R + 0.587 G +
    0.114 B`; YUV is that, `0.492 (B - Y) + delta` and `0.877 (R - Y) + delta`, and back; of YCrCb RGB is `Y + 1.403 (Cr -
    delta)`, `Y - 0.714 (Cr - delta) - 0.344 (Cb - delta)` and `Y + 1.773 (Cb - delta)`. As OpenCV's, whose delta is 0.5 for
    floats and 128 for numbers up to 255. A is dropped. Of planes, such as YUV2RGB_NV12, x is [N, 3 H / 2, W, 1]: rows of Y,
    then U and V of each four pixels, in turn (NV12; NV21: V and U) or one after the other (YU12; YV12). YUV is then YCrCb,
    or for BT601 `1.164 (Y - delta / 8)` plus `1.596 V`, `- 0.813 V - 0.391 U` and `2.018 U`, V and U less delta.}];
  let arguments = (ins Tess_Float:$x, StrAttr:$mode, Runtime<DefaultValuedAttr<F64Attr, "0.5">>:$delta);
  let requires = [Require<"x must have rank 4", "len(#x) == 4", "x {x}">,
      Require<!strconcat("last axis of x must have the channels of mode ({", Colours.from, "} of {$mode})"), !strconcat("#x[3] == ", Colours.from), "x {x}",
              "last axis of x must have the channels of mode">,
      Require<"height of x must be a multiple of 3 and its width even for planes of colours",
              !strconcat("!", Colours.isOfPlanes, " || (#x[1] % 3 == 0 && #x[2] % 2 == 0)"), "x {x}">];
  let sizes = [!strconcat("[#x[0], (", Colours.isOfPlanes, " ? #x[1] // 3 * 2 : #x[1]), #x[2], ", Colours.to, "]")];
  let lowering = Composite<>;
  let forward = [(must<"sizes of x must be known for planes of colours", !strconcat("!", Colours.isOfPlanes, " || all(hasSize(#x[i]) for i < 4)"), "{x}">
                     Conversions.all)];
  let attrFacts = [Cases<"mode", Colours.modes>,
                   Doc<"mode", "from what to what">, BindTime<"mode">, Doc<"delta", "middle of the range of colour differences">];
  let samples = !listconcat(!foreach(m, ["RGB2GRAY", "BGR2GRAY", "RGB2BGR", "BGR2RGB", "RGB2YUV", "YUV2RGB", "YCrCb2RGB"],
                                     Sample<["1,2,4,3"], "mode=\"" # m # "\"">),
                            [Sample<["2,3,4,1"], "mode=\"GRAY2RGB\"">, Sample<["0,2,2,3"], "mode=\"YCrCb2BGR\";delta=128.0">],
                            !foreach(m, ["RGBA2RGB", "RGBA2BGR", "RGBA2GRAY"], Sample<["1,2,3,4"], "mode=\"" # m # "\"">),
                            !foreach(m, Colours.ofPlanes, Sample<["2,6,4,1"], "mode=\"" # m # "\"">));
}

#endif // TESS_OPS_COLOR
