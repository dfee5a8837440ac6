//===- SizeTable.h - every expression of a size, once -----------*- C++ -*-===//
//
// What SizeExpr.cpp computes with: polynomials over atoms, and the table that
// gives each its number.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/SizeHandles.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tess::sizes {

enum class AtomKind : uint8_t { Symbol, FloorDiv, Max, Min };

/// A variable of a polynomial: a symbol, or a function of two sizes.
struct Atom {
  AtomKind kind;
  int64_t a, b; // of a Symbol: its number, and 0
  auto operator<=>(const Atom &) const = default;
};

/// A product of powers of atoms, by the atoms' numbers, ascending.
using Monomial = std::vector<std::pair<uint32_t, uint32_t>>;

/// Monomials with coefficients other than 0; the empty monomial is the constant.
using Polynomial = std::map<Monomial, int64_t>;

/// A number that would be taken for an expression is unknown.
inline int64_t numberOrUnknown(int64_t number) { return number < kSymbolicEnd ? kUnknown : number; }

/// Every atom and polynomial that was made, each once; they live as long as the process.
class Table {
public:
  static Table &get() {
    static Table *table = new Table;
    return *table;
  }

  /// `least`: the least value of the atom, where it is known.
  uint32_t numberOf(const Atom &atom, std::optional<int64_t> least) {
    std::scoped_lock lock(mutex);
    auto [it, isNew] = atomNumbers.try_emplace(atom, atoms.size());
    if (isNew)
      atoms.push_back({atom, least, atom.kind == AtomKind::Symbol ? 1 : 1 + partsOf(atom.a) + partsOf(atom.b)});
    return it->second;
  }

  /// The number of a polynomial that is one, else its handle.
  int64_t sizeOf(const Polynomial &polynomial) {
    if (polynomial.empty())
      return 0;
    if (polynomial.size() == 1 && polynomial.begin()->first.empty())
      return numberOrUnknown(polynomial.begin()->second);
    if (polynomial.size() > kMostTerms)
      return kUnknown;
    std::scoped_lock lock(mutex);
    unsigned parts = partsOf(polynomial);
    if (parts > kMostParts)
      return kUnknown;
    auto [it, isNew] = handles.try_emplace(polynomial, kUnknown + 1 + int64_t(polynomials.size()));
    if (isNew)
      polynomials.push_back({&it->first, parts});
    return it->second;
  }

  /// Entries never move.
  const Atom &atom(uint32_t number) {
    std::scoped_lock lock(mutex);
    return atoms[number].atom;
  }
  std::optional<int64_t> leastOf(uint32_t atom) {
    std::scoped_lock lock(mutex);
    return atoms[atom].least;
  }
  bool knows(int64_t handle) {
    std::scoped_lock lock(mutex);
    return size_t(handle - kUnknown - 1) < polynomials.size();
  }
  /// Empty for a handle that no expression of this process has.
  const Polynomial &polynomial(int64_t handle) {
    static const Polynomial nothing;
    std::scoped_lock lock(mutex);
    size_t index = size_t(handle - kUnknown - 1);
    return index < polynomials.size() ? *polynomials[index].polynomial : nothing;
  }

private:
  struct KnownAtom {
    Atom atom;
    std::optional<int64_t> least;
    unsigned parts;
  };
  struct KnownPolynomial {
    const Polynomial *polynomial;
    unsigned parts;
  };

  // Terms and atoms as a text repeats them, at most one more than kMostParts for each term; with the mutex locked.
  unsigned partsOf(int64_t size) const {
    size_t index = size_t(size - kUnknown - 1);
    return isSymbolic(size) && index < polynomials.size() ? polynomials[index].parts : 1;
  }
  unsigned partsOf(const Polynomial &polynomial) const {
    unsigned parts = 0;
    for (const auto &[monomial, coefficient] : polynomial) {
      ++parts;
      for (auto [atom, power] : monomial)
        parts += atoms[atom].parts * std::min(power, kMostParts);
    }
    return parts;
  }

  std::mutex mutex;
  std::deque<KnownAtom> atoms;
  std::map<Atom, uint32_t> atomNumbers;
  std::map<Polynomial, int64_t> handles;
  std::deque<KnownPolynomial> polynomials;
};

} // namespace tess::sizes
