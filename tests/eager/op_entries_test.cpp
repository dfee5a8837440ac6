// The operator cache's table, against the standard library's map and under readers that take no lock.
#include "eager/OpEntries.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>

using namespace tess;
using namespace tess::eager;

namespace {

/// Keys of which many share a home in the table, and some a tag.
OpKey keyOf(uint64_t number) { return {number % 7, number / 7 % 5, number / 35}; }

std::unique_ptr<CompiledOp> make(uint64_t number, const OpDef &op) {
  auto made = std::make_unique<CompiledOp>(keyOf(number), op);
  made->bytes = number + 1;
  return made;
}

/// The same by both ways; null where they differ.
CompiledOp *lookUp(const EntryTable &table, const OpKey &key, const OpDef &op) {
  CompiledOp *found = table.find(KeyPrint(key), op);
  return table.findProtected(KeyPrint(key), op).get() == found ? found : nullptr;
}

/// A table beside a map.
struct Checked {
  Checked(EntryMemory &memory, unsigned number) : table(memory, number) {}
  void change(uint64_t number, bool mayErase) {
    auto known = expected.find(number);
    if (known == expected.end()) {
      auto &made = expected[number] = make(number, op);
      table.insert(made.get());
    } else if (mayErase) {
      table.erase(known->second.get());
      expected.erase(known);
    }
  }
  bool isRight(uint64_t number) const {
    auto known = expected.find(number);
    CompiledOp *found = table.find(KeyPrint(keyOf(number)), op);
    return found == (known == expected.end() ? nullptr : known->second.get()) &&
           found == table.findProtected(KeyPrint(keyOf(number)), op).get();
  }

  OpDef op = OpDef::get("add");
  EntryTable table;
  std::map<uint64_t, std::unique_ptr<CompiledOp>> expected;
};

} // namespace

TEST_CASE("a table has what was inserted and not erased") {
  EntryMemory memory(2);
  Checked tables[] = {{memory, 0}, {memory, 1}};
  std::mt19937_64 random(0);
  for (int step = 0; step < 50000; ++step) {
    Checked &checked = tables[random() % 2];
    uint64_t number = random() % 3000;
    REQUIRE(checked.isRight(number));
    checked.change(number, random() % 3 != 0);
    REQUIRE(checked.table.size() == checked.expected.size());
  }
  for (Checked &checked : tables)
    for (uint64_t number = 0; number < 3000; ++number)
      CHECK(checked.isRight(number));
  tables[0].table.clear();
  tables[0].expected.clear();
  CHECK(tables[0].table.size() == 0);
  for (uint64_t number = 0; number < 3000; ++number)
    CHECK((tables[0].isRight(number) && tables[1].isRight(number)));
}

TEST_CASE("no entry is lost when another goes") {
  EntryMemory memory(1);
  Checked checked(memory, 0);
  std::mt19937_64 random(0);
  for (int step = 0; step < 3000; ++step) {
    checked.change(random() % 60, true);
    for (uint64_t number = 0; number < 60; ++number)
      REQUIRE(checked.isRight(number));
  }
}

TEST_CASE("equal keys of other operators, or with other attributes, are told apart") {
  EntryMemory memory(1);
  EntryTable table(memory, 0);
  OpKey key{1, 2, 3};
  std::vector<OpDef> ops = {OpDef::get("add"), OpDef::get("sub"), OpDef::get("sum").set("axes", IntList{0}),
                            OpDef::get("sum").set("axes", IntList{1})};
  std::vector<std::unique_ptr<CompiledOp>> made;
  for (const OpDef &op : ops) {
    CHECK(lookUp(table, key, op) == nullptr);
    made.push_back(std::make_unique<CompiledOp>(key, op));
    table.insert(made.back().get());
  }
  for (unsigned i = 0; i < ops.size(); ++i)
    CHECK(lookUp(table, key, ops[i]) == made[i].get());
  CHECK(lookUp(table, key, OpDef::get("sum").set("axes", IntList{2})) == nullptr);
  table.erase(made[2].get());
  CHECK(lookUp(table, key, ops[2]) == nullptr);
  CHECK(lookUp(table, key, ops[3]) == made[3].get());
}

TEST_CASE("a slot has room for every operator") { CHECK(allOps().size() <= size_t(1) << Entry::kIdBits); }

TEST_CASE("a table knows what was used") {
  EntryMemory memory(1);
  Checked checked(memory, 0);
  checked.change(1, false);
  checked.change(2, false);
  CompiledOp *first = checked.expected[1].get(), *second = checked.expected[2].get();
  CHECK(checked.table.exchangeUsed(first)); // new
  CHECK(!checked.table.exchangeUsed(first));
  CHECK(checked.table.exchangeUsed(second));
  checked.table.find(KeyPrint(keyOf(1)), checked.op);
  CHECK(!checked.table.exchangeUsed(second));
  CHECK(checked.table.exchangeUsed(first));
  checked.table.findProtected(KeyPrint(keyOf(2)), checked.op);
  for (uint64_t number = 3; number < 100; ++number)
    checked.change(number, false); // the table grows
  CHECK(!checked.table.exchangeUsed(first));
  CHECK(checked.table.exchangeUsed(second));
}

namespace {
/// What was taken out of a table.
struct Removed {
  std::vector<std::unique_ptr<CompiledOp>> retired, unused;

  /// Spoils what nobody protects, so that a reader that is not heeded sees it. Not freed: new memory would look right.
  void spoil() {
    HazardPointer::Objects inUse;
    REQUIRE(HazardPointer::findProtected(inUse));
    llvm::erase_if(retired, [&](auto &old) {
      if (llvm::is_contained(inUse, old.get()))
        return false;
      old->bytes = 0;
      unused.push_back(std::move(old));
      return true;
    });
  }
};

/// At any point, also between finding and protecting, a reader may stop for as long as removals take.
std::atomic<bool> isHeldUp = false;
void holdUp(int) {
  ::usleep(20);
  isHeldUp = false;
}
} // namespace

TEST_CASE("readers find what is there, and whole, while a table changes") {
  EntryMemory memory(1);
  EntryTable table(memory, 0);
  OpDef op = OpDef::get("add");
  constexpr uint64_t kAlways = 20, kAll = 300; // the first ones are erased by clear() only
  auto choose = [](std::mt19937_64 &random) { return random() % 8 ? kAlways : random() % kAll; }; // one again and again
  std::atomic<bool> done = false;
  std::atomic<uint64_t> wrong = 0, found = 0;
  auto read = [&] {
    std::mt19937_64 random(0);
    while (!done) {
      uint64_t number = choose(random);
      if (CompiledOpRef ref = table.findProtected(KeyPrint(keyOf(number)), op)) {
        wrong += ref->bytes != number + 1;
        ++found;
      }
    }
  };
  ::signal(SIGUSR1, holdUp);
  std::thread readers[] = {std::thread(read), std::thread(read)};

  std::map<uint64_t, std::unique_ptr<CompiledOp>> live;
  Removed removed;
  std::mt19937_64 random(1);
  for (int step = 0; step < 60000 || found < 1000; ++step) {
    uint64_t number = choose(random);
    if (auto &slot = live[number]; !slot) {
      slot = make(number, op);
      table.insert(slot.get());
    } else if (number >= kAlways) {
      table.erase(slot.get());
      removed.retired.push_back(std::move(slot));
    }
    if (step % 2000 == 0) {
      table.clear();
      for (auto &[number, old] : live)
        if (old)
          removed.retired.push_back(std::move(old));
    }
    removed.spoil();
    if (!isHeldUp.exchange(true))
      ::pthread_kill(readers[step % 2].native_handle(), SIGUSR1);
  }
  done = true;
  for (std::thread &reader : readers)
    reader.join();
  CHECK(wrong == 0);
  removed.spoil();
  CHECK(removed.retired.empty());
}
