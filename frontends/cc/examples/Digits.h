//===- Digits.h - the handwritten digits of a CSV file ----------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace digits {

/// Pixels of one image.
constexpr int64_t kPixels = 64;

struct Digits {
  std::vector<float> images; // count x kPixels, in 0..1
  std::vector<int32_t> labels;
  int64_t count() const { return labels.size(); }
};

/// Lines of 64 pixels in 0..16 and a label. Ends the program when the file is not so.
Digits readDigits(const std::string &path);
/// Share of rows of `logits` (10 a row) whose largest element is at the label.
double accuracy(const std::vector<float> &logits, const std::vector<int32_t> &labels);

} // namespace digits
