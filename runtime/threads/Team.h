//===- Team.h - the threads of parallel regions -----------------*- C++ -*-===//
//
// A region has parts, which its caller and helper threads run. Who waits spins
// for a while that is short beside a slice of the scheduler and then sleeps, so
// a process that shares its cores with others neither burns them nor waits in
// a barrier for a thread that has none.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tess::runtime {

/// The caller of a region and the helpers of this process, which start when a region needs them. A child of a fork
/// starts its own.
class Team {
public:
  using Body = void (*)(void *data, unsigned part);
  /// Independent: their number stays, and one thread may run several in turn. Together: one may wait for others, which
  /// have not returned, so they are as many as there are threads.
  enum class Parts : uint8_t { Independent, Together };

  /// The place of the calling thread in the region that it is in; outside of any it is the only part.
  struct Place {
    unsigned part = 0, parts = 1;
    bool isInRegion = false;
  };
  static const Place &place();

  static Team &global();

  /// Calls body(data, 0) .. body(data, parts - 1), at most 1024 of them, and returns when all have returned. A thread
  /// that is free takes the next part, the caller too: one that gets no core delays nobody. Within a region the caller
  /// is the only thread. Regions of several callers follow each other.
  void run(unsigned parts, Parts kind, Body body, void *data);

  /// Waits until every part of the caller's region, one of Parts::Together, has come here.
  void barrier();

private:
  struct Ticket; // of one region: which parts nobody has claimed

  Team();
  void startHelpers(unsigned wanted);
  void help();
  void awaitRegion(uint32_t last);
  bool runClaimed(uint32_t region);
  void finishPart();
  void awaitParts();
  static void childOfFork();

  std::mutex mutex; // of the caller whose region is open
  unsigned helpers = 0;
  std::atomic<uint64_t> ticket{0};
  std::atomic<uint32_t> opened{0}; // number of the latest region; helpers sleep on it
  std::atomic<uint32_t> sleeping{0};
  std::atomic<uint32_t> left{0}; // parts that have not returned; the caller sleeps on it
  std::atomic<bool> callerSleeps{false};
  std::atomic<uint32_t> arrived{0}, passed{0}; // of barriers: who is there, and how many are over
  std::atomic<Body> body{nullptr};
  std::atomic<void *> data{nullptr};
};

/// A region as OpenMP has them: each of at most `threads` threads calls body(data), and may wait for the others.
void openmpRegion(void (*body)(void *), void *data, unsigned threads);

} // namespace tess::runtime
