//===- WeightRows.cpp - weights as left operands --------------------------===//
#include "runtime/contract/WeightRows.h"

#include "runtime/device/Elements.h"

#include <algorithm>

namespace tess::runtime::contract {

bool WeightForm::isInPlace() const {
  for (size_t place = 0; place < placeAt.size(); ++place)
    if (placeAt[place] != int64_t(place))
      return false;
  return channelStride == int64_t(placeAt.size());
}

int64_t copiedWeightWords(const LineForm &form, int64_t depth) {
  constexpr int64_t kSetBytes = 2048, kApart = 16;
  const int64_t words = form.lines(depth), width = int64_t(form.wordBytes());
  return words * width % kSetBytes == 0 ? words + kApart : words;
}

// Some rows at a time, channel by channel: they lie near each other where rows are of the weight's second axis.
void copyWeightRows(const LineForm &form, const WeightForm &weight, const void *from, int64_t rows, int64_t depth,
                    void *to) {
  constexpr int64_t kRows = 256;
  withFloatType(form.dtype, [&]<typename T>(T) {
    using W = std::conditional_t<std::is_same_v<T, F16>, float, T>;
    const int64_t rowElements = copiedWeightWords(form, depth) * form.perColumn;
    for (int64_t first = 0; first < rows; first += kRows) {
      const int64_t last = std::min(first + kRows, rows);
      const T *channel = static_cast<const T *>(from);
      for (int64_t k = 0; k < depth; k += int64_t(weight.placeAt.size()), channel += weight.channelStride)
        for (int64_t row = first; row < last; ++row) {
          W *out = static_cast<W *>(to) + row * rowElements + k;
          for (int64_t at : weight.placeAt)
            *out++ = W(channel[row * weight.rowStride + at]);
        }
      for (int64_t row = first; depth % form.perColumn && row < last; ++row)
        static_cast<W *>(to)[row * rowElements + depth] = W{};
    }
  });
}

} // namespace tess::runtime::contract
