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

/// Writes `state` to `path` in one step: when that fails (IoError), an old file stays as it was.
void save(const StateDict &state, const std::string &path);
/// Reads what save() wrote, or Python's tessera.save of a dict of tensors and arrays. NotFound when there is no file,
/// DataLoss that says what is wrong with it.
StateDict load(const std::string &path);

} // namespace tessera
