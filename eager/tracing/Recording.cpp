//===- Recording.cpp - what a traced function did ------------------------===//
#include "eager/tracing/Recording.h"

#include "eager/tensor/Placement.h"
#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tess::eager {

/// Bytes of a recording and of each of its operators, about.
static constexpr uint64_t kRecordingBytes = 4096, kOperatorBytes = 512;

int64_t Recording::sizeOf(uint32_t symbol) const { return valueList[ownerOf(symbol)].meta.shape[axisOf(symbol)]; }

bool Recording::holds(llvm::ArrayRef<TensorRef> arguments) const {
  if (home != &creationDevice())
    return false;
  llvm::SmallPtrSet<const TensorImpl *, 16> given;
  for (const TensorRef &argument : arguments)
    given.insert(argument.get());
  auto isAsItWas = [&](const TensorImpl &variable, const TensorMeta &meta) {
    return variable.hasMeta(meta) && !given.contains(&variable);
  };
  auto holdsLook = [&](const auto &look) {
    TensorRef variable = look.first.lock();
    return !variable || isAsItWas(*variable, look.second);
  };
  auto holdsValue = [](const ValueRead &read) {
    TensorRef variable = read.variable.lock();
    return !variable || (variable->storageRef() == read.value->storageRef() &&
                         variable->offset() == read.value->offset() && variable->storage().version() == read.version);
  };
  return llvm::all_of(valueReads, holdsValue) &&
         llvm::all_of(capturedList,
                      [&](uint32_t number) { return isAsItWas(*valueList[number].tensor, valueList[number].meta); }) &&
         llvm::all_of(lookedAt, holdsLook);
}

bool Recording::hasDataSizes() const {
  return llvm::any_of(opList, [](const Op &op) { return op.op.info().boundRule || control::decidesSizes(op.op); });
}

bool Recording::captures(const TensorImpl *variable) const {
  return llvm::any_of(capturedList, [&](uint32_t number) { return valueList[number].tensor.get() == variable; }) ||
         llvm::any_of(lookedAt, [&](const auto &look) { return look.first.is(*variable); });
}

uint64_t Recording::heldBytes() const { return kRecordingBytes + kOperatorBytes * opList.size(); }

void Recording::dropSnapshots() const {
  for (Value &value : valueList)
    value.snapshot.reset();
}

std::string Recording::whyEager() const {
  if (!ownRead.empty())
    return "it looks at the value of a tensor at " + ownRead;
  if (dataShapes)
    return "it looks at a size that depends on data" + (dataRead.empty() ? "" : " at " + dataRead);
  if (!move.empty())
    return "it copies a tensor to another device: " + move;
  auto [first, apart] = places();
  return apart ? "its tensors are on several devices: " + placeOf(*first) + " and " + placeOf(*apart) : "";
}

std::string nameOf(llvm::StringRef name) { return name.empty() ? "a tensor" : name.str(); }

std::string placeOf(llvm::StringRef name, const runtime::Device &device) {
  return nameOf(name) + " on " + device.name();
}

std::string placeOf(const Recording::Value &value) { return placeOf(value.name, *value.device); }

Recording::Places Recording::places() const {
  Places places;
  auto see = [&](llvm::ArrayRef<uint32_t> numbers) {
    for (uint32_t number : numbers) {
      const Value &value = valueList[number];
      places.first = places.first ? places.first : &value;
      if (!places.apart && value.device != places.first->device)
        places.apart = &value;
    }
  };
  see(argumentList);
  see(capturedList);
  for (const Op &op : opList)
    see(op.outputs);
  see(outputList);
  return places;
}

} // namespace tess::eager
