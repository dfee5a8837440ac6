//===- Quantized.cpp - dtypes that NumPy has with metadata ----------------===//
//
// NumPy knows only the integers that are stored. What they stand for is metadata
// of the dtype object, which arrays keep but NumPy does not compare: our own
// text, and of quantized dtypes what MegEngine writes there.
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

} // namespace

llvm::Expected<std::optional<DType>> describedBy(PyObject *dtype) {
  nb::object metadata = nb::steal(PyObject_GetAttrString(dtype, "metadata"));
  PyErr_Clear();
  if (!metadata || !PyMapping_Check(metadata.ptr()))
    return std::nullopt;
  nb::object text = nb::steal(PyMapping_GetItemString(metadata.ptr(), kOurs));
  PyErr_Clear();
  const char *name = text && PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (!name)
    return std::nullopt;
  std::optional<DType> found = parseDType(name);
  if (found && (parametersOf(*found) || isLowBit(*found)))
    return found;
  return invalidArgument(llvm::Twine("dtype: a quantized dtype must have a scale, got ") + name);
}

/// What MegEngine writes into the metadata.
static nb::dict megenginesWords(DType dtype) {
  const QuantizedKind &kind = quantizedKind(dtype);
  const Quantization &parameters = *quantizationOf(dtype);
  nb::dict words;
  words["name"] = kind.megengineName;
  words["scale"] = scaleOf(parameters);
  if (kind.hasZeroPoint)
    words["zero_point"] = zeroPointOf(parameters);
  return words;
}

nb::object describedNumpyDType(DType dtype) {
  nb::dict metadata;
  if (isQuantized(dtype))
    metadata[kMegengines] = megenginesWords(dtype);
  metadata[kOurs] = std::string(shortName(dtype));
  nb::object type = nb::module_::import_("numpy").attr("dtype");
  return type(numpyName(storageOf(dtype)).data(), nb::arg("metadata") = metadata);
}

void initQuantized(nb::module_ &module) {
  module.def("quantized_dtype", &makeDType, nb::arg("kind"), nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"),
             "NumPy's dtype of a quantized one; axis is -1 for one scale.");
  module.def("quantization", &describe, nb::arg("dtype"), "(kind, scale, zero_point, axis) of a dtype, or None.");
  module.def("low_bit_dtype", &lowBitDType, nb::arg("name"), "NumPy's dtype of 'intb1', 'intb2' or 'intb4'.");
  module.def("described_name", &textOf, nb::arg("dtype"),
             "The text of a dtype that NumPy has with metadata, as in 'qint8<0.1>' and 'intb4', or None.");
}

} // namespace tess::python
