//===- Trace.h - recordings for Python --------------------------*- C++ -*-===//
#pragma once

#include "eager/tracing/RecordingGraph.h"

#include <nanobind/nanobind.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tess::python {

/// What a traced function did.
struct PyRecording {
  eager::RecordingRef recording;
};

/// The tensors of a Python sequence; TypeError, which opens with `what`, where an item is none.
std::vector<eager::TensorRef> tensorsOf(nanobind::handle sequence, const char *what);

/// An axis of an argument, and the name of its dimension; equal names are one.
using FreeAxis = std::tuple<size_t, size_t, std::string>;

/// What the recording does, as lists and dicts: its operators, values, arguments and results. A composite that is none
/// of the `known` records becomes the operators that it is made of. The sizes of `free` are symbols, "d0" the first.
nanobind::dict viewOf(const PyRecording &self, const std::set<std::string> &known, const std::vector<FreeAxis> &free);

/// A free dimension: argument, axis, name, min, and max or -1. Equal names are one dimension.
using FreeDim = std::tuple<size_t, size_t, std::string, int64_t, int64_t>;

/// Puts them into the options; InvalidArgument unless they are axes of arguments.
void addDims(const eager::Recording &recording, const std::vector<FreeDim> &dims, eager::GraphOptions &options);

} // namespace tess::python
