//===- Glibc.cpp - functions that an older C library lacks ----------------===//
//
// Programs and libraries of a wheel run with glibc 2.34, so that one wheel serves
// the distributions of 2022. The one newer function that LLVM calls is here.
//
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// A random number of the kernel, for names of temporary files.
extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != ssize_t(sizeof number)) {
  }
  return number;
}
