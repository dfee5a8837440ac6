//===- CustomGradient.cpp - the gradient of a library's operator ----------===//
//
// One operator gives the gradients of all inputs. Its operands are what the library
// says that it reads, so that all else is free when it runs; of an input that it
// does not read it has the shape as an attribute.
//
//===----------------------------------------------------------------------===//
#include "ops/custom/CustomCalls.h"
#include "ops/custom/CustomRow.h"
#include "ops/graphs/GraphPieces.h"

namespace tess::custom {

namespace {

/// Attributes of the backward row that stand behind those of the forward one.
struct BackwardAttrs {
  IntList needed; // of each input 1 where its gradient is wanted
  IntList given;  // dtype and rank of each input that is needed and not read
  IntList sizes;  // their sizes

  explicit BackwardAttrs(const OpDef &op) : needed(op.ints(kNeeded)), given(op.ints(kGiven)), sizes(op.ints(kSizes)) {}
  BackwardAttrs() = default;
};

/// Where each of the inputs that are read stands among the operands of the backward; -1: nowhere.
int placeOf(const Operator &custom, unsigned input) {
  const auto *found = llvm::find(custom.reads().inputs, input);
  return found == custom.reads().inputs.end()
             ? -1
             : int(custom.reads().gradients.size() + (found - custom.reads().inputs.begin()));
}

} // namespace

llvm::ArrayRef<int64_t> neededGradients(const OpDef &backward) { return backward.ints(kNeeded); }

llvm::Expected<Metas> inferBackward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  const Operator &custom = *Operator::of(op.info());
  const BackwardAttrs attrs(op);
  const Operator::Reads &reads = custom.reads();
  auto malformed = [&] {
    return makeError(ErrorCode::DataLoss, op.name() + ": attributes must say what is read, got " + op.toString());
  };
  if (operands.size() != reads.gradients.size() + reads.inputs.size() + reads.outputs.size())
    return malformed();
  Metas results;
  size_t given = 0, size = 0;
  for (auto [input, needed] : llvm::enumerate(attrs.needed)) {
    if (!needed)
      continue;
    if (int place = placeOf(custom, unsigned(input)); place >= 0) {
      results.push_back(operands[size_t(place)]);
      continue;
    }
    if (given + 2 > attrs.given.size() || attrs.given[given] < 0 || attrs.given[given] >= int64_t(kNumDTypes) ||
        attrs.given[given + 1] < 0 || size + size_t(attrs.given[given + 1]) > attrs.sizes.size())
      return malformed();
    const auto rank = size_t(attrs.given[given + 1]);
    results.emplace_back(DType(attrs.given[given]), llvm::ArrayRef(attrs.sizes).slice(size, rank));
    given += 2;
    size += rank;
  }
  return results.empty() ? llvm::Expected<Metas>(malformed()) : std::move(results);
}

llvm::SmallVector<int, 4> gradient(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> values,
                                   llvm::ArrayRef<bool> needed) {
  const Operator &custom = *Operator::of(op.info());
  const unsigned numResults = unsigned(op.info().results.size()),
                 numOperands = unsigned(values.size()) - 2 * numResults;
  const unsigned numInputs = numOperands - custom.numTrailing();
  llvm::SmallVector<int, 4> operands, gradients(numOperands, -1);
  for (unsigned output : custom.reads().gradients)
    operands.push_back(pieces::gradientOf(b, values, numOperands, custom.resultOf(output)));
  for (unsigned input : custom.reads().inputs)
    operands.push_back(values[input]);
  for (unsigned output : custom.reads().outputs)
    operands.push_back(values[numOperands + custom.resultOf(output)]);
  BackwardAttrs attrs;
  llvm::SmallVector<unsigned, 4> wanted;
  for (unsigned input = 0; input < numInputs; ++input) {
    const TensorMeta &meta = b.meta(values[input]);
    const bool isWanted = needed[input] && isDifferentiable(meta.dtype);
    attrs.needed.push_back(isWanted);
    if (!isWanted)
      continue;
    wanted.push_back(input);
    if (placeOf(custom, input) >= 0)
      continue;
    attrs.given.push_back(int64_t(kindOf(meta.dtype)));
    attrs.given.push_back(meta.rank());
    llvm::append_range(attrs.sizes, meta.shape);
  }
  if (wanted.empty())
    return gradients;
  OpDef backward(*custom.backward());
  for (auto [attr, value] : llvm::enumerate(op.info().attrs))
    backward.set(value.name, op.attr(unsigned(attr)));
  backward.set(kNeeded, attrs.needed).set(kGiven, attrs.given).set(kSizes, attrs.sizes);
  for (auto [input, value] : llvm::zip(wanted, b.applyAll(backward, operands, unsigned(operands.size()))))
    gradients[input] = value;
  return gradients;
}

} // namespace tess::custom
