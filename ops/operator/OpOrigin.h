//===- OpOrigin.h - where a row comes from that no record made --*- C++ -*-===//
#pragma once

#include <string>

namespace tess {

namespace custom {
class Operator;
} // namespace custom

/// The library of an operator.
struct OpOrigin {
  std::string library, version;
  std::string path; // empty: functions of this process
};

} // namespace tess
