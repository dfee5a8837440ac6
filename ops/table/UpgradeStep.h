//===- UpgradeStep.h - a line of a record's upgrades ------------*- C++ -*-===//
//
// How the attributes of an older version of an operator are read:
//   "1: rename dim axis"                  version 1 had `dim` for `axis`
//   "1: default keepdims false"           version 1 had no `keepdims` and meant false
//   "1: drop mode"                        version 1 had a `mode` that is ignored now
//   "1: retype axis int ints"             version 1 had a number where there is a list
//   "1: retype mode bool str false="low"" version 1 had false for "low"
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/AttrValue.h"

namespace tess {

/// One line, taken apart. Texts point into it.
struct UpgradeStep {
  enum Verb : uint8_t { Rename, Default, Drop, Retype };

  Verb verb;
  unsigned version;     // that is read by it
  llvm::StringRef name; // of the attribute by then
  /// Rename: the new name. Default: the value as text.
  llvm::StringRef text;
  AttrKind from = AttrKind::None, to = AttrKind::None; // Retype
  /// Retype: values that mean others, as texts. A step that has any takes no other value.
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 2> values = {};
};

/// InvalidArgument unless `line` is one of the forms above.
llvm::Expected<UpgradeStep> parseUpgradeStep(llvm::StringRef line);
/// The text of a value of kind `step.to` that means what `text` did. InvalidArgument where none does.
llvm::Expected<std::string> retyped(const UpgradeStep &step, llvm::StringRef text);

} // namespace tess
