//===- KernelHarness.h - calls of table kernels -----------------*- C++ -*-===//
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/Elements.h"
#include "runtime/device/KernelTable.h"
#include "runtime/threads/Worker.h"
#include "tests/runtime/Expect.h"

#include <cstring>
#include <functional>
#include <random>

namespace tess::test {

/// A row-major tensor in host memory.
struct HostTensor {
  TensorMeta meta;
  std::vector<char> storage;

  HostTensor() = default;
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> shape) : meta(dtype, shape) {
    storage.resize(size_t(meta.numElements() * byteWidth(dtype)) + 64);
  }
  template <typename T>
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> shape, std::vector<T> values) : HostTensor(dtype, shape) {
    std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }

  void *data() { return storage.data(); }
  template <typename T> T *as() { return static_cast<T *>(data()); }
  template <typename T> std::vector<T> values() { return {as<T>(), as<T>() + meta.numElements()}; }
};

/// Values in [-1, 1) that every float dtype holds well, from a seed.
inline HostTensor randomF32(llvm::ArrayRef<int64_t> shape, unsigned seed) {
  HostTensor out(DType::Float32, shape);
  std::mt19937 random(seed);
  for (int64_t i = 0, n = out.meta.numElements(); i < n; ++i)
    out.as<float>()[i] = float(int(random() % 256) - 128) / 128;
  return out;
}

struct CallOptions {
  unsigned threads = 1;
  std::vector<unsigned> segments = {};
  runtime::KernelSettings settings = {};
  std::string implementation = {};
};

struct CallResult {
  std::vector<HostTensor> outputs;
  std::string implementation, error;
  int64_t unknownExtent = 0;
};

/// Runs a kernel; gives the message of its error.
inline std::string runPrepared(const runtime::PreparedKernel &kernel, runtime::RunContext &context,
                               llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) {
  std::vector<char> workspace(kernel.workspaceBytes() + 64, char(0xff)); // NaN in every dtype
  context.threads = kernel.threads();
  context.workspace = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  return messageOf(runtime::Worker::global().call([&] { return kernel.run(context, in, out); }));
}

/// Infers, prepares and runs `op` on the processor.
inline CallResult callKernel(const OpDef &op, std::vector<HostTensor> inputs, const CallOptions &options = {}) {
  using namespace runtime;
  CallResult result;
  Metas metas;
  llvm::SmallVector<void *, 4> in, out;
  for (HostTensor &input : inputs) {
    metas.push_back(input.meta);
    in.push_back(input.data());
  }
  const KernelDef *def = findKernel(hostDevice().kernels(), op.info().kernel);
  REQUIRE(def);
  Metas results = get(op.infer(metas, options.segments));
  if (op.info().boundRule)
    results = get(op.info().boundRule(op, metas, options.segments));
  std::vector<HostTensor> outputs;
  for (const TensorMeta &meta : results)
    outputs.emplace_back(meta.dtype, meta.shape);
  for (HostTensor &output : outputs)
    out.push_back(output.data());
  PrepareRequest request{op, metas, results};
  request.threads = options.threads;
  request.settings = options.settings;
  request.implementation = options.implementation;
  auto prepared = prepareKernel(hostDevice().kernels(), request);
  if (!prepared) {
    result.error = takeError(prepared.takeError()).second;
    return result;
  }
  if ((*prepared)->updatesOutput())
    outputs[0].storage = inputs[0].storage;
  RunContext context;
  result.error = runPrepared(**prepared, context, in, out);
  result.implementation = (*prepared)->implementation();
  result.unknownExtent = context.unknownExtent;
  result.outputs = std::move(outputs);
  return result;
}

template <typename T> bool sameBits(HostTensor a, HostTensor b) {
  auto x = a.values<T>(), y = b.values<T>();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// The elements of a tensor of floats or integers.
inline std::vector<double> asDouble(HostTensor tensor) {
  std::vector<double> out;
  runtime::withType(tensor.meta.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (T value : tensor.values<T>())
      out.push_back(double(runtime::widen(value)));
  });
  return out;
}

/// Checks that each number is within `tolerance` of the one wanted, in units of 1 plus its magnitude. NaN never is.
inline void checkClose(const std::vector<double> &got, const std::vector<double> &wanted, double tolerance) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i])))) {
      INFO("element " << i);
      REQUIRE(got[i] == wanted[i]);
    }
}

} // namespace tess::test
