//===- KernelSupport.h - specs in few words, kernels that run ---*- C++ -*-===//
#pragma once

#include "compiler/target/Codegen.h"
#include "runtime/device/Code.h"

#include <cstring>
#include <random>
#include <vector>

namespace tess::test {

using namespace tess::compiler;

/// Writes a KernelSpec down; functions return node numbers.
class SpecBuilder {
public:
  KernelSpec spec;

  explicit SpecBuilder(unsigned parallel = 1, unsigned reduced = 0, VectorAxis axis = VectorAxis::Parallel) {
    spec.numParallel = parallel;
    spec.numReduced = reduced;
    spec.vectorAxis = axis;
  }
  int input(DType dtype, InnerClass inner = InnerClass::Contiguous, bool varies = false);
  int apply(ScalarFn fn, DType dtype, std::initializer_list<int> args, bool rounds = false);
  int constant(DType dtype, double value);
  int attr(DType dtype, bool isInt = false);
  int dimIndex(int slot, DType dtype = DType::Int64);
  int reduce(ReduceKind kind, DType dtype, int arg, bool rounds = false);
  int scan(ScalarFn fn, DType dtype, llvm::ArrayRef<int16_t> args, bool exclusive = false, bool rounds = false);
  void output(int node, DType dtype, InnerClass inner = InnerClass::Contiguous, bool varies = false);

private:
  int add(KernelNode node);
};

/// One operand at run time; strides per group (parallel, then reduced) in elements.
struct Bound {
  void *data;
  std::vector<int64_t> strides;
};

/// `pointers` and `dims` of a KernelFn.
struct CallArguments {
  std::vector<void *> pointers;
  std::vector<int64_t> dims;
};
CallArguments callArguments(const std::vector<int64_t> &sizes, const std::vector<Bound> &operands,
                            const std::vector<uint64_t> &attrs);

/// A compiled kernel.
class Kernel {
public:
  /// Aborts the test case when compilation fails. `target`: "host", "x86-64-v3", ...
  explicit Kernel(const KernelSpec &spec, llvm::StringRef target = "host");
  /// Runs over the whole domain, or in `pieces` of the outer (else the inner) range, or of the chunks of a reduction.
  void run(const std::vector<int64_t> &sizes, const std::vector<Bound> &operands,
           const std::vector<uint64_t> &attrs = {}, unsigned pieces = 1) const;

  /// Runs a kernel that contracts over chunk number `chunk` of its tile.
  void runChunk(const CallArguments &call, int64_t chunk) const;
  /// Of a target whose kernels have the form of a grid: `count` elements of the parallel domain.
  void runGrid(const CallArguments &call, int64_t count) const;

  KernelSpec spec;
  runtime::Image image;

private:
  void runChunks(const CallArguments &call, int64_t count, unsigned pieces) const;

  std::shared_ptr<runtime::CodeImage> code;
};

/// Why the kernel of this text has no meaning; "": it has one.
std::string refusalOf(llvm::StringRef text);

/// The generator for a target, made once.
CodeGenerator &generatorFor(llvm::StringRef target);
/// Every target of this machine: "x86-64-v3", "sim", and "host" where that is more than the first.
std::vector<std::string> targetsHere();

/// Row-major strides.
std::vector<int64_t> rowMajor(const std::vector<int64_t> &sizes);

/// The same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  uint64_t bits() { return engine(); }
  double uniform(double low, double high) { return low + (high - low) * double(engine() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }

private:
  std::mt19937_64 engine;
};

template <typename T> bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

} // namespace tess::test
