//===- Samples.h - the records' samples as calls ----------------*- C++ -*-===//
//
// Reads ops/samples.json, which lies in the runfiles, without the generated
// table: names and attributes go through the same doors as a user's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>

namespace tess::test {

struct SampleCall {
  OpDef op;
  Metas operands;
  llvm::SmallVector<unsigned, 4> segments;
  std::string name; // for messages
  /// The range of an operand's values.
  llvm::SmallVector<double, 4> low, high;
};

inline const llvm::json::Array &records() {
  static const llvm::json::Value all = [] {
    auto buffer = llvm::MemoryBuffer::getFile("ops/samples.json");
    REQUIRE(buffer);
    return llvm::cantFail(llvm::json::parse((*buffer)->getBuffer()));
  }();
  return *all.getAsArray();
}

inline Shape shapeOf(llvm::StringRef text) {
  Shape shape;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts)
    REQUIRE(!part.trim().getAsInteger(10, shape.emplace_back()));
  return shape;
}

/// A dtype the operand allows: `wanted`, else int32, else the first.
inline DType dtypeFor(DTypeMask allowed, DType wanted) {
  for (DType d : {wanted, DType::Float32, DType::Int32})
    if (allowed & maskOf(d))
      return d;
  return DType(llvm::countr_zero(allowed));
}

inline void setAttrs(OpDef &op, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ';', -1, false);
  for (llvm::StringRef part : parts) {
    auto [key, value] = part.split('=');
    const AttrInfo *info =
        llvm::find_if(op.info().attrs, [&, k = key.trim()](const AttrInfo &a) { return k == a.name; });
    REQUIRE(info != op.info().attrs.end());
    llvm::Error error = op.trySet(key.trim(), llvm::cantFail(AttrValue::parse(info->kind, value)));
    REQUIRE(!error);
  }
}

/// The numbers of "0;-1", one for each operand; a single one is everybody's.
inline llvm::SmallVector<double, 4> rangesOf(llvm::StringRef text, size_t numOperands) {
  llvm::SmallVector<double, 4> ends;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ';');
  for (llvm::StringRef part : parts)
    REQUIRE(!part.trim().getAsDouble(ends.emplace_back()));
  if (ends.size() == 1)
    ends.resize(numOperands, ends[0]);
  return ends;
}

/// The dtype, or the first that the sample is for where it names others.
inline DType dtypeIn(const llvm::json::Object &sample, DType wanted) {
  llvm::SmallVector<DType, 4> dtypes;
  for (const llvm::json::Value &name : *sample.getArray("dtypes"))
    dtypes.push_back(*parseDType(*name.getAsString()));
  return dtypes.empty() || llvm::is_contained(dtypes, wanted) ? wanted : dtypes[0];
}

inline SampleCall callOf(const OpInfo &info, const llvm::json::Object &sample, DType dtype) {
  dtype = dtypeIn(sample, dtype);
  SampleCall call = {OpDef(info), {}, {}, std::string(info.name) + " " + sample.getString("attrs")->str(), {}, {}};
  setAttrs(call.op, *sample.getString("attrs"));
  const llvm::json::Array &shapes = *sample.getArray("shapes");
  call.low = rangesOf(*sample.getString("low"), shapes.size());
  call.high = rangesOf(*sample.getString("high"), shapes.size());
  call.segments = llvm::cantFail(defaultSegments(info, shapes.size()));
  unsigned operand = 0;
  for (unsigned group = 0; group < info.operands.size(); ++group)
    for (unsigned i = 0; i < call.segments[group]; ++i) {
      llvm::StringRef shape = *shapes[operand++].getAsString();
      call.operands.emplace_back(dtypeFor(info.operands[group].dtypes, dtype), shapeOf(shape));
      call.name += " [" + shape.str() + "]";
    }
  return call;
}

/// Calls `f(SampleCall)` for every sample of every record.
template <typename F> void forEachSample(F f, DType dtype = DType::Float32) {
  for (const llvm::json::Value &record : records()) {
    const OpInfo *info = findOp(*record.getAsObject()->getString("name"));
    REQUIRE(info);
    for (const llvm::json::Value &sample : *record.getAsObject()->getArray("samples"))
      f(callOf(*info, *sample.getAsObject(), dtype));
  }
}

/// The text of the error of `expected`; "" when there is none.
template <typename T> std::string errorOf(llvm::Expected<T> expected) {
  return expected ? "" : takeError(expected.takeError()).second;
}

} // namespace tess::test
