// The operator cache's table and the memory of its entries, against the standard library's map.
#include "eager/OpEntries.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

using namespace tess;
using namespace tess::eager;

namespace {

/// Keys of which many share a home in the table, and some a tag.
OpKey keyOf(uint64_t number) { return {number % 7, number / 7 % 5, number / 35}; }

OpEntry *lookUp(const EntryTable &table, const OpKey &key) {
  return table.find(KeyPrint(key), [](const OpEntry &) { return true; });
}

} // namespace

TEST_CASE("a table has what was inserted and not erased") {
  EntryTable table;
  std::map<uint64_t, OpEntryRef> expected;
  std::mt19937_64 random(0);
  OpDef op = OpDef::get("add");
  for (int step = 0; step < 50000; ++step) {
    uint64_t number = random() % 3000;
    auto known = expected.find(number);
    REQUIRE(lookUp(table, keyOf(number)) == (known == expected.end() ? nullptr : known->second.get()));
    if (known == expected.end()) {
      OpEntryRef entry(new OpEntry(keyOf(number), op));
      table.insert(entry.get());
      expected[number] = entry;
    } else if (random() % 3 != 0) {
      table.erase(known->second.get());
      expected.erase(known);
    }
    REQUIRE(table.size() == expected.size());
  }
  for (uint64_t number = 0; number < 3000; ++number)
    CHECK((lookUp(table, keyOf(number)) != nullptr) == (expected.count(number) == 1));
  table.clear();
  CHECK(table.size() == 0);
  CHECK(lookUp(table, keyOf(1)) == nullptr);
}

TEST_CASE("an entry is passed over when it does not answer") {
  EntryTable table;
  OpKey key{1, 2, 3};
  OpEntryRef first(new OpEntry(key, OpDef::get("add"))), second(new OpEntry(key, OpDef::get("sub")));
  table.insert(first.get());
  table.insert(second.get());
  for (const OpEntryRef &wanted : {first, second})
    CHECK(table.find(KeyPrint(key), [&](const OpEntry &found) { return found.op == wanted->op; }) == wanted.get());
}

TEST_CASE("entries lie densely, and what is given back is used again") {
  OpDef op = OpDef::get("add");
  constexpr size_t many = 5000; // more than the first slab has
  std::set<uintptr_t> places;
  for (int round = 0; round < 2; ++round) {
    std::vector<OpEntryRef> entries;
    for (size_t i = 0; i < many; ++i) {
      entries.emplace_back(new OpEntry({i, 0, 0}, op));
      uintptr_t place = reinterpret_cast<uintptr_t>(entries.back().get());
      REQUIRE(place % sizeof(OpEntry) == 0);
      places.insert(place);
    }
  }
  CHECK(places.size() == many);
}
