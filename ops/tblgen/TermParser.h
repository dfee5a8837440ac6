//===- TermParser.h - terms of records as C++ --------------------*- C++ -*-===//
//
// What conditions, sizes and attributes in graphs are written with:
//
//   term      = or ["?" term ":" term]
//   or        = and ("||" and)*              and = comparison ("&&" comparison)*
//   comparison = sum [("==" "!=" "<=" ">=" "<" ">") sum | "in" sum]
//   sum       = product (("+" "-") product)*   product = sign (("*" "//" "/" "%") sign)*
//   sign      = ["-" "!"] value ("[" [":"] term "]")*
//   value     = number | inf | true | false | 'text' | "$" attribute | "#" value | "@" value | dtype | index
//             | word "(" terms ")" | "given" "(" name ")" | ("all" "count") "(" term "for" range ")"
//             | "[" items "]" | "(" term ")"
//   items     = term "for" range ["if" term] | ["*"] term ("," ["*"] term)*
//   range     = index "<" sum              dtype     = a name of ops/vocabulary/DType.def
//
// `#x` is the shape of an operand, of a list of operands their shapes, `@x` its dtype;
// entries of a list count from its end below 0, `x[:n]` has the first n. `//` and `%`
// round down. The words, beside `len`, are in kWords and call ops/graphs/Terms.h. A comparison
// that a size leaves open holds.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/tblgen/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::tblgen {

/// A term as C++.
struct Term {
  enum Kind { Int, Float, List, Lists, Truth, Text, DType } kind;
  std::string text;
  bool isPlain = false; // numbers that are no sizes; a truth that nothing leaves open
};

/// What names in a term stand for, as C++.
struct TermScope {
  const OpModel &op;
  llvm::function_ref<std::string(llvm::StringRef)> meta;  // the TensorMeta of a value, or those of a list of operands
  llvm::function_ref<std::string(llvm::StringRef)> given; // whether an optional operand, or a gradient, is there
  std::vector<std::string> indices = {};                  // of loops around it
  bool isDemand = false;                                  // equality that a size leaves open is taken for granted
};

/// Parses a term; ends the program with an error at the record when it has no meaning.
Term parseTerm(const TermScope &scope, llvm::StringRef text);
/// A term that must be a condition, as C++.
std::string conditionText(const TermScope &scope, llvm::StringRef text);
/// The index and the number of steps of "i < count".
std::pair<std::string, Term> parseRange(const TermScope &scope, llvm::StringRef text);
/// A term as an AttrValue of a kind.
std::string attrText(const TermScope &scope, AttrKind kind, llvm::StringRef text);
/// A text with terms, or names of operands, in braces, as a C++ string.
std::string messageText(const TermScope &scope, llvm::StringRef text);

} // namespace tess::tblgen
