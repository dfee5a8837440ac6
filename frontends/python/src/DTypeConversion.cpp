//===- DTypeConversion.cpp - dtypes from Python objects, and back ---------===//
#include "frontends/python/src/DTypeConversion.h"
#include "ops/vocabulary/Error.h"

#include "llvm/ADT/DenseMap.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <charconv>

namespace tess::python {

namespace nb = nanobind;

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

} // namespace

nb::handle numpyFunction(const char *name) {
  static nb::dict *known = new nb::dict;
  if (!known->contains(name))
    (*known)[name] = nb::module_::import_("numpy").attr(name);
  return (*known)[name];
}

std::string describeObject(PyObject *object) {
  std::string text = Py_TYPE(object)->tp_name;
  nb::object repr = nb::steal(PyObject_Repr(object));
  const char *characters = repr ? PyUnicode_AsUTF8(repr.ptr()) : nullptr;
  if (!characters) {
    PyErr_Clear();
    return text;
  }
  return text + " " + llvm::StringRef(characters).take_front(80).str();
}

bool isForeign(DType dtype) { return dtype == DType::BFloat16 || isFloat8(dtype); }

nb::object scaleOf(const Quantization &parameters) {
  std::vector<double> scales;
  for (float scale : parameters.scales)
    scales.push_back(shortest(scale));
  return oneOrList(parameters, std::move(scales));
}

nb::object zeroPointOf(const Quantization &parameters) {
  return oneOrList(parameters, std::vector<int32_t>(parameters.zeroPoints.begin(), parameters.zeroPoints.end()));
}

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

/// As numpyDType(), of a quantized dtype, of which there may be many.
static PyObject *quantizedObject(DType dtype) {
  static auto *known = new llvm::DenseMap<uint32_t, PyObject *>;
  PyObject *&object = (*known)[uint32_t(dtype)];
  if (object)
    return object;
  try {
    return object = describedNumpyDType(dtype).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
}

PyObject *numpyDType(DType dtype) {
  if (isQuantized(dtype))
    return quantizedObject(dtype);
  static PyObject *known[kNumDTypes] = {};
  PyObject *&object = known[unsigned(dtype)];
  if (object)
    return object;
  try {
    if (isLowBit(dtype))
      return object = describedNumpyDType(dtype).release().ptr();
    nb::str name(numpyName(dtype).data(), numpyName(dtype).size());
    if (isForeign(dtype))
      return object = nb::module_::import_("tessera._foreign_dtypes").attr("foreign_dtype")(name).release().ptr();
    return object = numpyFunction("dtype")(name).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
}

/// The name of a dtype ("float32") from a string, a dtype, a class like np.float32, or a dtype object of ours; empty:
/// none of these.
static std::string dtypeName(PyObject *object) {
  if (PyUnicode_Check(object)) {
    const char *text = PyUnicode_AsUTF8(object);
    return text ? text : "";
  }
  if (object == reinterpret_cast<PyObject *>(&PyFloat_Type))
    return "float32";
  if (object == reinterpret_cast<PyObject *>(&PyLong_Type))
    return "int32";
  for (const char *attribute : {"name", "__name__"}) {
    nb::object name = nb::steal(PyObject_GetAttrString(object, attribute));
    const char *text = name && PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
    PyErr_Clear();
    if (text)
      return text;
  }
  return "";
}

llvm::Expected<std::optional<DType>> toDType(PyObject *object) {
  if (!object || object == Py_None)
    return std::nullopt;
  std::string name = dtypeName(object);
  if (std::optional<DType> dtype = parseDType(name)) {
    if (isInt(*dtype) && !PyUnicode_Check(object)) // what a dtype with metadata stores
      if (llvm::Expected<std::optional<DType>> described = describedBy(object); !described || *described)
        return described;
    if (!isQuantized(*dtype) || parametersOf(*dtype))
      return dtype;
    return makeError(ErrorCode::TypeMismatch, "dtype: a quantized dtype must have a scale, got " + name);
  }
  std::string known;
  for (unsigned i = 0; i < kNumDTypes; ++i)
    known += (i ? ", " : "") + numpyName(DType(i)).str();
  return makeError(ErrorCode::TypeMismatch, "dtype: name must be one of " + known + ", got " + describeObject(object));
}

} // namespace tess::python
