//===- Module.cpp - the extension tessera._core --------------------------===//
#include "frontends/python/src/Module.h"
#include "eager/Eager.h"
#include "runtime/Accelerators.h"

NB_MODULE(_core, module) {
  using namespace tess::python;
  tess::eager::start();
  tess::runtime::registerAccelerators();
  nanobind::set_leak_warnings(false); // operators and classes are never freed
  if (!initErrors(module) || !initOpFunction(module) || !initTensorOperators() || !initTensorType(module))
    throw nanobind::python_error();
  initOpDefType(module);
  initNetwork(module);
  initProgramFiles(module);
  initGrad(module);
  initLoops(module);
  initSymInt(module);
  initTrace(module);
  initTracePolicy(module);
  initProcessSettings(module);
  initTuning(module);
  initCommands(module);
  initCounters(module);
  initDeviceNames(module);
  initEviction(module);
  initQuantized(module);
  initRecordTable(module);
  initUserLines(module);
  initPythonState(module);
  initCallWatch(module);
  initSavedRecords(module);
  initCustomOps(module);
}
