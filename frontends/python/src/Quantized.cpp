//===- Quantized.cpp - quantized and low-bit dtypes for Python ------------===//
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/stack/Apply.h"
#include "ops/vocabulary/Quantization.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cassert>

namespace tess::python {

namespace {

nb::object makeDType(const std::string &kind, const std::vector<double> &scales, const std::vector<int64_t> &zeroPoints,
                     int axis) {
  Quantization parameters;
  parameters.axis = axis;
  for (double scale : scales)
    parameters.scales.push_back(float(scale));
  for (int64_t zeroPoint : zeroPoints)
    parameters.zeroPoints.push_back(int32_t(std::clamp<int64_t>(zeroPoint, INT32_MIN, INT32_MAX)));
  return nb::borrow(numpyDType(valueOrThrow(quantizedDType(*parseDType(kind), std::move(parameters)))));
}

/// Kind, scale, zero point and axis, as they were given; None where it is not quantized.
nb::object describe(nb::handle dtype) {
  std::optional<DType> found = valueOrThrow(describedBy(dtype.ptr()));
  const Quantization *parameters = found ? quantizationOf(*found) : nullptr;
  if (!parameters)
    return nb::none();
  nb::object zeroPoint = quantizedKind(*found).hasZeroPoint ? zeroPointOf(*parameters) : nb::none();
  nb::object axis = parameters->isPerChannel() ? nb::cast(parameters->axis) : nb::none();
  return nb::make_tuple(shortName(kindOf(*found)).str(), scaleOf(*parameters), zeroPoint, axis);
}

nb::object textOf(nb::handle dtype) {
  std::optional<DType> found = valueOrThrow(describedBy(dtype.ptr()));
  return found ? nb::cast(shortName(*found).str()) : nb::none();
}

nb::object lowBitDType(const std::string &name) { return nb::borrow(numpyDType(*parseDType(name))); }

/// `scale`, float32, and `zeroPoint`, int32, are tensors of one element.
void setGrid(nb::handle tensor, const std::string &kind, nb::handle scale, nb::handle zeroPoint) {
  assert(isTensor(tensor.ptr()) && isTensor(scale.ptr()) && isTensor(zeroPoint.ptr()));
  implOf(tensor.ptr())
      .setGrid(std::make_shared<eager::Grid>(eager::Grid{*parseDType(kind), eager::TensorRef(&implOf(scale.ptr())),
                                                         eager::TensorRef(&implOf(zeroPoint.ptr()))}));
}

/// A tensor of these numbers, which are on no grid.
nb::object offGrid(nb::handle tensor) {
  eager::TensorRef same = valueOrThrow(eager::dupTensor(implOf(tensor.ptr()), /*detach=*/false));
  same->setGrid(nullptr);
  return nb::steal(wrap(std::move(same)));
}

/// Kind, scale and zero point; None where the numbers may be any.
nb::object gridOf(nb::handle tensor) {
  std::shared_ptr<const eager::Grid> grid = implOf(tensor.ptr()).grid();
  if (!grid)
    return nb::none();
  return nb::make_tuple(shortName(grid->kind).str(), nb::steal(wrap(grid->scale)), nb::steal(wrap(grid->zeroPoint)));
}

} // namespace

void initQuantized(nb::module_ &module) {
  module.def("quantized_dtype", &makeDType, nb::arg("kind"), nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
             "NumPy's dtype of a quantized one; axis is -1 for one scale.");
  module.def("quantization", &describe, nb::arg("dtype"), "(kind, scale, zero_point, axis) of a dtype, or None.");
  module.def("set_grid", &setGrid, nb::arg("tensor"), nb::arg("kind"), nb::arg("scale"), nb::arg("zero_point"),
             "Says that numbers are on the grid of a quantized dtype; operators that move or round elements keep it.");
  module.def("off_grid", &offGrid, nb::arg("tensor"), "The same numbers, which are on no grid.");
  module.def("grid_of", &gridOf, nb::arg("tensor"), "(kind, scale, zero_point) of the grid, or None.");
  module.def("low_bit_dtype", &lowBitDType, nb::arg("name"), "NumPy's dtype of 'intb1', 'intb2' or 'intb4'.");
  module.def("described_name", &textOf, nb::arg("dtype"),
             "The text of a dtype that NumPy has with metadata, as in 'qint8<0.1>' and 'intb4', or None.");
}

} // namespace tess::python
