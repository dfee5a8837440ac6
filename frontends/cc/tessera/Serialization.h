//===- Serialization.h - tensors in files -----------------------*- C++ -*-===//
//
// The files of Python's tessera.save are read: safetensors with the structure
// in their metadata. Written are those of its version 1, which it reads too: a
// zip archive, stored, of `tree.json` and one raw little-endian row-major
// member for each tensor.
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
/// Reads what save() wrote, or Python's tessera.save of a dict of tensors and arrays; what stood there under two names
/// is one tensor under both. NotFound when there is no file, DataLoss that says what is wrong with it.
StateDict load(const std::string &path);

} // namespace tessera
