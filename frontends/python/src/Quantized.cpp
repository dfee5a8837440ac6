//===- Quantized.cpp - quantized dtypes and NumPy's -----------------------===//
//
// NumPy knows only the integers that are stored. Kind, scale and zero point are
// metadata of the dtype object, which arrays keep but NumPy does not compare:
// our own text, and what MegEngine writes there.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Quantized.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/NumpyConversion.h"

#include "ops/Quantization.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>

namespace tess::python {

namespace {

constexpr const char *kOurs = "tessera_dtype", *kMegengines = "mgb_dtype";

/// The shortest Python float that becomes this float32.
double shortest(float value) {
  char text[40];
  char *end = std::to_chars(text, text + sizeof(text), value).ptr;
  double result = 0;
  std::from_chars(text, end, result);
  return result;
}

/// A list; of one number for the whole tensor that number.
template <typename T> nb::object oneOrList(const Quantization &parameters, T values) {
  if (!parameters.isPerChannel())
    return nb::cast(values.front());
  return nb::cast(values);
}

nb::object scaleOf(const Quantization &parameters) {
  std::vector<double> scales;
  for (float scale : parameters.scales)
    scales.push_back(shortest(scale));
  return oneOrList(parameters, std::move(scales));
}

nb::object zeroPointOf(const Quantization &parameters) {
  return oneOrList(parameters, std::vector<int32_t>(parameters.zeroPoints.begin(), parameters.zeroPoints.end()));
}

DType quantizedOf(nb::handle dtype, const char *asking) {
  llvm::Expected<DType> found = quantizedFrom(dtype.ptr());
  if (!found || !parametersOf(*found)) {
    if (!found)
      llvm::consumeError(found.takeError());
    throwError(invalidArgument(llvm::Twine(asking) + ": dtype must be quantized, got " +
                               nb::cast<std::string>(nb::str(dtype))));
  }
  return *found;
}

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
  DType found = valueOrThrow(quantizedFrom(dtype.ptr()));
  const Quantization *parameters = quantizationOf(found);
  if (!parameters)
    return nb::none();
  nb::object zeroPoint = quantizedKind(found).hasZeroPoint ? zeroPointOf(*parameters) : nb::none();
  nb::object axis = parameters->isPerChannel() ? nb::cast(parameters->axis) : nb::none();
  return nb::make_tuple(shortName(kindOf(found)).str(), scaleOf(*parameters), zeroPoint, axis);
}

std::string nameOf(nb::handle dtype) { return shortName(quantizedOf(dtype, "dtype")).str(); }

} // namespace

llvm::Expected<DType> quantizedFrom(PyObject *dtype) {
  nb::object metadata = nb::steal(PyObject_GetAttrString(dtype, "metadata"));
  PyErr_Clear();
  if (!metadata || !PyMapping_Check(metadata.ptr()))
    return DType();
  nb::object text = nb::steal(PyMapping_GetItemString(metadata.ptr(), kOurs));
  PyErr_Clear();
  const char *name = text && PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (!name)
    return DType();
  std::optional<DType> found = parseDType(name);
  if (found && parametersOf(*found))
    return *found;
  return invalidArgument(llvm::Twine("dtype: a quantized dtype must have a scale, got ") + name);
}

nb::object quantizedNumpyDType(DType dtype) {
  const QuantizedKind &kind = quantizedKind(dtype);
  const Quantization &parameters = *quantizationOf(dtype);
  nb::dict megengines, metadata;
  megengines["name"] = kind.megengineName;
  megengines["scale"] = scaleOf(parameters);
  if (kind.hasZeroPoint)
    megengines["zero_point"] = zeroPointOf(parameters);
  metadata[kMegengines] = megengines;
  metadata[kOurs] = std::string(shortName(dtype));
  nb::object type = nb::module_::import_("numpy").attr("dtype");
  return type(numpyName(kind.storage).data(), nb::arg("metadata") = metadata);
}

void initQuantized(nb::module_ &module) {
  module.def("quantized_dtype", &makeDType, nb::arg("kind"), nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
             "NumPy's dtype of a quantized one; axis is -1 for one scale.");
  module.def("quantization", &describe, nb::arg("dtype"), "(kind, scale, zero_point, axis) of a dtype, or None.");
  module.def("quantized_name", &nameOf, nb::arg("dtype"), "The text of a quantized dtype, as in 'qint8<0.1>'.");
}

} // namespace tess::python
