//===- CustomOps.h - operators that users bring -----------------*- C++ -*-===//
#pragma once

#include "tessera/Tensor.h"

#include <utility>

namespace tessera {

using tess::IntList;
/// Values of parameters by name: a number, a bool, a text, or an IntList.
using Parameters = std::vector<std::pair<std::string, tess::AttrValue>>;

/// Opens a library of operators (custom_op.h), or reads a file of records, for callOperator() and for files. It stays
/// loaded. Throws NotFound where there is none, Unimplemented for another version, InvalidArgument for what its
/// operators say, and where a name is taken.
void loadLibrary(const std::string &path);
/// The results of the operator "library::name", eager or in a trace, without hidden ones. `operands`: the inputs, then
/// the states, which have new values afterwards; an optional one that is not given is undefined or left out. Random
/// numbers are those of defaultGenerator(). Throws NotFound where no library that is loaded has the operator.
std::vector<Tensor> callOperator(const std::string &name, const std::vector<Tensor> &operands,
                                 const Parameters &parameters = {});

} // namespace tessera
