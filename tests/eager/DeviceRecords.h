//===- DeviceRecords.h - the records' samples on a device -------*- C++ -*-===//
#pragma once

#include "eager/dispatch/Transfers.h"
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "tests/ops/Samples.h"
#include "tests/runtime/Expect.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <random>

namespace tess::test {

/// The bits of a NaN of each width, but for the sign, lie above those of infinity; of other dtypes there is none.
inline uint64_t infinityBits(DType dtype) {
  switch (dtype) {
  case DType::Float16:
    return 0x7c00;
  case DType::BFloat16:
    return 0x7f80;
  case DType::Float32:
    return 0x7f800000;
  case DType::Float64:
    return 0x7ff0000000000000;
  default:
    return ~uint64_t(0);
  }
}

/// A tensor's dtype, shape and bytes; what NaN it is, which no operator promises, is left out.
struct TensorBytes {
  TensorMeta meta;
  std::string bytes;

  static llvm::Expected<TensorBytes> of(eager::TensorImpl &tensor) {
    TensorBytes out{tensor.meta(), std::string(tensor.numElements() * byteWidth(tensor.dtype()), 0)};
    if (llvm::Error error = eager::readValue(tensor, out.bytes.data()))
      return error;
    DType part = partOf(tensor.dtype());
    size_t width = byteWidth(part);
    for (size_t at = 0; at < out.bytes.size(); at += width) {
      uint64_t bits = 0;
      std::memcpy(&bits, &out.bytes[at], width);
      if ((bits & ~(uint64_t(1) << (8 * width - 1))) > infinityBits(part))
        out.bytes.replace(at, width, width, char(0xff));
    }
    return out;
  }
  bool operator==(const TensorBytes &other) const { return meta == other.meta && bytes == other.bytes; }
};

/// Results of a call, then the gradients of its operands (none where there is no value), or the error.
struct CallResult {
  std::vector<std::optional<TensorBytes>> values;
  std::string error;
  bool operator==(const CallResult &other) const { return values == other.values && error == other.error; }
};

/// Numbers within a sample's range.
inline eager::TensorRef randomOperand(const TensorMeta &meta, double low, double high, std::mt19937_64 &random) {
  std::vector<double> values(meta.numElements());
  for (double &value : values) {
    value = low + (high - low) * double(random() >> 11) * 0x1p-53;
    value = isDifferentiable(meta.dtype) ? value : std::floor(value);
  }
  eager::TensorRef wide = get(eager::createTensor({DType::Float64, meta.shape}, values.data()));
  return meta.dtype == DType::Float64
             ? wide
             : get(eager::applyOne(OpDef::get("cast").set("dtype", meta.dtype), {eager::Operand(wide)}));
}

inline llvm::Error addValue(CallResult &out, const eager::TensorRef &tensor) {
  if (!tensor)
    return out.values.emplace_back(), llvm::Error::success();
  llvm::Expected<TensorBytes> bytes = TensorBytes::of(*tensor);
  if (bytes)
    out.values.push_back(std::move(*bytes));
  return bytes.takeError();
}

/// `call` on copies of `operands` on `device`, and backwards from its float results.
inline llvm::Error runOn(runtime::Device &device, const SampleCall &call, llvm::ArrayRef<eager::TensorRef> operands,
                         CallResult &out) {
  eager::TapeRef tape = eager::Tape::create();
  eager::Tensors copies;
  for (const eager::TensorRef &operand : operands)
    tape->watch(*copies.emplace_back(get(eager::toDevice(*operand, device))));
  tape->start();
  llvm::SmallVector<eager::Operand> given(copies.begin(), copies.end());
  llvm::Expected<eager::Tensors> results = eager::apply(call.op, given, call.segments);
  if (!results)
    return results.takeError();
  eager::Tensors floats;
  for (const eager::TensorRef &result : *results) {
    CHECK(&result->storage().device() == &device);
    if (isFloat(result->dtype()))
      floats.push_back(result);
    if (llvm::Error error = addValue(out, result))
      return error;
  }
  llvm::Expected<eager::Tensors> gradients = tape->backward(floats, eager::Tensors(floats.size()));
  if (!gradients)
    return gradients.takeError();
  for (const eager::TensorRef &gradient : *gradients)
    if (llvm::Error error = addValue(out, gradient))
      return error;
  return llvm::Error::success();
}

inline CallResult resultOf(runtime::Device &device, const SampleCall &call, llvm::ArrayRef<eager::TensorRef> operands) {
  CallResult out;
  out.error = messageOf(runOn(device, call, operands, out));
  return out;
}

/// Whether its operands can be made of random numbers.
inline bool hasNumbers(const SampleCall &call) {
  return !call.operands.empty() && llvm::all_of(call.operands, [](const TensorMeta &meta) {
    return maskOf(meta.dtype) & (kNumberMask | kComplexMask | kBoolMask);
  });
}

/// Every sample, of operands of `dtype` where they may be: the host's results on `device`, forwards and backwards, bit
/// for bit. The number of calls.
inline unsigned checkRecords(runtime::Device &device, DType dtype) {
  unsigned calls = 0, refused = 0;
  auto check = [&](const SampleCall &call) {
    if (!hasNumbers(call))
      return;
    std::mt19937_64 random(calls++);
    eager::Tensors operands;
    for (auto [meta, low, high] : llvm::zip(call.operands, call.low, call.high))
      operands.push_back(randomOperand(meta, low, high, random));
    CallResult want = resultOf(runtime::hostDevice(), call, operands), got = resultOf(device, call, operands);
    INFO(call.name << " of " << toString(call.operands[0]) << " " << want.error << " " << got.error);
    CHECK(got == want);
    refused += !want.error.empty();
  };
  forEachSample(check, dtype);
  CHECK(refused * 20 < calls); // few samples are of values that an operator refuses
  return calls;
}

} // namespace tess::test
