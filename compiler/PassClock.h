//===- PassClock.h - the time of each part of a compilation -----*- C++ -*-===//
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tess::compiler {

/// Receives the seconds of a part by its name.
using ReportTime = std::function<void(const std::string &name, double seconds)>;

/// The part of a compilation that the process began last and has not ended, a literal; "" when there is none.
inline std::atomic<const char *> runningPart{""};

/// Reports its lifetime, unless `report` is empty. While it lives it is the running part. `name` is, or ends, a
/// literal.
class TimedPart {
public:
  TimedPart(llvm::StringRef name, const ReportTime &report)
      : name(name), report(report), start(std::chrono::steady_clock::now()) {
    runningPart = name.data();
  }
  ~TimedPart() {
    runningPart = "";
    if (report)
      report(name.str(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  TimedPart(const TimedPart &) = delete;
  TimedPart &operator=(const TimedPart &) = delete;

private:
  llvm::StringRef name;
  const ReportTime &report;
  std::chrono::steady_clock::time_point start;
};

/// Reports each pass of a pass manager by its flag without "tess-". Passes run one after the other.
class PassClock : public mlir::PassInstrumentation {
public:
  explicit PassClock(ReportTime report) : report(std::move(report)) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    if (!pass->getArgument().empty()) // a pass manager runs nested ones as a pass without a flag
      running.emplace(nameOf(*pass), report);
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override { end(*pass); }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) override { end(*pass); }

private:
  static llvm::StringRef nameOf(mlir::Pass &pass) {
    llvm::StringRef name = pass.getArgument(); // a literal
    name.consume_front("tess-");
    return name;
  }
  void end(mlir::Pass &pass) {
    if (!pass.getArgument().empty())
      running.reset();
  }

  ReportTime report;
  std::optional<TimedPart> running;
};

} // namespace tess::compiler
