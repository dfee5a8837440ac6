//===- CompiledOp.cpp - what a class of calls compiles to -----------------===//
#include "eager/classes/CompiledOp.h"

#include "ops/vocabulary/Hash.h"

#include <bit>

namespace tess::eager {

std::atomic<uint64_t> BindingBytes::held{0}, BindingBytes::limit{kDefaultOpCacheLimit / 4};

uint64_t keyOfOp(const OpDef &op, bool direct) {
  bool sizesLater = readsSizesLater(op.info(), direct);
  uint64_t h = mixHash(0x51ED270B, uint64_t(op.info().id) << 1 | direct);
  for (unsigned i = 0; i < op.numAttrs(); ++i) {
    if (isKeyAttr(op.info(), i, sizesLater))
      h = mixHash(h, op.attr(i).hash());
    else if (op.attr(i).kind() == AttrKind::I64List)
      h = mixHash(h, op.attr(i).ints().size());
    else if (op.info().attrs[i].isOptional)
      h = mixHash(h, uint64_t(op.attr(i).kind()));
  }
  return h;
}

bool isSameForm(const AttrValue &a, const AttrValue &b) {
  return a.kind() == b.kind() && (a.kind() != AttrKind::I64List || a.ints().size() == b.ints().size());
}

uint64_t keyOfOperands(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments) {
  constexpr unsigned kBits = std::bit_width(kNumDTypes - 1), kMost = (64 - 4) / kBits;
  static_assert(kMost < 16, "the number of operands takes 4 bits");
  uint64_t h = operands.size();
  if (h <= kMost)
    for (const Operand &operand : operands)
      h = h << kBits | uint64_t(kindOf(operand.tensor->dtype()));
  else
    for (const Operand &operand : operands)
      h = mixHash(h, uint64_t(kindOf(operand.tensor->dtype())));
  for (unsigned segment : segments)
    h = mixHash(h, segment);
  return h;
}

uint64_t keyOfRanks(llvm::ArrayRef<Operand> operands) {
  uint64_t h = 1;
  for (const Operand &operand : operands)
    h = mixHash(h, operand.tensor->rank());
  return h;
}

/// Whether code for `a` serves `b`: it has the kind of a quantized dtype, and its parameters are operands.
static bool isSameCode(const AttrValue &a, const AttrValue &b) {
  return a == b ||
         (a.kind() == AttrKind::DType && b.kind() == AttrKind::DType && kindOf(a.dtype()) == kindOf(b.dtype()));
}

/// Not inline: a look-up of an operator without attributes would pay for its registers.
LLVM_ATTRIBUTE_NOINLINE bool CompiledOp::hasAttrs(const OpDef &other) const {
  for (unsigned i = 0; i < other.numAttrs(); ++i) {
    bool isKey = isKeyAttr(other.info(), i, direct || bindsAttrs);
    if (!(isKey ? isSameCode(op.attr(i), other.attr(i)) : isSameForm(op.attr(i), other.attr(i))))
      return false;
  }
  return true;
}

static uint64_t hashOfBinding(llvm::ArrayRef<TensorMeta> inputs, const OpDef &call,
                              const runtime::BindSettings &settings) {
  uint64_t hash = mixHash(call.hash(), settings.hash());
  for (const TensorMeta &meta : inputs)
    for (int64_t size : meta.shape)
      hash = mixHash(hash, uint64_t(size));
  return hash;
}

bool CompiledOp::isFor(const BoundShapes &bound, llvm::ArrayRef<TensorMeta> inputs, const OpDef &call,
                       const runtime::BindSettings &settings) const {
  return bound.settings == settings && llvm::ArrayRef(bound.inputs) == inputs && (!bindsAttrs || bound.op.isSame(call));
}

BoundShapesRef CompiledOp::findBound(llvm::ArrayRef<TensorMeta> inputs, const OpDef &call,
                                     const runtime::BindSettings &settings) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bindings.empty() || isFor(*bindings.front(), inputs, call, settings))
    return bindings.empty() ? nullptr : bindings.front();
  auto found = index.find(hashOfBinding(inputs, bindsAttrs ? call : op, settings));
  if (found == index.end() || !isFor(**found->second, inputs, call, settings))
    return nullptr;
  bindings.splice(bindings.begin(), bindings, found->second);
  return bindings.front();
}

CompiledOp::~CompiledOp() {
  while (!bindings.empty())
    dropOldest();
}

void CompiledOp::dropOldest() {
  BindingBytes::held.fetch_sub(bindings.back()->bytes, std::memory_order_relaxed);
  auto entry = index.find(bindings.back()->hash);
  if (entry != index.end() && entry->second == std::prev(bindings.end()))
    index.erase(entry);
  bindings.pop_back();
}

void CompiledOp::addBound(BoundShapesRef bound) {
  constexpr uint64_t kNodeBytes = 96; // of the list and of the index
  bound->bytes = kNodeBytes + sizeof(BoundShapes) + bound->inputs.capacity() * sizeof(TensorMeta) +
                 bound->op.heldBytes() + bound->bound->heldBytes();
  const size_t most = bindsAttrs ? kMostAttrs : kMostShapes;
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t all = BindingBytes::held.fetch_add(bound->bytes, std::memory_order_relaxed) + bound->bytes;
  bound->hash = hashOfBinding(bound->inputs, bindsAttrs ? bound->op : op, bound->settings);
  bindings.push_front(std::move(bound));
  index[bindings.front()->hash] = bindings.begin();
  while (bindings.size() > 1 && (bindings.size() > most || all > BindingBytes::limit)) {
    dropOldest();
    all = BindingBytes::held.load(std::memory_order_relaxed);
  }
}

} // namespace tess::eager
