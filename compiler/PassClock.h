//===- PassClock.h - the time of each part of a compilation -----*- C++ -*-===//
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tess::compiler {

/// Receives the seconds of a part by its name.
using ReportTime = std::function<void(const std::string &name, double seconds)>;

/// Reports its lifetime, unless `report` is empty.
class TimedPart {
public:
  TimedPart(std::string name, const ReportTime &report)
      : name(std::move(name)), report(report), start(std::chrono::steady_clock::now()) {}
  ~TimedPart() {
    if (report)
      report(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  TimedPart(const TimedPart &) = delete;
  TimedPart &operator=(const TimedPart &) = delete;

private:
  std::string name;
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
  static std::string nameOf(mlir::Pass &pass) {
    llvm::StringRef name = pass.getArgument();
    name.consume_front("tess-");
    return name.str();
  }
  void end(mlir::Pass &pass) {
    if (!pass.getArgument().empty())
      running.reset();
  }

  ReportTime report;
  std::optional<TimedPart> running;
};

} // namespace tess::compiler
