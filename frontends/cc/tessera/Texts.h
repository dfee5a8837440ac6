//===- Texts.h - values in messages, as Python shows them -------*- C++ -*-===//
#pragma once

#include "tessera/Tensor.h"

#include <algorithm>
#include <charconv>

namespace tessera::texts {

/// A value in a text.
inline std::string shown(const std::string &x) { return x; }
inline std::string shown(const char *x) { return x; }
inline std::string shown(bool x) { return x ? "True" : "False"; }
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> std::string shown(T x) {
  return std::to_string(x);
}
/// As Python's repr: the shortest text that reads back.
inline std::string shown(double x) {
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof(buffer), x).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}
inline std::string shown(const Shape &x) {
  std::string text = "(";
  for (size_t i = 0; i < x.size(); ++i)
    text += (i ? ", " : "") + std::to_string(x[i]);
  return text + (x.size() == 1 ? ",)" : ")");
}
/// All parts in one text.
template <typename... T> std::string text(const T &...parts) { return (shown(parts) + ...); }
/// `repr(x)`.
inline std::string quoted(const std::string &x) { return "'" + x + "'"; }
inline std::string strOf(const std::string &x) { return x; }
/// `x.upper()`.
inline std::string upperOf(std::string x) {
  std::ranges::transform(x, x.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return x;
}
/// `between.join(parts)`.
inline std::string joinOf(const std::string &between, const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : between) + part;
  return text;
}

} // namespace tessera::texts
