//===- StackDepths.h - how deep a frame's stack is --------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace tess::python {

/// The number of values on the stack of a frame that runs `code`, before each of its instructions by number (the offset
/// over 2); -1 where none begins or none comes. Follows every jump and every handler of exceptions, as the compiler of
/// Python does for co_stacksize: from 3.12 on a frame that is traced does not tell. `bytes` are those of
/// PyCode_GetCode.
std::vector<int16_t> stackDepths(PyCodeObject *code, PyObject *bytes);

} // namespace tess::python
