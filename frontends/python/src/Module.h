//===- Module.h - the parts of the extension --------------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

namespace tess::python {

namespace nb = nanobind;

/// One function for each part, in the file of its name. False: a Python exception is set.
bool initErrors(nb::module_ &module);
bool initOpFunction(nb::module_ &module);
bool initTensorOperators();
bool initTensorType(nb::module_ &module);
void initOpDefType(nb::module_ &module);
void initNetwork(nb::module_ &module);
void initGrad(nb::module_ &module);
void initLoops(nb::module_ &module);
void initSymInt(nb::module_ &module);
void initTrace(nb::module_ &module);
void initTracePolicy(nb::module_ &module);
void initProcessSettings(nb::module_ &module);
void initProgramFiles(nb::module_ &module);
void initCommands(nb::module_ &module);
void initCounters(nb::module_ &module);
void initDeviceNames(nb::module_ &module);
void initEviction(nb::module_ &module);
void initQuantized(nb::module_ &module);
void initRecordTable(nb::module_ &module);
void initTuning(nb::module_ &module);
void initUserLines(nb::module_ &module);
void initPythonState(nb::module_ &module);
void initCallWatch(nb::module_ &module);
void initSavedRecords(nb::module_ &module);
void initCustomOps(nb::module_ &module);

} // namespace tess::python
