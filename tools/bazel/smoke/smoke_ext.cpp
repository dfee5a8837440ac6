#include <nanobind/nanobind.h>

NB_MODULE(_smoke, module) {
  module.def("add", [](int a, int b) { return a + b; });
}
