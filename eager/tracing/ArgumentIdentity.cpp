//===- ArgumentIdentity.cpp - which tensors a recording serves -----------===//
#include "eager/tracing/ArgumentIdentity.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// Number of arguments up to which a search is faster than a table.
static constexpr unsigned kFew = 16;

llvm::SmallVector<unsigned, 4> aliasesOf(llvm::ArrayRef<TensorRef> arguments) {
  llvm::SmallVector<unsigned, 4> aliases;
  if (arguments.size() <= kFew) {
    for (const TensorRef &argument : arguments)
      aliases.push_back(llvm::find(arguments, argument) - arguments.begin());
    return aliases;
  }
  llvm::SmallDenseMap<const TensorImpl *, unsigned, 4 * kFew> first;
  for (const TensorRef &argument : arguments)
    aliases.push_back(first.try_emplace(argument.get(), aliases.size()).first->second);
  return aliases;
}

ArgumentIdentity::ArgumentIdentity(llvm::ArrayRef<TensorRef> arguments) : firstPositions(aliasesOf(arguments)) {
  for (const TensorRef &argument : arguments)
    recorded.push_back({WeakTensor(*argument)});
}

ArgumentIdentity::Match ArgumentIdentity::match(llvm::ArrayRef<TensorRef> arguments) const {
  Match match = Match::Certain;
  for (auto [own, given] : llvm::zip_equal(recorded, arguments)) {
    if (own.isAny || own.variable.is(*given))
      continue;
    if (own.isBound)
      return Match::None;
    match = Match::Open;
  }
  return match;
}

void ArgumentIdentity::learn(llvm::ArrayRef<TensorRef> arguments) {
  for (auto [own, given] : llvm::zip_equal(recorded, arguments))
    own.isAny |= !own.variable.is(*given);
}

bool ArgumentIdentity::bindOutside(llvm::ArrayRef<TensorRef> arguments, const Recording &again) {
  bool found = false;
  for (auto [own, given] : llvm::zip_equal(recorded, arguments)) {
    TensorRef before = own.isAny ? nullptr : own.variable.lock();
    if (!before || before == given)
      continue;
    bool isOutside = again.captures(before.get()) || llvm::is_contained(arguments, before);
    own.isBound |= isOutside;
    found |= isOutside;
  }
  return found;
}

} // namespace tess::eager
