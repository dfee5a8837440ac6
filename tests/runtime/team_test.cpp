#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Team.h"
#include "tests/runtime/Expect.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tess;
using namespace tess::runtime;

// OpenMP of the program's own regions (runtime/threads/Openmp.cpp).
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier();
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_in_parallel();
}

namespace {

template <typename F> void run(unsigned parts, Team::Parts kind, F body) {
  Team::global().run(parts, kind, [](void *data, unsigned part) { (*static_cast<F *>(data))(part); }, &body);
}

/// Whether each of `parts` runs once, in so many regions.
bool runsEachOnce(unsigned parts, unsigned regions) {
  for (unsigned region = 0; region < regions; ++region) {
    std::vector<std::atomic<int>> runs(parts);
    run(parts, Team::Parts::Independent, [&](unsigned part) { ++runs[part]; });
    for (std::atomic<int> &count : runs)
      if (count != 1)
        return false;
  }
  return true;
}

} // namespace

TEST_CASE("a region runs each part once, whatever the number of cores") {
  for (unsigned parts : {1u, 2u, 3u, 8u, 40u})
    CHECK(runsEachOnce(parts, 300));
}

TEST_CASE("regions that follow after a pause wake the helpers") {
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(runsEachOnce(4, 2));
  }
}

TEST_CASE("parts together may wait for each other") {
  for (unsigned parts : {2u, 5u, 16u})
    for (int round = 0; round < 50; ++round) {
      std::atomic<unsigned> here{0};
      run(parts, Team::Parts::Together, [&](unsigned) {
        ++here;
        while (here < parts)
          std::this_thread::yield();
      });
      CHECK(here == parts);
    }
}

TEST_CASE("a barrier separates what comes before it from what comes after") {
  struct Work {
    std::atomic<int> before{0}, wrong{0}, threads{0};
  } work;
  for (int round = 1; round <= 100; ++round)
    openmpRegion(
        [](void *data) {
          Work &work = *static_cast<Work *>(data);
          int threads = int(Team::place().parts);
          for (int step = 0; step < 4; ++step) {
            int goal = (work.before.load() / threads + 1) * threads;
            Team::global().barrier();
            ++work.before;
            Team::global().barrier();
            work.wrong += work.before != goal;
          }
          work.threads = threads;
        },
        &work, 4);
  CHECK(work.threads == 4);
  CHECK(work.wrong == 0);
}

TEST_CASE("a region of OpenMP tells the place, and one within another has one thread") {
  struct Seen {
    std::atomic<unsigned> threads{0}, inner{0};
    std::atomic<bool> isRight{true};
  } seen;
  CHECK_FALSE(Team::place().isInRegion);
  openmpRegion(
      [](void *data) {
        Seen &seen = *static_cast<Seen *>(data);
        unsigned own = Team::place().part;
        seen.threads |= 1u << own;
        if (!Team::place().isInRegion || Team::place().parts != 3)
          seen.isRight = false;
        openmpRegion([](void *data) { static_cast<Seen *>(data)->inner += Team::place().parts; }, data, 3);
        if (Team::place().part != own)
          seen.isRight = false;
      },
      &seen, 3);
  CHECK(seen.threads == 7);
  CHECK(seen.inner == 3);
  CHECK(seen.isRight);
  CHECK(Team::place().parts == 1);
}

TEST_CASE("regions of the program's own are libgomp's") {
  struct Seen {
    std::atomic<unsigned> threads{0};
    std::atomic<bool> isRight{true};
  } seen;
  const int before = omp_get_max_threads();
  GOMP_parallel(
      [](void *data) {
        Seen &seen = *static_cast<Seen *>(data);
        seen.threads |= 1u << unsigned(omp_get_thread_num());
        GOMP_barrier();
        if (!omp_in_parallel() || omp_get_num_threads() != 3 || Team::place().isInRegion)
          seen.isRight = false;
      },
      &seen, 3, 0);
  CHECK(seen.threads == 7);
  CHECK(seen.isRight);
  {
    LibraryThreads two(before + 1);
    CHECK(omp_get_max_threads() == before + 1);
  }
  CHECK(omp_get_max_threads() == before);
  CHECK_FALSE(omp_in_parallel());
}

TEST_CASE("regions of several callers follow each other") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] { wrong += !runsEachOnce(4, 200); });
  for (std::thread &caller : callers)
    caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("more threads than cores, all of them busy, delay no region for ever") {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i)
    busy.emplace_back([&] {
      while (!isOver)
        ;
    });
  CHECK(runsEachOnce(8, 50));
  isOver = true;
  for (std::thread &thread : busy)
    thread.join();
}

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer
TEST_CASE("a forked child starts helpers of its own, a child of the child too") {
  CHECK(runsEachOnce(4, 3));
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30); // a hang is a failure, not a time-out of the whole test
    pid_t inner = runsEachOnce(4, 3) ? ::fork() : -1;
    if (inner == 0)
      ::_exit(runsEachOnce(4, 3) ? 42 : 1);
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(runsEachOnce(4, 3)); // and the parent goes on
}
#endif
