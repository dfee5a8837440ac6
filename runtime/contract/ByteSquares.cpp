//===- ByteSquares.cpp - bytes as vectors ---------------------------------===//
#include "runtime/contract/ByteSquares.h"

#include <algorithm>

namespace tess::runtime::contract {

namespace {

constexpr int64_t kSide = kLanes;

/// A few lines, whose number is known here so that it goes by vectors.
template <int64_t kLines> void gatherFew(const char *from, int64_t apart, int64_t count, char *to) {
  for (int64_t x = 0; x < count; ++x)
    for (int64_t line = 0; line < kLines; ++line)
      to[x * kLines + line] = from[line * apart + x];
}

void gatherPlainly(const char *from, int64_t apart, int64_t lines, int64_t count, char *to) {
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t x = 0; x < count; ++x)
      to[x * lines + line] = from[line * apart + x];
}

/// The square of kSide lines from `from` on, of which `count` columns are copied, `step` bytes from each other.
void gatherSquare(const char *from, int64_t apart, int64_t count, int64_t step, char *to) {
  Bytes square[kSide];
  for (int64_t line = 0; line < kSide; ++line)
    square[line] = loadBytes(from + line * apart, count);
  transpose(square);
  for (int64_t x = 0; x < count; ++x)
    std::memcpy(to + x * step, &square[x], sizeof(Bytes));
}

} // namespace

void gatherChannels(const char *from, int64_t apart, int64_t lines, int64_t count, char *to) {
  if (count == 1 && apart == 1)
    return void(std::memcpy(to, from, size_t(lines)));
  switch (lines) {
  case 1:
    return gatherFew<1>(from, apart, count, to);
  case 2:
    return gatherFew<2>(from, apart, count, to);
  case 3:
    return gatherFew<3>(from, apart, count, to);
  case 4:
    return gatherFew<4>(from, apart, count, to);
  default:
    break;
  }
  if (lines < kSide || count < kLeastBytes)
    return gatherPlainly(from, apart, lines, count, to);
  // The last square of lines, and of columns, may copy some of the one before it again.
  for (int64_t line = 0; line < lines; line += kSide) {
    const int64_t first = std::min(line, lines - kSide);
    for (int64_t x = 0; x < count; x += kSide) {
      const int64_t begin = std::max<int64_t>(std::min(x, count - kSide), 0);
      gatherSquare(from + first * apart + begin, apart, std::min(kSide, count - begin), lines,
                   to + begin * lines + first);
    }
  }
}

} // namespace tess::runtime::contract
