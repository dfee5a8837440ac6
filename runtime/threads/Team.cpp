//===- Team.cpp - the threads of parallel regions -------------------------===//
#include "runtime/threads/Team.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/Spin.h"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tess::runtime {

// Between two regions of a network lie some 10 us; 100 us of each gap spent awake cost a neighbour little.
static constexpr uint64_t kSpinBetweenRegions = 10 * kSpinCycles;
// The other parts of a region end at about the time of the caller's own, unless their threads have no core.
static constexpr uint64_t kSpinAtEnd = 5 * kSpinCycles;

static thread_local Team::Place currentPlace;

const Team::Place &Team::place() { return currentPlace; }

/// Sleeps while the word holds `value`; it may also return early.
static void sleepOn(std::atomic<uint32_t> &word, uint32_t value) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

/// The processor of the caller whose region is open.
static std::atomic<int> processorOfCaller{-1};

/// Moves a helper that shares its processor with the caller to another one that it may use. Who is woken begins where
/// its waker runs, and the system parts them only after milliseconds, in which a region has one thread's speed.
static void leaveCaller() {
  const int here = ::sched_getcpu();
  cpu_set_t allowed, others;
  if (here < 0 || here != processorOfCaller.load() || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  others = allowed;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) && ::sched_setaffinity(0, sizeof others, &others) == 0)
    ::sched_setaffinity(0, sizeof allowed, &allowed);
}

static void wake(std::atomic<uint32_t> &word, unsigned threads) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

/// Region, its parts and the next one that nobody has, in one word: who claims a part of a region that is over fails.
struct Team::Ticket {
  uint32_t region;
  uint16_t parts, next;

  static Ticket of(uint64_t word) { return {uint32_t(word >> 32), uint16_t(word >> 16), uint16_t(word)}; }
  uint64_t word() const { return uint64_t(region) << 32 | uint64_t(parts) << 16 | next; }
};

Team::Team() {
  holdAcrossFork(mutex);
  callAcrossFork([] {}, [] {}, childOfFork);
}

Team &Team::global() {
  static Team *instance = new Team; // never destroyed: helpers may outlive main
  return *instance;
}

// The child has none of the helpers. Nobody holds the mutex across the fork but the handler itself.
void Team::childOfFork() {
  Team &team = global();
  team.helpers = 0;
  team.sleeping = 0;
  team.callerSleeps = false;
  team.left = 0;
  team.arrived = 0;
}

void Team::startHelpers(unsigned wanted) {
  auto enter = [](void *team) -> void * {
    static_cast<Team *>(team)->help();
    return nullptr;
  };
  for (pthread_t thread; helpers < wanted; ++helpers) {
    if (::pthread_create(&thread, nullptr, enter, this) != 0)
      return;
    ::pthread_detach(thread);
  }
}

void Team::awaitRegion(uint32_t last) {
  auto isOpen = [&] { return opened.load() != last; };
  if (spinUntil(kSpinBetweenRegions, isOpen))
    return;
  ++sleeping;
  while (!isOpen())
    sleepOn(opened, last);
  --sleeping;
}

void Team::help() {
  for (;;) {
    uint32_t last = opened.load();
    if (left.load())
      leaveCaller();
    while (runClaimed(last))
      ;
    awaitRegion(last);
  }
}

/// Runs the next part of this region that nobody has; false where there is none.
bool Team::runClaimed(uint32_t region) {
  uint64_t word = ticket.load();
  Ticket now;
  do {
    now = Ticket::of(word);
    if (now.region != region || now.next >= now.parts)
      return false;
  } while (!ticket.compare_exchange_weak(word, word + 1));
  // The region stays open until this part has returned.
  Place outer = currentPlace;
  currentPlace = {now.next, now.parts, true};
  body.load()(data.load(), now.next);
  currentPlace = outer;
  finishPart();
  return true;
}

void Team::finishPart() {
  if (left.fetch_sub(1) == 1 && callerSleeps.load())
    wake(left, 1);
}

void Team::awaitParts() {
  if (spinUntil(kSpinAtEnd, [&] { return left.load() == 0; }))
    return;
  callerSleeps = true;
  while (uint32_t count = left.load())
    sleepOn(left, count);
  callerSleeps = false;
}

static void runInTurn(unsigned parts, Team::Body body, void *data) {
  Team::Place outer = currentPlace;
  for (unsigned part = 0; part < parts; ++part) {
    currentPlace = {part, parts, true};
    body(data, part);
  }
  currentPlace = outer;
}

// A thread that takes a second part of Parts::Together has returned from its first, which therefore waited for no part
// that nobody had taken.
void Team::run(unsigned parts, Parts kind, Body body, void *data) {
  if (parts <= 1 || currentPlace.isInRegion)
    return runInTurn(kind == Parts::Together ? 1 : parts, body, data);
  std::lock_guard<std::mutex> lock(mutex);
  startHelpers(parts - 1);
  if (kind == Parts::Together)
    parts = std::min(parts, helpers + 1);
  this->body = body;
  this->data = data;
  processorOfCaller = ::sched_getcpu();
  left = parts;
  Ticket next{opened.load() + 1, uint16_t(parts), 0};
  ticket = next.word();
  opened = next.region;
  if (sleeping.load())
    wake(opened, parts - 1);
  while (runClaimed(next.region))
    ;
  awaitParts();
}

void Team::barrier() {
  unsigned parts = currentPlace.parts;
  uint32_t before = passed.load();
  if (arrived.fetch_add(1) + 1 == parts) {
    arrived = 0;
    ++passed;
    return wake(passed, INT_MAX);
  }
  auto isOver = [&] { return passed.load() != before; };
  if (!spinUntil(kSpinAtEnd, isOver))
    while (!isOver())
      sleepOn(passed, before);
}

} // namespace tess::runtime
