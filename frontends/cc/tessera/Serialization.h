//===- Serialization.h - tensors in files -----------------------*- C++ -*-===//
//
// The file of Python's tessera.save: a zip archive, stored, of `tree.json` and
// one raw little-endian row-major member for each tensor.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

#include <map>

namespace tessera {

/// Tensors by name.
using StateDict = std::map<std::string, Tensor>;

/// Writes `state` to `path`: beside it first, then in one step, so that an old file stays as it was when it fails
/// (IoError).
void save(const StateDict &state, const std::string &path);
/// What save() wrote, or Python's tessera.save of a dict of tensors and arrays. NotFound, or DataLoss that says what is
/// wrong with the file.
StateDict load(const std::string &path);

} // namespace tessera
