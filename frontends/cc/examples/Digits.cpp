//===- Digits.cpp - the handwritten digits of a CSV file -----------------===//
#include "frontends/cc/examples/Digits.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace digits {

Digits readDigits(const std::string &path) {
  Digits digits;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream numbers(line);
    float pixel = 0;
    for (int64_t i = 0; i < kPixels && numbers >> pixel; ++i)
      digits.images.push_back(pixel / 16);
    int32_t label = -1;
    if (!(numbers >> label) || label < 0 || label > 9) {
      std::cerr << "digits: a line must have 64 pixels and a label, got '" << line << "'\n";
      std::exit(1);
    }
    digits.labels.push_back(label);
  }
  if (digits.labels.empty()) {
    std::cerr << "digits: the file must have lines, got none in " << path << "\n";
    std::exit(1);
  }
  return digits;
}

double accuracy(const std::vector<float> &logits, const std::vector<int32_t> &labels) {
  int64_t correct = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    auto row = logits.begin() + i * 10;
    correct += std::max_element(row, row + 10) - row == labels[i];
  }
  return double(correct) / double(labels.size());
}

} // namespace digits
