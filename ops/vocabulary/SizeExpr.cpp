//===- SizeExpr.cpp - sizes that are expressions ---------------------------===//
#include "ops/vocabulary/SizeExpr.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::sizes {

namespace {

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

/// The least value of a sum whose terms have each their least.
std::optional<int64_t> leastByTerms(int64_t size) {
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : polynomialOf(size)) {
    std::optional<int64_t> least = leastOf(monomial, coefficient);
    if (!least || __builtin_add_overflow(sum, *least, &sum))
      return std::nullopt;
  }
  return sum;
}

/// Functions that the search for a bound replaces within each other.
constexpr unsigned kMostReplaced = 3;
bool isBounded(int64_t size, int64_t least, unsigned replaced);

/// Whether `rest - factor * atom` is at least `least`, by what the atom is at most: floordiv(a, n) is at most a / n.
bool isBoundedWithout(int64_t rest, int64_t factor, const Atom &atom, int64_t least, unsigned replaced) {
  auto isBoundedBy = [&](int64_t most) { return isBounded(subtract(rest, multiply(factor, most)), least, replaced); };
  if (atom.kind == AtomKind::Min)
    return isBoundedBy(atom.a) || isBoundedBy(atom.b);
  if (atom.kind == AtomKind::Max)
    return isBoundedBy(atom.a) && isBoundedBy(atom.b);
  if (atom.kind == AtomKind::Symbol || isSymbolic(atom.b) || atom.b < 1)
    return false;
  int64_t most = subtract(multiply(rest, atom.b), multiply(factor, atom.a));
  int64_t beyond =
      multiply(add(least, -1), atom.b); // what is more than that is at least atom.b * least in whole numbers
  return beyond != kUnknown && isBounded(most, add(beyond, 1), replaced);
}

bool isBounded(int64_t size, int64_t least, unsigned replaced) {
  if (size == kUnknown)
    return false;
  if (std::optional<int64_t> known = leastByTerms(size); known && *known >= least)
    return true;
  if (replaced == kMostReplaced)
    return false;
  for (const auto &[monomial, coefficient] : polynomialOf(size))
    if (coefficient < 0 && coefficient != INT64_MIN && monomial.size() == 1 && monomial[0].second == 1) {
      int64_t rest = subtract(size, Table::get().sizeOf({{monomial, coefficient}}));
      if (isBoundedWithout(rest, -coefficient, Table::get().atom(monomial[0].first), least, replaced + 1))
        return true;
    }
  return false;
}

std::optional<int64_t> leastOf(int64_t size) {
  if (std::optional<int64_t> least = leastByTerms(size))
    return least;
  for (int64_t least : {1, 0})
    if (isBounded(size, least, 0))
      return least;
  return std::nullopt;
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

/// The innermost one of this thread.
static thread_local constinit AgreedSizes *listener = nullptr;

AgreedSizes::AgreedSizes() : outer(listener) { listener = this; }
AgreedSizes::~AgreedSizes() { listener = outer; }

int64_t agreed(int64_t a, int64_t b) {
  if (listener && a != b)
    listener->found.emplace_back(a, b);
  return isSymbolic(a) ? b : a;
}

bool isAtLeast(int64_t size, int64_t least) {
  if (!isSymbolic(size))
    return size != kUnknown && size >= least;
  return isBounded(size, least, 0);
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

/// The operands of a floordiv by a number that is the only one within `sum`, with factor 1, and what is beside it.
static std::optional<std::pair<Atom, int64_t>> innerQuotient(int64_t sum) {
  std::optional<std::pair<Atom, int64_t>> inner;
  for (const auto &[monomial, coefficient] : polynomialOf(sum)) {
    if (coefficient != 1 || monomial.size() != 1 || monomial[0].second != 1)
      continue;
    const Atom &atom = Table::get().atom(monomial[0].first);
    if (atom.kind != AtomKind::FloorDiv || isSymbolic(atom.b) || atom.b < 1)
      continue;
    if (inner)
      return std::nullopt; // no order of the two is the canonical one
    inner = {atom, subtract(sum, Table::get().sizeOf({{monomial, 1}}))};
  }
  return inner;
}

// Terms that a number divides leave the quotient: floordiv(4*n + m, 4) is n + floordiv(m, 4). A quotient within one
// joins it: floordiv(n + floordiv(m, 2), 3) is floordiv(2*n + m, 6).
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
  int64_t left = Table::get().sizeOf(rest), quotient = kUnknown;
  if (auto inner = isSymbolic(left) ? innerQuotient(left) : std::nullopt)
    quotient = floorDivide(add(multiply(inner->second, inner->first.b), inner->first.a), multiply(b, inner->first.b));
  if (quotient == kUnknown)
    quotient = isSymbolic(left) ? sizeOfAtom({AtomKind::FloorDiv, left, b}) : floorDivide(left, b);
  return add(Table::get().sizeOf(whole), quotient);
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
  static constexpr unsigned kDeepest = kMostParts;

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
