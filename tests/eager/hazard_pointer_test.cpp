// Hazard pointers: what is announced, by which threads, in a forked child, and where the kernel gives no barrier.
#include "eager/HazardPointer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <catch2/catch.hpp>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <barrier>
#include <cerrno>
#include <cstddef>
#include <set>
#include <thread>
#include <unistd.h>

using namespace tess::eager;

namespace {

int first, second; // what is protected here is never read

bool isProtected(const int &object) {
  HazardPointer::Objects objects;
  return HazardPointer::findProtected(objects) && llvm::is_contained(objects, &object);
}

HazardPointer protect(const int &object) {
  HazardPointer hazard = HazardPointer::make();
  hazard.protect(&object);
  return hazard;
}

} // namespace

TEST_CASE("an object is protected while its hazard pointer lives") {
  CHECK(!isProtected(first));
  {
    HazardPointer hazard = protect(first);
    CHECK(isProtected(first));
    HazardPointer moved = std::move(hazard);
    CHECK(isProtected(first));
    moved.protect(&second);
    CHECK(!isProtected(first));
    CHECK(isProtected(second));
  }
  CHECK(!isProtected(second));
}

TEST_CASE("a thread protects any number of objects, and lets go of them in any order") {
  std::vector<int> objects(100);
  std::vector<HazardPointer> hazards;
  for (int &object : objects)
    hazards.push_back(protect(object));
  CHECK(llvm::all_of(objects, isProtected));
  for (size_t i = 0; i < objects.size(); i += 2)
    hazards[i] = HazardPointer();
  for (size_t i = 0; i < objects.size(); ++i)
    CHECK(isProtected(objects[i]) == (i % 2 == 1));
}

TEST_CASE("one that was made and not used is not given out again") {
  HazardPointer unused = HazardPointer::make();
  HazardPointer other = protect(first);
  unused.protect(&second);
  CHECK(isProtected(first));
  CHECK(isProtected(second));
}

TEST_CASE("what other threads protect is seen, and no more when they end") {
  std::barrier sync(2);
  std::thread reader([&] {
    HazardPointer hazard = protect(first);
    sync.arrive_and_wait();
    sync.arrive_and_wait();
  });
  sync.arrive_and_wait();
  CHECK(isProtected(first));
  sync.arrive_and_wait();
  reader.join();
  CHECK(!isProtected(first));
}

TEST_CASE("objects outlast their thread's end with their hazard pointers") {
  struct Last { // destroyed when the thread has given its records back
    ~Last() {
      {
        HazardPointer hazard = protect(first);
        wasProtected = isProtected(first);
      }
      isOver = !isProtected(first);
    }
    bool &wasProtected, &isOver;
  };
  bool wasProtected = false, isOver = false;
  HazardPointer kept;
  std::thread([&] {
    thread_local Last last{wasProtected, isOver};
    (void)&last;
    kept = protect(second);
  }).join();
  CHECK(wasProtected);
  CHECK(isOver);
  std::thread([] { protect(first); }).join(); // may not take the one that is kept
  CHECK(isProtected(second));
  kept = HazardPointer();
  CHECK(!isProtected(second));
}

TEST_CASE("threads that come and go use the same memory") {
  struct AtEnd { // after the thread has given it back
    ~AtEnd() { note(); }
    llvm::function_ref<void()> note;
  };
  std::set<const void *> seen; // one that protects nothing yet is told as an object of its own
  auto note = [&] {
    HazardPointer hazard = HazardPointer::make();
    HazardPointer::Objects objects;
    CHECK(HazardPointer::findProtected(objects));
    seen.insert(objects.begin(), objects.end());
  };
  for (int i = 0; i < 20; ++i)
    std::thread([&] {
      thread_local AtEnd atEnd{note};
      atEnd.note();
    }).join();
  CHECK(seen.size() == 1);
}

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer

/// Whether `holds` is true in a forked child.
static bool inChild(llvm::function_ref<bool()> holds) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60); // a hang is a failure
    ::_exit(holds() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("a forked child keeps the hazard pointers of its thread only") {
  std::barrier sync(2);
  std::thread reader([&] {
    HazardPointer hazard = protect(first);
    sync.arrive_and_wait();
    sync.arrive_and_wait();
  });
  sync.arrive_and_wait();
  HazardPointer mine = protect(second);
  CHECK(inChild([] { return !isProtected(first) && isProtected(second); }));
  CHECK(isProtected(first));
  sync.arrive_and_wait();
  reader.join();
}

/// From now on the system call says that it is not permitted.
static bool forbidMembarrier() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("without the kernel's barrier readers use their own") {
  HazardPointer mine = protect(first);
  CHECK(inChild([] {
    if (!forbidMembarrier())
      return false;
    HazardPointer::Objects objects;
    if (HazardPointer::findProtected(objects)) // readers of before have no fence
      return false;
    return inChild([] { // which has none of them
      HazardPointer hazard = protect(second);
      return isProtected(first) && isProtected(second);
    });
  }));
}
#endif
