//===- Module.cpp - the extension tessera._core --------------------------===//
#include "frontends/python/src/OpFunction.h"

namespace tess::python {
void initOpDefs(nb::module_ &module);
} // namespace tess::python

NB_MODULE(_core, module) {
  using namespace tess::python;
  nb::set_leak_warnings(false); // operators and classes are never freed
  if (!initFunctions(module) || !initOperators() || !initTensor(module))
    throw nb::python_error();
  initOpDefs(module);
  initGrad(module);
  initTrace(module);
  initRuntime(module);
  initLocation(module);
  initPythonState(module);
}
