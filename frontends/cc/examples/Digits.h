//===- Digits.h - the handwritten digits of a CSV file ----------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace digits {

/// Pixels of one image.
constexpr int64_t kPixels = 64;

/// Images with their labels, 0 to 9.
struct Digits {
  std::vector<float> images; // count x kPixels, in 0..1
  std::vector<int32_t> labels;
  /// Number of images.
  int64_t count() const { return labels.size(); }
};

/// Reads a file with a line for each image: 64 pixels in 0..16, and a label. Ends the program when it has another form.
Digits readDigits(const std::string &path);
/// The share of rows of `logits` (10 numbers each) whose largest element is at the label.
double accuracy(const std::vector<float> &logits, const std::vector<int32_t> &labels);

} // namespace digits
