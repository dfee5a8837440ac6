//===- CpuFeatures.cpp - what this processor and system can run ----------===//
//
// By CPUID (Intel SDM, volume 2A) and XGETBV: a feature counts only when the
// operating system keeps its registers.
//
//===----------------------------------------------------------------------===//
#include "runtime/Code.h"

#include <cpuid.h>

namespace tess::runtime {

namespace {

/// Register bits of one feature; `state`: register state that the system must save (XCR0).
struct FeatureBit {
  const char *name;
  unsigned leaf, reg, bit;
  unsigned state;
};

enum Register { Eax, Ebx, Ecx, Edx };
constexpr unsigned kNoState = 0, kAvxState = 0x6, kAvx512State = 0xe6;
constexpr unsigned kExtended = 0x80000001;

constexpr FeatureBit kFeatures[] = {
    {"sse3", 1, Ecx, 0, kNoState},
    {"ssse3", 1, Ecx, 9, kNoState},
    {"fma", 1, Ecx, 12, kAvxState},
    {"cx16", 1, Ecx, 13, kNoState},
    {"sse4.1", 1, Ecx, 19, kNoState},
    {"sse4.2", 1, Ecx, 20, kNoState},
    {"movbe", 1, Ecx, 22, kNoState},
    {"popcnt", 1, Ecx, 23, kNoState},
    {"avx", 1, Ecx, 28, kAvxState},
    {"f16c", 1, Ecx, 29, kAvxState},
    {"bmi", 7, Ebx, 3, kNoState},
    {"avx2", 7, Ebx, 5, kAvxState},
    {"bmi2", 7, Ebx, 8, kNoState},
    {"avx512f", 7, Ebx, 16, kAvx512State},
    {"avx512dq", 7, Ebx, 17, kAvx512State},
    {"avx512ifma", 7, Ebx, 21, kAvx512State},
    {"avx512cd", 7, Ebx, 28, kAvx512State},
    {"avx512bw", 7, Ebx, 30, kAvx512State},
    {"avx512vl", 7, Ebx, 31, kAvx512State},
    {"avx512vbmi", 7, Ecx, 1, kAvx512State},
    {"avx512vbmi2", 7, Ecx, 6, kAvx512State},
    {"gfni", 7, Ecx, 8, kNoState},
    {"avx512vnni", 7, Ecx, 11, kAvx512State},
    {"avx512bitalg", 7, Ecx, 12, kAvx512State},
    {"avx512vpopcntdq", 7, Ecx, 14, kAvx512State},
    {"sahf", kExtended, Ecx, 0, kNoState},
    {"lzcnt", kExtended, Ecx, 5, kNoState},
};

struct Cpu {
  unsigned leaf1[4] = {}, leaf7[4] = {}, extended[4] = {};
  unsigned state = 0;

  Cpu() {
    __get_cpuid(1, &leaf1[0], &leaf1[1], &leaf1[2], &leaf1[3]);
    __get_cpuid_count(7, 0, &leaf7[0], &leaf7[1], &leaf7[2], &leaf7[3]);
    __get_cpuid(kExtended, &extended[0], &extended[1], &extended[2], &extended[3]);
    if (leaf1[Ecx] >> 27 & 1) { // OSXSAVE: XGETBV may be used
      unsigned low, high;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      state = low;
    }
  }

  bool has(const FeatureBit &f) const {
    const unsigned *registers = f.leaf == 1 ? leaf1 : f.leaf == 7 ? leaf7 : extended;
    return (registers[f.reg] >> f.bit & 1) && (state & f.state) == f.state;
  }
};

} // namespace

bool hostHasFeature(llvm::StringRef feature) {
  static const Cpu cpu;
  for (const FeatureBit &known : kFeatures)
    if (feature == known.name)
      return cpu.has(known);
  return false;
}

} // namespace tess::runtime
