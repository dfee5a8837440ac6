#include "eager/eviction/Eviction.h"
#include "eager/tensor/Queue.h"
#include "runtime/device/Allocator.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

namespace {

/// Eviction of values of any size, which evicts nothing by itself.
struct Evicting {
  Evicting() {
    eviction::set({0, 1, false});
    eviction::enable();
  }
  ~Evicting() {
    eviction::disable();
    eviction::set({});
  }
};

bool drop(const TensorRef &tensor) { return get(eviction::drop(tensor->storage())); }

double costAround(const TensorRef &tensor) {
  lineage::Guard guard;
  return lineage::neighbourhoodCost(*tensor->storage().lineage());
}
double costOf(const TensorRef &tensor) {
  lineage::Guard guard;
  return tensor->storage().lineage()->recipe->cost;
}

/// x, exp(x), exp(exp(x)) and so on.
std::vector<TensorRef> chain(unsigned length) {
  std::vector<TensorRef> values{make<float>({0.1F, 0.2F, 0.3F})};
  while (values.size() <= length)
    values.push_back(run("exp", {values.back()}));
  return values;
}

} // namespace

TEST_CASE("evicted neighbours are a class, whose cost counts for those beside it") {
  Evicting evicting;
  std::vector<TensorRef> values = chain(6);
  double one = costOf(values[1]);
  CHECK(one > 0);
  REQUIRE(drop(values[2]));
  CHECK(costAround(values[1]) == one);
  CHECK(costAround(values[3]) == one);
  CHECK(costAround(values[5]) == 0);
  REQUIRE(drop(values[4]));
  CHECK(costAround(values[3]) == 2 * one); // two classes
  REQUIRE(drop(values[3]));
  CHECK(costAround(values[1]) == 3 * one); // one class now
  CHECK(costAround(values[5]) == 3 * one);
  values[3].reset(); // nobody refers to it; it is made again for the next one
  check(eviction::restore(values[4]->storage()));
  CHECK(costAround(values[5]) == 0);
  CHECK_FALSE(values[2]->storage().isEvicted()); // a user refers to it
  CHECK(eviction::stats().evictedNow == 0);
}

TEST_CASE("what was used long ago, is large and cheap goes first") {
  Evicting evicting;
  std::vector<float> ones(1 << 12, 1.0F);
  TensorRef x = make(ones, {64, 64}), cheap = run("exp", {x}), costly = run("matmul", {x, x});
  TensorRef few = make(std::vector<float>(1 << 11, 1.0F)), half = run("exp", {few});
  check(awaitAll());
  CHECK(eviction::evictFor(1, x->storage().device()));
  CHECK(cheap->storage().isEvicted());
  CHECK_FALSE(costly->storage().isEvicted());
  CHECK(eviction::evictFor(1 << 20, x->storage().device())); // all that there is
  CHECK(costly->storage().isEvicted());
  CHECK(half->storage().isEvicted());
  CHECK_FALSE(x->storage().isEvicted());
  CHECK_FALSE(eviction::evictFor(1, x->storage().device()));
  CHECK(values<float>(*costly)[5] == 64.0F);
}

TEST_CASE("what is in use stays") {
  Evicting evicting;
  std::vector<TensorRef> values = chain(1);
  {
    eviction::Use use;
    check(use.add(*values[1]));
    CHECK_FALSE(drop(values[1]));
  }
  CHECK(drop(values[1]));
}

TEST_CASE("where eviction is off, calls leave nothing behind") {
  {
    Evicting evicting;
  }
  CHECK_FALSE(eviction::isActive());
  std::vector<TensorRef> values = chain(1);
  CHECK_FALSE(values[1]->storage().lineage());
  {
    Evicting evicting;
    values.push_back(run("exp", {values[1]}));
    REQUIRE(drop(values[2]));
  }
  CHECK(eviction::isActive()); // until the value is read
  check(eviction::restore(values[2]->storage()));
  CHECK_FALSE(eviction::isActive());
}

TEST_CASE("a source goes with the last value that is made from it") {
  Evicting evicting;
  runtime::Device &device = runtime::hostDevice();
  eviction::set({0, 1 << 10, false});
  uint64_t before = device.allocator().stats().inUse;
  TensorRef x = make(std::vector<float>(1 << 16, 1.0F)), y = run("exp", {x});
  REQUIRE(drop(y));
  x.reset(); // y needs it
  CHECK(device.allocator().stats().inUse - before >= 4 << 16);
  CHECK(values<float>(*y)[1] > 2.7F);
  CHECK_FALSE(drop(y)); // it cannot be made again
  y.reset();
  check(awaitAll());
  CHECK(device.allocator().stats().inUse - before < 1 << 16);
}
