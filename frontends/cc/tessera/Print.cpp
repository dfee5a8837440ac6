//===- Print.cpp - tensors as text ---------------------------------------===//
#include "tessera/Tensor.h"

#include <ostream>
#include <sstream>

namespace tessera {

/// Limit of elements above which only the ends of an axis are shown.
static constexpr int64_t kMaxElements = 1000;
static constexpr int64_t kEdge = 3;

namespace {

/// Prints nested brackets around elements that are already text.
class Printer {
public:
  Printer(std::vector<std::string> elements, Shape shape)
      : elements(std::move(elements)), shape(std::move(shape)),
        isAbridged(int64_t(this->elements.size()) > kMaxElements) {}
  std::string print() { return axis(0, 0, elements.size()); }

private:
  std::string axis(unsigned number, size_t first, size_t count) {
    if (number == shape.size())
      return elements[first];
    int64_t size = shape[number];
    size_t each = size ? count / size : 0;
    std::string separator = number + 1 == shape.size() ? ", " : ",\n" + std::string(number + 1, ' ');
    std::string text = "[";
    for (int64_t i = 0; i < size; ++i) {
      if (i)
        text += separator;
      if (isAbridged && size > 2 * kEdge && i == kEdge) {
        text += "..." + separator;
        i = size - kEdge;
      }
      text += axis(number + 1, first + i * each, each);
    }
    return text + "]";
  }

  std::vector<std::string> elements;
  Shape shape;
  bool isAbridged;
};

} // namespace

static std::vector<std::string> elementTexts(const Tensor &x) {
  std::vector<std::string> texts;
  if (isBool(x.dtype())) {
    for (bool value : x.toVector<bool>())
      texts.push_back(value ? "true" : "false");
  } else if (isUnsignedInt(x.dtype())) {
    for (uint64_t value : x.toVector<uint64_t>())
      texts.push_back(std::to_string(value));
  } else if (isInt(x.dtype())) {
    for (int64_t value : x.toVector<int64_t>())
      texts.push_back(std::to_string(value));
  } else {
    for (double value : x.toVector<double>()) {
      std::ostringstream text;
      text << value;
      texts.push_back(text.str());
    }
  }
  return texts;
}

std::string toString(const Tensor &x) {
  if (!x.isDefined())
    return "Tensor()";
  return "Tensor(" + Printer(elementTexts(x), x.shape()).print() + ", dtype=" + numpyName(x.dtype()).str() + ")";
}

std::ostream &operator<<(std::ostream &os, const Tensor &x) { return os << toString(x); }

} // namespace tessera
