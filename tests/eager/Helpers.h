//===- Helpers.h - tensors and values for the tests of eager ----*- C++ -*-===//
#pragma once

#include "eager/stack/Apply.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tess::eager::testing {

/// The value, or a failed test with the message.
template <typename T> T get(llvm::Expected<T> value) {
  if (!value) {
    FAIL(takeError(value.takeError()).second);
    llvm_unreachable("FAIL throws");
  }
  return std::move(*value);
}
inline void check(llvm::Error error) {
  if (error)
    FAIL(takeError(std::move(error)).second);
}
/// Code and message of a result that must be an error.
template <typename T> std::pair<ErrorCode, std::string> errorOf(llvm::Expected<T> value) {
  if (value)
    FAIL("an error was expected");
  return takeError(value.takeError());
}

template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::Int32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::Int64;
  else
    return DType::Bool;
}

/// A tensor of these values; `shape` empty with one value: rank 0.
template <typename T> TensorRef make(const std::vector<T> &values, llvm::ArrayRef<int64_t> shape) {
  return get(createTensor(TensorMeta(dtypeOf<T>(), shape), values.data()));
}
template <typename T> TensorRef make(const std::vector<T> &values) { return make(values, {int64_t(values.size())}); }

template <typename T> std::vector<T> values(TensorImpl &tensor) {
  REQUIRE(tensor.dtype() == dtypeOf<T>());
  std::vector<T> result(tensor.numElements());
  check(readValue(tensor, result.data()));
  return result;
}

inline TensorRef run(llvm::StringRef op, std::vector<Operand> operands) {
  return get(applyOne(OpDef::get(op), operands));
}
inline TensorRef run(const OpDef &op, std::vector<Operand> operands) { return get(applyOne(op, operands)); }

/// The wait status of a forked child that does `work` and ends; the child of a hang is killed after `seconds`.
inline int statusOfChild(unsigned seconds, const std::function<void()> &work) {
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(seconds); // a hang is a failure, not a time-out of the whole test
    work();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

/// Forks 40 children one after the other while two threads repeat `busy` with their number and a count: how many did
/// not end `work` within `seconds`.
inline unsigned hungChildren(const std::function<void(uint64_t thread, uint64_t turn)> &busy, unsigned seconds,
                             const std::function<void()> &work) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 2; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t turn = 0; !done; ++turn)
        busy(thread, turn);
    });
  unsigned hung = 0;
  for (int i = 0; i < 40 && !hung; ++i)
    hung += !WIFEXITED(statusOfChild(seconds, work));
  done = true;
  for (std::thread &thread : threads)
    thread.join();
  return hung;
}

inline std::vector<int64_t> shapeOf(const TensorImpl &tensor) { return tensor.shape().vec(); }

} // namespace tess::eager::testing
