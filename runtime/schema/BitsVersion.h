//===- BitsVersion.h - which bits a build computes --------------*- C++ -*-===//
//
// A change of the bits of a generated function, or of the library kernel that
// is chosen, adds rows here and so raises the version. Files say with which
// version their graph was written and their code compiled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tess::runtime {

/// A change of the bits that some operators compute.
struct BitsChange {
  unsigned version;      // the first with the new bits
  const char *operators; // names, separated by spaces
  const char *dtypes;    // of results: "float32 float64"
  unsigned ulps;         // most distance of old results to new ones, in units of the last place; or, where it is 0,
  double relative;       // in parts of the largest element
  const char *why;
};

/// Every change since versions are counted, oldest first.
llvm::ArrayRef<BitsChange> bitsChanges();
/// The version of the bits that this build computes. Files from before versions were counted have 0.
unsigned bitsVersion();

} // namespace tess::runtime
