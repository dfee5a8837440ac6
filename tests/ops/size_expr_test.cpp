// Sizes as expressions: against numbers, over random chains of operations; one form for equal polynomials; text that
// reads back.
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tess;
using namespace tess::sizes;

namespace {

constexpr uint32_t kSymbols = 4;

int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// An expression and what it is for one choice of symbols.
struct Pair {
  int64_t size, number;
};

/// One random step from two pairs; nothing where its number would leave 40 bits.
std::optional<Pair> step(std::mt19937 &random, Pair a, Pair b) {
  auto kept = [](int64_t size, __int128 number) -> std::optional<Pair> {
    if (number > (int64_t(1) << 40) || number < -(int64_t(1) << 40))
      return std::nullopt;
    return Pair{size, int64_t(number)};
  };
  switch (random() % 7) {
  case 0:
    return kept(add(a.size, b.size), __int128(a.number) + b.number);
  case 1:
    return kept(subtract(a.size, b.size), __int128(a.number) - b.number);
  case 2:
    return kept(multiply(a.size, b.size), __int128(a.number) * b.number);
  case 3:
    if (b.number == 0)
      return std::nullopt;
    return kept(floorDivide(a.size, b.size), floorOf(a.number, b.number));
  case 4:
    if (b.number == 0)
      return std::nullopt;
    return kept(modulo(a.size, b.size), a.number - b.number * floorOf(a.number, b.number));
  case 5:
    return kept(maximum(a.size, b.size), std::max(a.number, b.number));
  default:
    return kept(minimum(a.size, b.size), std::min(a.number, b.number));
  }
}

} // namespace

TEST_CASE("an expression is the number that its symbols make it") {
  unsigned known = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    int64_t values[kSymbols];
    std::vector<Pair> pairs;
    for (uint32_t i = 0; i < kSymbols; ++i) {
      values[i] = 2 + random() % 30;
      pairs.push_back({symbol(i), values[i]});
      int64_t number = int64_t(random() % 13) - 6;
      pairs.push_back({number, number});
    }
    for (unsigned i = 0; i < 12; ++i)
      if (auto made = step(random, pairs[random() % pairs.size()], pairs[random() % pairs.size()]);
          made && made->size != kUnknown)
        pairs.push_back(*made);
    for (const Pair &pair : pairs) {
      int64_t value = substitute(pair.size, [&](uint32_t number) { return values[number]; });
      if (value == kUnknown) // a divisor is 0 on a way that max or min does not take, or a term does not fit
        continue;
      ++known;
      INFO("seed " << seed << " " << toText(pair.size));
      REQUIRE(value == pair.number);
      llvm::Expected<int64_t> read = parse(toText(pair.size));
      REQUIRE(bool(read));
      REQUIRE(*read == pair.size);
    }
  }
  CHECK(known > 200000);
}

TEST_CASE("equal polynomials are one") {
  int64_t n = symbol(0), m = symbol(1);
  CHECK(add(n, m) == add(m, n));
  CHECK(multiply(add(n, 1), add(n, -1)) == subtract(multiply(n, n), 1));
  CHECK(subtract(add(n, m), m) == n);
  CHECK(floorDivide(multiply(n, m), m) == n);
  CHECK(floorDivide(add(multiply(n, 4), 6), 4) == add(n, 1));
  CHECK(floorDivide(add(multiply(n, 4), m), 4) == add(n, floorDivide(m, 4)));
  CHECK(modulo(multiply(n, 6), 3) == 0);
  CHECK(maximum(add(n, 3), n) == add(n, 3));
  CHECK(minimum(n, m) == minimum(m, n));
  CHECK(subtract(n, n) == 0);
  CHECK(!isSymbolic(subtract(add(n, 5), n)));
}

TEST_CASE("sizes are at least 1") {
  int64_t n = symbol(0), m = symbol(1);
  CHECK(maximum(add(n, -1), 0) == add(n, -1));
  CHECK(minimum(multiply(n, m), 1) == 1);
  CHECK(maximum(floorDivide(add(n, m), 2), 1) == floorDivide(add(n, m), 2));
  CHECK(isSymbolic(minimum(n, 2)));
  CHECK(isSymbolic(maximum(subtract(n, m), 0)));
  CHECK(isAtLeast(maximum(subtract(n, m), 0), 0));
  CHECK(isAtLeast(minimum(n, add(m, 3)), 1));
  CHECK(!isAtLeast(minimum(n, add(m, -3)), 1));
  CHECK(!isAtLeast(add(n, -2), 0));
  CHECK(isAtLeast(7, 7));
  CHECK(!isAtLeast(kUnknown, 0));
}

TEST_CASE("a quotient is at most its dividend over the divisor") {
  int64_t n = symbol(0), m = symbol(1), half = floorDivide(n, 2);
  CHECK(isAtLeast(subtract(n, half), 1));
  CHECK(!isAtLeast(subtract(half, n), 0));
  CHECK(!isAtLeast(subtract(n, multiply(half, 2)), 1));
  CHECK(isAtLeast(subtract(n, multiply(half, 2)), 0));
  CHECK(isAtLeast(subtract(n, minimum(n, m)), 0));
  CHECK(isAtLeast(subtract(add(n, m), maximum(n, m)), 1));
  CHECK(minimum(half, n) == half);
  CHECK(maximum(0, subtract(n, half)) == subtract(n, half));
  CHECK(isAtLeast(floorDivide(subtract(n, half), 2), 0));
}

TEST_CASE("a quotient of a quotient is one") {
  int64_t n = symbol(0), m = symbol(1);
  CHECK(floorDivide(floorDivide(n, 2), 3) == floorDivide(n, 6));
  CHECK(floorDivide(add(floorDivide(n, 2), m), 3) == floorDivide(add(n, multiply(m, 2)), 6));
  CHECK(toText(floorDivide(floorDivide(n, m), 3)) == "floordiv(floordiv(s0, s1), 3)");
}

// What two halves have together is the whole again, and what is left of an odd number goes with it.
TEST_CASE("halving keeps an expression small") {
  int64_t n = symbol(0), halved = n, joined = n, odd = n;
  for (unsigned i = 0; i < 30; ++i) {
    halved = floorDivide(halved, 2);
    int64_t half = minimum(floorDivide(joined, 2), joined);
    joined = add(half, maximum(0, subtract(joined, half)));
    odd = subtract(odd, floorDivide(odd, 2));
  }
  CHECK(halved == floorDivide(n, int64_t(1) << 30));
  CHECK(joined == n);
  CHECK((odd == kUnknown || toText(odd).size() < 100 * kMostParts));
}

TEST_CASE("the text of sizes") {
  int64_t n = symbol(0), m = symbol(12);
  CHECK(toText(7) == "7");
  CHECK(toText(kUnknown) == "?");
  CHECK(toText(subtract(multiply(add(n, 1), m), 2)) == "s0*s12 + s12 - 2");
  CHECK(toText(multiply(n, -1)) == "-s0");
  CHECK(toText(floorDivide(subtract(n, 3), 2)) == "floordiv(s0 + 1, 2) - 2");
  CHECK(toText(maximum(m, 4)) == "max(4, s12)");
  CHECK(toText(multiply(n, m), [](uint32_t number) { return number ? "w" : "h"; }) == "h*w");
}

TEST_CASE("a text that is no size is refused") {
  for (const char *text :
       {"", "s", "n", "s0 +", "s0 s1", "floordiv(s0)", "floordiv(s0, 0)", "max(s0, 1", "s99999999999",
        "99999999999999999999", "-9223372036854775808", "-9223372036854775000", "1 2", "s0**2"}) {
    llvm::Expected<int64_t> size = parse(text);
    INFO(text);
    REQUIRE(!size);
    auto [code, message] = takeError(size.takeError());
    CHECK(code == ErrorCode::InvalidArgument);
    CHECK(llvm::StringRef(message).starts_with("size: text must be"));
  }
  std::string deep;
  for (unsigned i = 0; i < 10000; ++i)
    deep += "max(s0, ";
  llvm::Expected<int64_t> size = parse(deep);
  REQUIRE(!size);
  llvm::consumeError(size.takeError());
}

TEST_CASE("what is too large is unknown") {
  int64_t n = symbol(0), sum = n;
  CHECK(multiply(multiply(n, INT64_MAX), 2) == kUnknown);
  CHECK(add(INT64_MAX, 1) == kUnknown);
  for (uint32_t i = 1; i <= kMostTerms; ++i)
    sum = add(sum, symbol(100 + i));
  CHECK(sum == kUnknown);
  int64_t nested = n;
  for (unsigned i = 0; i < 40 && nested != kUnknown; ++i) { // twice as many parts each time
    CHECK(parse(toText(nested)).get() == nested);
    nested = minimum(floorDivide(nested, symbol(i % 3 + 1)), add(nested, symbol(4 + i)));
  }
  CHECK(nested == kUnknown);
  CHECK(add(kUnknown, n) == kUnknown);
  CHECK(floorDivide(n, 0) == kUnknown);
}
