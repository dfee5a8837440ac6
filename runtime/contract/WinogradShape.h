//===- WinogradShape.h - windows of 3 x 3 -----------------------*- C++ -*-===//
#pragma once

#include "runtime/contract/Windows.h"

namespace tess::runtime::contract {

/// Windows of 3 x 3 elements, one element apart. Channels are in whole blocks of kLanes.
struct WinogradShape {
  DType dtype; // float32, float16 or bfloat16
  int64_t batch, in, out;
  /// Along rows and columns: elements of the image, results, and elements before the image's that the first window has.
  int64_t size[2], results[2], pad[2];
  /// Where images and results lie; the last two strides are of rows and columns.
  ImageForm image, result;
  /// Elements of the weight from one channel of the image to the next, and of the result; places lie side by side.
  int64_t weightIn, weightOut;
  /// Places count from the last one.
  bool flipsPlaces = false;
  /// The weight comes transformed.
  bool isTransformed = false;
};

} // namespace tess::runtime::contract
