//===- CheckTests.cpp - the tests in a .tess file -------------------------===//
#include "tessera/check.h"
#include "tessera/npy.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace tessera::deploy {
namespace {

template <typename T> T at(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * int64_t(sizeof value), sizeof value);
  return value;
}

/// 0 for equal values and where neither is a number, infinite where only one is.
template <typename T> double errorOf(T expected, T actual) {
  if (expected == actual || (expected != expected && actual != actual))
    return 0;
  double smaller = std::min<double>(std::abs(expected), std::abs(actual));
  double error = std::abs(expected - actual) / std::max(smaller, 1.0);
  return std::isfinite(error) ? error : INFINITY;
}

double bfloat16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// The error of element `index`. Elements of one byte, and integers for which other numbers stand, count by their bits.
double errorAt(DType dtype, const char *expected, const char *actual, int64_t index) {
  auto as = [&](auto one) {
    using T = decltype(one);
    return errorOf(double(at<T>(expected, index)), double(at<T>(actual, index)));
  };
  switch (dtype) {
  case DType::Float32:
    return as(float());
  case DType::Float64:
    return as(double());
  case DType::Float16:
    return as(_Float16());
  case DType::BFloat16:
    return errorOf(bfloat16(at<uint16_t>(expected, index)), bfloat16(at<uint16_t>(actual, index)));
  case DType::Complex64:
    return errorOf(at<std::complex<float>>(expected, index), at<std::complex<float>>(actual, index));
  case DType::Complex128:
    return errorOf(at<std::complex<double>>(expected, index), at<std::complex<double>>(actual, index));
  case DType::Int8:
    return as(int8_t());
  case DType::UInt8:
    return as(uint8_t());
  case DType::Int16:
    return as(int16_t());
  case DType::UInt16:
    return as(uint16_t());
  case DType::Int32:
    return as(int32_t());
  case DType::UInt32:
    return as(uint32_t());
  case DType::Int64:
    return as(int64_t());
  case DType::UInt64:
    return as(uint64_t());
  default:
    size_t width = byteWidth(dtype);
    return std::memcmp(expected + index * int64_t(width), actual + index * int64_t(width), width) == 0 ? 0 : INFINITY;
  }
}

std::string textOf(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string textOf(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// Position of an element, "[0, 3]".
std::string positionOf(int64_t index, const Shape &shape) {
  Shape position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    position[axis] = index % shape[axis];
  return textOf(position);
}

/// One case of a model.
class Check {
public:
  Check(const Model &model, const TestCases &tests, size_t number,
        const std::function<void(const std::string &)> &report)
      : model(model), tests(tests), test(tests.cases[number]), name("test " + std::to_string(number)), report(report) {}

  Status run() {
    for (Status (Check::*step)() : {&Check::readInputs, &Check::compute, &Check::compareAll})
      if (Status status = (this->*step)(); !status)
        return status;
    return {};
  }

private:
  Status readInputs() {
    for (size_t i = 0; i < model.inputs().size(); ++i) {
      const InputInfo &info = model.inputs()[i];
      NpyArray &array = inputs.emplace_back();
      if (Status status = parseNpy(test.inputs[i], name + ", input " + info.name, array); !status)
        return status;
      if (array.dtype != storedAs(info.dtype))
        return {Code::DataLoss,
                name + ": input " + info.name + " must be " + info.text + ", got " + deploy::name(array.dtype)};
    }
    return {};
  }

  Status compute() {
    std::vector<Shape> shapes;
    std::vector<const void *> given;
    for (const NpyArray &array : inputs) {
      shapes.push_back(array.shape);
      given.push_back(array.data.data());
    }
    if (Status status = model.bind(shapes, session); !status)
      return status;
    results.resize(model.outputs().size());
    std::vector<void *> places;
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].resize(session.outputBytes(i));
      places.push_back(results[i].data());
    }
    auto memory = [&](size_t output, size_t bytes) -> void * {
      results[output].resize(bytes);
      return results[output].data();
    };
    return session.run(given.data(), given.size(), places.data(), places.size(), memory);
  }

  Status compareAll() {
    for (size_t i = 0; i < test.expected.size(); ++i)
      if (Status status = compare(i); !status)
        return status;
    return {};
  }

  Status compare(size_t output) {
    const OutputInfo &info = model.outputs()[output];
    const Shape &shape = session.outputShapes()[output];
    std::string what = name + ": output " + info.name;
    NpyArray expected;
    if (Status status = parseNpy(test.expected[output], name + ", output " + info.name, expected); !status)
      return status;
    if (expected.dtype != storedAs(info.dtype) || expected.shape != shape)
      return {Code::InvalidArgument, what + " must be " + deploy::name(expected.dtype) + textOf(expected.shape) +
                                         ", got " + deploy::name(info.dtype) + textOf(shape)};
    double largest = 0;
    int64_t where = 0;
    for (int64_t i = 0, count = expected.count(); i < count; ++i)
      if (double error = errorAt(info.dtype, expected.data.data(), results[output].data(), i); error > largest) {
        largest = error;
        where = i;
      }
    if (largest > tests.maxError)
      return {Code::InvalidArgument, what + " must be within " + textOf(tests.maxError) + " of the file's, got " +
                                         textOf(largest) + " at " + positionOf(where, shape)};
    if (report && tests.verbose)
      report(what + ": largest error " + textOf(largest) + ", at most " + textOf(tests.maxError));
    return {};
  }

  const Model &model;
  const TestCases &tests;
  const TestCase &test;
  std::string name;
  const std::function<void(const std::string &)> &report;
  Session session;
  std::vector<NpyArray> inputs;
  std::vector<std::vector<char>> results;
};

} // namespace

Status checkTests(const Model &model, const std::function<void(const std::string &line)> &report) {
  TestCases tests;
  if (Status status = model.testCases(tests); !status)
    return status;
  if (tests.cases.empty())
    return {Code::NotFound, "checkTests: the file must have tests, got none"};
  for (size_t number = 0; number < tests.cases.size(); ++number)
    if (Status status = Check(model, tests, number, report).run(); !status)
      return status;
  return {};
}

} // namespace tessera::deploy
