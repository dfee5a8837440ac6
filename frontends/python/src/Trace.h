//===- Trace.h - recordings for Python --------------------------*- C++ -*-===//
#pragma once

#include "eager/tracing/Recording.h"

#include <nanobind/nanobind.h>

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

/// A free dimension: argument, axis, name, min, and max or -1. Equal names are one dimension.
using FreeDim = std::tuple<size_t, size_t, std::string, int64_t, int64_t>;

/// Puts them into the options; InvalidArgument unless they are axes of arguments.
void addDims(const eager::Recording &recording, const std::vector<FreeDim> &dims, eager::GraphOptions &options);

} // namespace tess::python
