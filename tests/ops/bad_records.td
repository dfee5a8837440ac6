// Records that are wrong stop the generator, with the record's place and what is wrong.
//
// RUN: for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71; do not tess-tblgen -gen-tess-op-table -I. -I/usr/lib/llvm-22/include -DCASE_$n %s 2>&1 | grep error: ; done | FileCheck %s
include "ops/records/Base.td"

class Plain<string m> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tess_Float:$out);
  let shapes = "(*D) -> (*D)";
  let dtypes = Same<"x">;
  let lowering = Library<"test">;
  let attrFacts = [BindTime<"axis">];
  let samples = [Sample<["2,3"]>];
}
def Tess_AOp : Plain<"a">;

// CHECK: bad_records.td:{{[0-9]+}}:5: error: b: signature must have a pattern for every operand and result, got '(*D), (*D) -> (*D)'
#ifdef CASE_1
def Tess_BOp : Plain<"b"> { let shapes = "(*D), (*D) -> (*D)"; }
#endif
// CHECK: error: b: symbol must be starred everywhere or nowhere, got D
#ifdef CASE_2
def Tess_BOp : Plain<"b"> { let shapes = "(*D) -> (D)"; }
#endif
// CHECK: error: b: exactly one of shapes, shapeRule, sizes, order and compute must be given
#ifdef CASE_3
def Tess_BOp : Plain<"b"> { let shapeRule = "reshape"; }
#endif
// CHECK: error: b: a dag must be made of known operators, got nothing
#ifdef CASE_4
def Tess_BOp : Plain<"b"> { let gradient = [(op<"nothing"> $dout)]; }
#endif
// CHECK: error: a: attribute text must name an attribute of it, got 'dim=1'
#ifdef CASE_5
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a", "dim=1"> $dout)]; }
#endif
// CHECK: error: b: a dag must name an operand, a result or the gradient of a result, got $y
#ifdef CASE_6
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a"> $y)]; }
#endif
// CHECK: error: b: attrFacts must name an attribute, got dim
#ifdef CASE_7
def Tess_BOp : Plain<"b"> { let attrFacts = [Doc<"dim", "x">]; }
#endif
// CHECK: error: b: an Elementwise_ operator must have one scalar dag for each result
#ifdef CASE_8
def Tess_BOp : Plain<"b"> { let lowering = Elementwise_; }
#endif
// CHECK: error: a: name must be given to one record only
#ifdef CASE_9
def Tess_BOp : Plain<"a">;
#endif
// CHECK: error: b: operator must be one of ops/table/PythonOperators.h, got +
#ifdef CASE_10
def Tess_BOp : Plain<"b"> { let python = Py<"functional.math", "b", [], "+">; }
#endif
// CHECK: error: b: renamed must be operand=name or attribute=name, got y=inp
#ifdef CASE_11
def Tess_BOp : Plain<"b"> { let python = Py<"functional.math", "b", [], "", ["y=inp"]>; }
#endif
// CHECK: error: b: a constraint must have words of its own, got 'x must be >= -1'
#ifdef CASE_12
def Tess_BOp : Plain<"b"> { let constraints = ["x must be at least minus 1", "x must be >= -1"]; }
#endif
// CHECK: error: b: a constraint must say what must hold, got 'x is positive'
#ifdef CASE_13
def Tess_BOp : Plain<"b"> { let constraints = ["x is positive"]; }
#endif
// CHECK: error: b: description must say what is computed, got none
#ifdef CASE_14
def Tess_BOp : Plain<"b"> { let description = " "; }
#endif
// CHECK: error: b: samples must have a first one, which documentation shows, got none
#ifdef CASE_15
def Tess_BOp : Plain<"b"> { let samples = []; }
#endif
// CHECK: error: b: steps of a Movement must name an attribute, got steps
#ifdef CASE_16
def Tess_BOp : Plain<"b"> { let lowering = Movement<"steps">; }
#endif
// CHECK: error: b: BindTime must be of an operator that is no view, reduction or scan, got axis
#ifdef CASE_17
def Tess_BOp : Plain<"b"> { let lowering = Reduction<"Sum">; }
#endif
// CHECK: error: b: numeric attribute must be one of Runtime, BindTime and Static, got axis
#ifdef CASE_18
def Tess_BOp : Plain<"b"> { let attrFacts = []; }
#endif
// CHECK: error: b: upgrades: a line must be 'VERSION: rename|default|drop|retype NAME ...', got '1: retype axis str int'
#ifdef CASE_19
def Tess_BOp : Plain<"b"> {
  let version = 2;
  let upgrades = ["1: retype axis str int"];
}
#endif
// CHECK: error: b: upgrades must be of versions before the record's, got '1: drop dim'
#ifdef CASE_20
def Tess_BOp : Plain<"b"> { let upgrades = ["1: drop dim"]; }
#endif
// CHECK: error: b: a split must be of an older version and have one dag for each result, got version 2
#ifdef CASE_21
def Tess_BOp : Plain<"b"> {
  let version = 2;
  let splits = [Split<2, [(op<"a"> $x)]>];
}
#endif

class Scanned<string m, string notation> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, SI64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                   DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Tess_Float:$out);
  let compute = notation;
  let dtypes = Same<"x">;
  let lowering = Compute_;
  let attrFacts = [Axis<"axis", "x">, Static<"axis", "it is in the code">];
  let samples = [Sample<["2,3"], "axis=0">];
}
// The place is that of the text itself.
// CHECK: bad_records.td:[[#@LINE+2]]:39: error: b: compute must have a function, got '-, t, exclusive, reverse) x[*a, t:axis, *b]'
#ifdef CASE_22
def Tess_BOp : Scanned<"b", ""> { let compute = "out[*a, t, *b] = scan(-, t, exclusive, reverse) x[*a, t:axis, *b]"; }
#endif
// CHECK: error: b: compute must have =, got 'its end'
#ifdef CASE_23
def Tess_BOp : Scanned<"b", "out[*a, t, *b]">;
#endif
// CHECK: error: b: compute must have nothing more, got '+ 1'
#ifdef CASE_24
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *b] + 1">;
#endif
// CHECK: error: b: compute must say by boolean attributes what it leaves out and where it starts, got axis
#ifdef CASE_25
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, axis, reverse) x[*a, t:axis, *b]">;
#endif
// CHECK: error: b: compute must place a dimension by an axis of operand 0, and a pack by axes or their number, got reverse
#ifdef CASE_26
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:reverse, *b]">;
#endif
// CHECK: error: b: compute must give the only result, got y
#ifdef CASE_27
def Tess_BOp : Scanned<"b", "y[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *b]">;
#endif
// CHECK: error: b: compute must read each operand once, in their order, got 2 accesses
#ifdef CASE_28
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *b], x[*a, t, *b]">;
#endif
// CHECK: error: b: compute must have 2 operands for linear, got 1
#ifdef CASE_29
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(linear, t, exclusive, reverse) x[*a, t:axis, *b]">;
#endif
// CHECK: error: b: compute must scan x along a dimension between two packs, as in [*a, t, *b]
#ifdef CASE_30
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis]">;
#endif
// CHECK: error: b: compute must place the dimension t in operand 0, and there only, got x
#ifdef CASE_31
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t, *b]">;
#endif
// CHECK: error: b: compute must have the same dimensions everywhere, got b and c
#ifdef CASE_32
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *c]">;
#endif
// CHECK: error: b: compute must come with the lowering Compute_, Window, Library or Composite, and the former two with it
#ifdef CASE_33
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *b]"> {
  let lowering = Sequential<"test">;
}
#endif
// CHECK: error: b: exactly one of shapes, shapeRule, sizes, order and compute must be given
#ifdef CASE_34
def Tess_BOp : Scanned<"b", "out[*a, t, *b] = scan(+, t, exclusive, reverse) x[*a, t:axis, *b]"> {
  let shapes = "(*D) -> (*D)";
}
#endif
// CHECK: error: b: when must choose between two dags by the value of one attribute that is known before it runs, got 'rate=0.5'
#ifdef CASE_35
def Tess_BOp : Plain<"b"> {
  let arguments = (ins Tess_Float:$x, Runtime<DefaultValuedAttr<F64Attr, "0.0">>:$rate);
  let attrFacts = [];
  let gradient = [(when<"rate=0.5"> $dout, (op<"a"> $dout))];
}
#endif
// CHECK: error: b: a constant must be a number or an attribute, got $rate
#ifdef CASE_36
def Tess_BOp : Plain<"b"> { let gradient = [(op<"a"> K<"$rate", "x">)]; }
#endif
// CHECK: error: b: exactly one of shapes, shapeRule, sizes, order and compute must be given, or none for a Composite
#ifdef CASE_37
def Tess_BOp : Plain<"b"> { let shapes = ""; }
#endif
// CHECK: error: b: onnx must name attributes behind '=', got 'axis=dim'
#ifdef CASE_38
def Tess_BOp : Plain<"b"> { let onnx = "B(axis=dim)"; }
#endif
// CHECK: error: b: onnx must be a name, perhaps with attributes in parentheses, got 'B(axis'
#ifdef CASE_39
def Tess_BOp : Plain<"b"> { let onnx = "B(axis"; }
#endif

class Computed<string m, string notation> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, SI64Attr:$size);
  let results = (outs Tess_Float:$out);
  let compute = notation;
  let dtypes = Same<"x">;
  let lowering = Compute_;
  let attrFacts = [BindTime<"size">];
  let samples = [Sample<["2,3"], "size=2">];
}
// CHECK: error: b: compute must be made of reads, numbers, attributes and dimensions, got y
#ifdef CASE_40
def Tess_BOp : Computed<"b", "out[*a] = x[*a] + y">;
#endif
// CHECK: error: b: compute must read operands and values that it has given, got y
#ifdef CASE_41
def Tess_BOp : Computed<"b", "out[*a] = y[*a]">;
#endif
// CHECK: error: b: compute must read y at the indices that it is given at
#ifdef CASE_42
def Tess_BOp : Computed<"b", "y[*a] = x[*a]; out[*a, k] = y[*a, k] where k < size">;
#endif
// CHECK: error: b: compute must give the result last, got y behind it
#ifdef CASE_43
def Tess_BOp : Computed<"b", "out[*a] = x[*a]; y[*a] = x[*a]">;
#endif
// CHECK: error: b: compute must give the only result, got y
#ifdef CASE_44
def Tess_BOp : Computed<"b", "y[*a] = x[*a]">;
#endif
// CHECK: error: b: compute must not set an operand, got x
#ifdef CASE_45
def Tess_BOp : Computed<"b", "x[*a] = x[*a]">;
#endif
// CHECK: error: b: compute must read each operand, got none of x
#ifdef CASE_46
def Tess_BOp : Computed<"b", "out[k] = k where k < size">;
#endif
// CHECK: error: b: compute must give or reduce each dimension, got k
#ifdef CASE_47
def Tess_BOp : Computed<"b", "out[*a] = x[*a, k]">;
#endif
// CHECK: error: b: compute must read or bound each dimension, got k
#ifdef CASE_48
def Tess_BOp : Computed<"b", "out[*a, k] = x[*a]">;
#endif
// CHECK: error: b: compute must have a dimension as a pack everywhere or nowhere, got a
#ifdef CASE_49
def Tess_BOp : Computed<"b", "out[a] = x[*a]">;
#endif
// CHECK: error: b: compute must bound a pack by a list, and a dimension by a number, got a
#ifdef CASE_50
def Tess_BOp : Computed<"b", "out[*(k a)] = x[*a] where *a < size">;
#endif
// CHECK: error: b: compute must bound a dimension by an attribute of whole numbers, got axis2
#ifdef CASE_51
def Tess_BOp : Computed<"b", "out[*a, k] = x[*a] where k < axis2">;
#endif
// CHECK: error: b: compute must have ? behind optional operands, and read no lists, got x
#ifdef CASE_52
def Tess_BOp : Computed<"b", "out[*a] = x[*a]?">;
#endif
// CHECK: error: b: compute must have a part and the number of parts, as in (0:2 t), got ' t)]'
#ifdef CASE_53
def Tess_BOp : Computed<"b", "out[*a, t] = x[*a, (2:2 t)]">;
#endif
// CHECK: error: b: compute must have a dimension in an axis, got '] = x[*a]'
#ifdef CASE_54
def Tess_BOp : Computed<"b", "out[*a, ()] = x[*a]">;
#endif
// CHECK: error: b: compute must have ], got 'b] = x[*a]'
#ifdef CASE_55
def Tess_BOp : Computed<"b", "out[*a b] = x[*a]">;
#endif
// CHECK: error: b: compute must have nothing more, got '^ 2'
#ifdef CASE_56
def Tess_BOp : Computed<"b", "out[*a] = x[*a] ^ 2">;
#endif
// CHECK: error: b: compute must call elementwise operators with as many operands as they have, got a
#ifdef CASE_57
def Tess_BOp : Computed<"b", "out[*a] = a(x[*a])">;
#endif
// CHECK: error: b: compute must have attributes of whole numbers, and lists of a pack, got size
#ifdef CASE_58
def Tess_BOp : Computed<"b", "out[*s] = sum(*k) x[*s * size + *k] where *k < *size">;
#endif
// CHECK: error: b: compute must have packs of positions and elements, or one of each, got 'k] where k < size'
#ifdef CASE_59
def Tess_BOp : Computed<"b", "out[*s] = sum(k) x[*s + k] where k < size">;
#endif
// CHECK: error: b: compute must reduce the elements of windows along the last axes, whose number an attribute says
#ifdef CASE_60
def Tess_BOp : Computed<"b", "out[s] = sum(k) x[s + k] * 2 where k < size">;
#endif
// CHECK: error: b: compute of windows must come with another lowering than Compute_
#ifdef CASE_61
def Tess_BOp : Computed<"b", "out[s] = max(k) x[s + k] where k < size">;
#endif
// CHECK: error: b: compute of a Window must be the max or min of windows, got 'sum'
#ifdef CASE_62
def Tess_BOp : Computed<"b", "out[s] = sum(k) x[s + k] where k < size"> { let lowering = Window_; }
#endif
// CHECK: error: b: compute must know all dimensions of an axis but one, got (s t)
#ifdef CASE_63
def Tess_BOp : Computed<"b", "out[s, t] = x[(s t)]">;
#endif

class Written<string m, string notation> : Tess_Op<m> {
  let summary = "a test";
  let description = "A test.";
  let arguments = (ins Tess_Float:$x, Tess_Float:$rows, Tess_Index:$ids);
  let results = (outs Tess_Float:$out);
  let compute = notation;
  let dtypes = Promote<["x", "rows"]>;
  let lowering = Compute_;
  let samples = [Sample<["4,3", "2,3", "2"]>];
}
// CHECK: error: b: compute must write at computed places of the result once, behind what gives it, got out
#ifdef CASE_64
def Tess_BOp : Written<"b", "out[ids[i], j] += rows[i, j]; out[n, j] = x[n, j]">;
#endif
// CHECK: error: b: compute must write at computed places of the result once, behind what gives it, got out
#ifdef CASE_65
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[ids[i], j] += rows[i, j]; out[ids[i], j] = rows[i, j]">;
#endif
// CHECK: error: b: compute must write at computed places of single axes, and else where the result is given, got out
#ifdef CASE_66
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[ids[i], k] += rows[i, k]">;
#endif
// CHECK: error: b: compute must not read along the axes that it writes at indices along, got out
#ifdef CASE_67
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[ids[i], j] += rows[n, j]">;
#endif
// CHECK: error: b: compute must have =, +=, max= or min=, got '-= rows[i, j]'
#ifdef CASE_68
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[ids[i], j] -= rows[i, j]">;
#endif
// CHECK: error: b: compute must have =, got '+= rows[i, j]'
#ifdef CASE_69
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[n, j] += rows[i, j]">;
#endif
// CHECK: error: b: compute must compute places by operands, got n
#ifdef CASE_70
def Tess_BOp : Written<"b", "out[n, j] = x[n, j]; out[n[i], j] += rows[i, j]">;
#endif
// CHECK: error: b: flatWithout must name an attribute, got 'axes'
#ifdef CASE_71
def Tess_BOp : Plain<"b"> { let flatWithout = "axes"; }
#endif
