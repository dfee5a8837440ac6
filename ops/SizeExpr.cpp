//===- SizeExpr.cpp - sizes that are expressions ---------------------------===//
#include "ops/SizeExpr.h"
#include "ops/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>
#include <map>
#include <mutex>

namespace tess::sizes {

namespace {

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
int64_t numberOrUnknown(int64_t number) { return number < kSymbolicEnd ? kUnknown : number; }

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
      atoms.push_back({atom, least});
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
    auto [it, isNew] = handles.try_emplace(polynomial, kUnknown + 1 + int64_t(polynomials.size()));
    if (isNew)
      polynomials.push_back(&it->first);
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
    return index < polynomials.size() ? *polynomials[index] : nothing;
  }

private:
  struct KnownAtom {
    Atom atom;
    std::optional<int64_t> least;
  };
  std::mutex mutex;
  std::deque<KnownAtom> atoms;
  std::map<Atom, uint32_t> atomNumbers;
  std::map<Polynomial, int64_t> handles;
  std::deque<const Polynomial *> polynomials;
};

Polynomial polynomialOf(int64_t size) {
  if (isSymbolic(size))
    return Table::get().polynomial(size);
  return size ? Polynomial{{{}, size}} : Polynomial();
}

int64_t floorOf(int64_t a, int64_t b) {
  int64_t result = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? result - 1 : result;
}

/// The least value of a term where symbols are their least; none where it is unknown.
std::optional<int64_t> leastOf(const Monomial &monomial, int64_t coefficient) {
  if (coefficient < 0 && !monomial.empty())
    return std::nullopt;
  for (auto [atom, power] : monomial) {
    std::optional<int64_t> least = Table::get().leastOf(atom);
    if (!least || *least < 0)
      return std::nullopt;
    for (uint32_t i = 0; i < power; ++i)
      if (__builtin_mul_overflow(coefficient, *least, &coefficient))
        return std::nullopt;
  }
  return coefficient;
}

std::optional<int64_t> leastOf(int64_t size) {
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : polynomialOf(size)) {
    std::optional<int64_t> least = leastOf(monomial, coefficient);
    if (!least || __builtin_add_overflow(sum, *least, &sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> leastOf(const Atom &atom) {
  if (atom.kind == AtomKind::Symbol)
    return atom.a < kDataSymbols;
  std::optional<int64_t> a = leastOf(atom.a), b = leastOf(atom.b);
  if (atom.kind == AtomKind::FloorDiv)
    return a && !isSymbolic(atom.b) && atom.b > 0 ? std::optional(floorOf(*a, atom.b)) : std::nullopt;
  if (a && b)
    return atom.kind == AtomKind::Max ? std::max(*a, *b) : std::min(*a, *b);
  return atom.kind == AtomKind::Min ? std::nullopt : a ? a : b;
}

int64_t sizeOfAtom(const Atom &atom) {
  return Table::get().sizeOf({{{{Table::get().numberOf(atom, leastOf(atom)), 1}}, 1}});
}

/// Adds `factor * term` to `sum`; false where a coefficient does not fit.
bool addTerm(Polynomial &sum, const Monomial &monomial, int64_t coefficient) {
  int64_t &total = sum[monomial];
  if (__builtin_add_overflow(total, coefficient, &total))
    return false;
  if (total == 0)
    sum.erase(monomial);
  return true;
}

Monomial product(const Monomial &a, const Monomial &b) {
  std::map<uint32_t, uint32_t> powers(a.begin(), a.end());
  for (auto [atom, power] : b)
    powers[atom] += power;
  return Monomial(powers.begin(), powers.end());
}

/// `whole / part` as a monomial, where it is one.
std::optional<Monomial> quotient(const Monomial &whole, const Monomial &part) {
  std::map<uint32_t, uint32_t> powers(whole.begin(), whole.end());
  for (auto [atom, power] : part) {
    auto it = powers.find(atom);
    if (it == powers.end() || it->second < power)
      return std::nullopt;
    it->second -= power;
    if (it->second == 0)
      powers.erase(it);
  }
  return Monomial(powers.begin(), powers.end());
}

/// `a / b` for a `b` of one term that divides every term of `a`.
std::optional<int64_t> exactQuotient(const Polynomial &a, const Polynomial &b) {
  if (b.size() != 1)
    return std::nullopt;
  const auto &[part, divisor] = *b.begin();
  Polynomial result;
  for (const auto &[monomial, coefficient] : a) {
    std::optional<Monomial> rest = quotient(monomial, part);
    if (!rest || coefficient % divisor != 0)
      return std::nullopt;
    result[*rest] = coefficient / divisor;
  }
  return Table::get().sizeOf(result);
}

/// The terms of `a` whose coefficients the number `divisor` divides, and the others, whose constant is in [0, divisor).
std::pair<Polynomial, Polynomial> splitBy(const Polynomial &a, int64_t divisor) {
  Polynomial whole, rest;
  for (const auto &[monomial, coefficient] : a) {
    int64_t part = monomial.empty() || coefficient % divisor == 0 ? floorOf(coefficient, divisor) : 0;
    if (part)
      whole[monomial] = part;
    if (int64_t left = coefficient - part * divisor)
      rest[monomial] = left;
  }
  return {whole, rest};
}

bool isAnyUnknown(int64_t a, int64_t b) { return a == kUnknown || b == kUnknown; }

/// max or min of two sizes.
int64_t extreme(AtomKind kind, int64_t a, int64_t b) {
  if (isAnyUnknown(a, b))
    return kUnknown;
  if (isAtLeast(subtract(a, b), 0))
    return kind == AtomKind::Max ? a : b;
  if (isAtLeast(subtract(b, a), 0))
    return kind == AtomKind::Max ? b : a;
  return sizeOfAtom({kind, std::max(a, b), std::min(a, b)});
}

} // namespace

bool isKnown(int64_t handle) { return Table::get().knows(handle); }

bool isAtLeast(int64_t size, int64_t least) {
  if (!isSymbolic(size))
    return size != kUnknown && size >= least;
  std::optional<int64_t> known = leastOf(size);
  return known && *known >= least;
}

int64_t symbol(uint32_t number) { return sizeOfAtom({AtomKind::Symbol, number, 0}); }

int64_t add(int64_t a, int64_t b) {
  if (isAnyUnknown(a, b))
    return kUnknown;
  if (!isSymbolic({a, b}))
    return __builtin_add_overflow(a, b, &a) ? kUnknown : numberOrUnknown(a);
  if (a == 0 || b == 0)
    return a == 0 ? b : a;
  Polynomial sum = polynomialOf(a);
  for (const auto &[monomial, coefficient] : polynomialOf(b))
    if (!addTerm(sum, monomial, coefficient))
      return kUnknown;
  return Table::get().sizeOf(sum);
}

int64_t subtract(int64_t a, int64_t b) { return add(a, multiply(b, -1)); }

int64_t multiply(int64_t a, int64_t b) {
  if (isAnyUnknown(a, b))
    return kUnknown;
  if (!isSymbolic({a, b}))
    return __builtin_mul_overflow(a, b, &a) ? kUnknown : numberOrUnknown(a);
  if (a == 1 || b == 1)
    return a == 1 ? b : a;
  Polynomial result, other = polynomialOf(b);
  for (const auto &[monomial, coefficient] : polynomialOf(a))
    for (const auto &[factor, number] : other) {
      int64_t both;
      if (__builtin_mul_overflow(coefficient, number, &both) || !addTerm(result, product(monomial, factor), both))
        return kUnknown;
    }
  return Table::get().sizeOf(result);
}

// Terms that a number divides leave the quotient: floordiv(4*n + m, 4) is n + floordiv(m, 4).
int64_t floorDivide(int64_t a, int64_t b) {
  if (isAnyUnknown(a, b) || b == 0)
    return kUnknown;
  if (b == -1)
    return multiply(a, -1);
  if (!isSymbolic({a, b}))
    return floorOf(a, b);
  Polynomial dividend = polynomialOf(a);
  if (std::optional<int64_t> exact = exactQuotient(dividend, polynomialOf(b)))
    return *exact;
  if (isSymbolic(b) || b < 0)
    return sizeOfAtom({AtomKind::FloorDiv, a, b});
  auto [whole, rest] = splitBy(dividend, b);
  int64_t left = Table::get().sizeOf(rest);
  return add(Table::get().sizeOf(whole),
             isSymbolic(left) ? sizeOfAtom({AtomKind::FloorDiv, left, b}) : floorDivide(left, b));
}

int64_t modulo(int64_t a, int64_t b) { return subtract(a, multiply(b, floorDivide(a, b))); }

int64_t maximum(int64_t a, int64_t b) { return extreme(AtomKind::Max, a, b); }
int64_t minimum(int64_t a, int64_t b) { return extreme(AtomKind::Min, a, b); }

static int64_t substituteAtom(const Atom &atom, SymbolValue valueOf) {
  if (atom.kind == AtomKind::Symbol)
    return valueOf(uint32_t(atom.a));
  int64_t a = substitute(atom.a, valueOf), b = substitute(atom.b, valueOf);
  if (atom.kind == AtomKind::FloorDiv)
    return floorDivide(a, b);
  return atom.kind == AtomKind::Max ? maximum(a, b) : minimum(a, b);
}

int64_t substitute(int64_t size, SymbolValue valueOf) {
  if (!isSymbolic(size))
    return size;
  if (!isKnown(size))
    return kUnknown;
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : Table::get().polynomial(size)) {
    int64_t term = coefficient;
    for (auto [atom, power] : monomial) {
      int64_t value = substituteAtom(Table::get().atom(atom), valueOf);
      for (uint32_t i = 0; i < power; ++i)
        term = multiply(term, value);
    }
    sum = add(sum, term);
  }
  return sum;
}

void forEachSymbol(int64_t size, llvm::function_ref<void(uint32_t)> visit) {
  if (!isSymbolic(size))
    return;
  for (const auto &[monomial, coefficient] : Table::get().polynomial(size))
    for (auto [number, power] : monomial) {
      const Atom &atom = Table::get().atom(number);
      if (atom.kind == AtomKind::Symbol) {
        visit(uint32_t(atom.a));
      } else {
        forEachSymbol(atom.a, visit);
        forEachSymbol(atom.b, visit);
      }
    }
}

bool dependsOnData(int64_t size) {
  bool depends = false;
  forEachSymbol(size, [&](uint32_t number) { depends |= number >= kDataSymbols; });
  return depends;
}

void forgetExpressions(llvm::MutableArrayRef<TensorMeta> metas) {
  for (TensorMeta &meta : metas)
    for (int64_t &size : meta.shape)
      size = isSymbolic(size) ? kUnknown : size;
}

static std::string atomText(const Atom &atom, SymbolName nameOf) {
  if (atom.kind == AtomKind::Symbol)
    return nameOf(uint32_t(atom.a));
  std::string a = toText(atom.a, nameOf), b = toText(atom.b, nameOf);
  if (atom.kind == AtomKind::FloorDiv)
    return "floordiv(" + a + ", " + b + ")";
  return (atom.kind == AtomKind::Max ? "max(" : "min(") + std::min(a, b) + ", " + std::max(a, b) + ")";
}

static std::string productText(const Monomial &monomial, SymbolName nameOf) {
  std::vector<std::string> factors;
  for (auto [atom, power] : monomial)
    factors.insert(factors.end(), power, atomText(Table::get().atom(atom), nameOf));
  llvm::sort(factors);
  return llvm::join(factors, "*");
}

// Terms are sorted by their text, so that the order of their making does not show.
std::string toText(int64_t size, SymbolName nameOf) {
  if (!isSymbolic(size) || !isKnown(size))
    return size == kUnknown ? "?" : std::to_string(size);
  std::map<std::string, int64_t> terms;
  int64_t constant = 0;
  for (const auto &[monomial, coefficient] : Table::get().polynomial(size))
    (monomial.empty() ? constant : terms[productText(monomial, nameOf)]) = coefficient;
  std::string text;
  auto append = [&](uint64_t magnitude, bool isNegative, const std::string &factors) {
    text += isNegative ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    if (magnitude != 1 || factors.empty())
      text += std::to_string(magnitude) + (factors.empty() ? "" : "*");
    text += factors;
  };
  for (const auto &[factors, coefficient] : terms)
    append(coefficient < 0 ? -uint64_t(coefficient) : uint64_t(coefficient), coefficient < 0, factors);
  if (constant)
    append(constant < 0 ? -uint64_t(constant) : uint64_t(constant), constant < 0, "");
  return text;
}

std::string toText(int64_t size) {
  return toText(size, [](uint32_t number) { return "s" + std::to_string(number); });
}

namespace {

/// Reads sums of products of numbers, symbols and functions.
class Parser {
public:
  explicit Parser(llvm::StringRef text) : whole(text), rest(text) {}

  llvm::Expected<int64_t> run() {
    int64_t size = sum();
    if (isWrong || size == kUnknown || !rest.trim().empty())
      return invalidArgument("size: text must be sums and products of numbers, symbols s<number>, floordiv, max and "
                             "min, got '" +
                             whole + "'");
    return size;
  }

private:
  static constexpr unsigned kDeepest = 64;

  bool take(llvm::StringRef word) {
    rest = rest.ltrim();
    return rest.consume_front(word);
  }

  int64_t sum() {
    int64_t total = take("-") ? multiply(term(), -1) : term();
    while (!isWrong) {
      if (take("+"))
        total = add(total, term());
      else if (take("-"))
        total = subtract(total, term());
      else
        break;
    }
    return total;
  }

  int64_t term() {
    int64_t total = factor();
    while (!isWrong && take("*"))
      total = multiply(total, factor());
    isWrong |= total == kUnknown;
    return total;
  }

  int64_t factor() {
    if (take("s")) {
      uint32_t number = 0;
      isWrong |= rest.consumeInteger(10, number);
      return symbol(number);
    }
    for (auto [name, function] : {std::pair("floordiv(", &floorDivide), {"max(", &maximum}, {"min(", &minimum}})
      if (take(name))
        return applied(function);
    rest = rest.ltrim();
    uint64_t number = 0;
    isWrong |= rest.consumeInteger(10, number) || number > uint64_t(INT64_MAX);
    return int64_t(number);
  }

  int64_t applied(int64_t (*function)(int64_t, int64_t)) {
    if (++depth > kDeepest) {
      isWrong = true;
      return 0;
    }
    int64_t a = sum();
    isWrong |= !take(",");
    int64_t b = isWrong ? 0 : sum();
    isWrong |= !take(")");
    --depth;
    return isWrong ? 0 : function(a, b);
  }

  llvm::StringRef whole, rest;
  bool isWrong = false;
  unsigned depth = 0;
};

} // namespace

llvm::Expected<int64_t> parse(llvm::StringRef text) {
  int64_t number;
  if (!text.trim().getAsInteger(10, number) && !isSymbolic(number) && number != kUnknown)
    return number;
  return Parser(text).run();
}

} // namespace tess::sizes
