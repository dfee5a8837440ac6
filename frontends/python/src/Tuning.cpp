//===- Tuning.cpp - by which settings kernels are chosen ------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

#include "runtime/device/KernelSettings.h"
#include "runtime/tuning/TimingTable.h"

#include <nanobind/stl/optional.h>

namespace tess::python {

namespace {

using runtime::KernelSettings;
using runtime::tuning::TimingTable;

/// Sets one of the settings.
template <auto member, typename T> void set(T value) {
  KernelSettings settings = runtime::kernelSettings();
  settings.*member = value;
  runtime::setKernelSettings(settings);
}

std::optional<uint64_t> workspaceLimit() {
  const uint64_t limit = runtime::kernelSettings().workspaceLimit;
  return limit == KernelSettings::kNoLimit ? std::nullopt : std::optional(limit);
}

void setWorkspaceLimit(std::optional<int64_t> bytes) {
  if (bytes && *bytes < 0)
    throwError(invalidArgument("set_workspace_limit: bytes must be at least 0, got " + llvm::Twine(*bytes)));
  set<&KernelSettings::workspaceLimit>(bytes ? uint64_t(*bytes) : KernelSettings::kNoLimit);
}

nb::dict timingStats() {
  const runtime::tuning::TimingStats stats = TimingTable::global().stats();
  nb::dict dict;
  dict["entries"] = stats.entries;
  dict["bytes"] = stats.bytes;
  dict["limit"] = stats.limit;
  dict["evictions"] = stats.evictions;
  dict["measured"] = stats.measured;
  return dict;
}

nb::bytes storeTimings() {
  const std::string bytes = TimingTable::global().store();
  return nb::bytes(bytes.data(), bytes.size());
}

size_t loadTimings(const nb::bytes &bytes) {
  return valueOrThrow(TimingTable::global().load(llvm::StringRef(bytes.c_str(), bytes.size())));
}

} // namespace

void initTuning(nb::module_ &module) {
  module.def("get_winograd", [] { return runtime::kernelSettings().winograd; });
  module.def("set_winograd", &set<&KernelSettings::winograd, bool>);
  module.def("get_strategy", [] { return unsigned(runtime::kernelSettings().strategy); }, "Bits of Strategy.");
  module.def("set_strategy", &set<&KernelSettings::strategy, uint8_t>);
  module.def("get_workspace_limit", &workspaceLimit);
  module.def("set_workspace_limit", &setWorkspaceLimit, nb::arg("max_bytes").none());
  module.def("timing_stats", &timingStats, "Counts of the table of measured kernels.");
  module.def("store_timings", &storeTimings, "The table as bytes.");
  module.def("load_timings", &loadTimings, "Adds such bytes to the table; how many timings there were.");
  module.def("clear_timings", [] { TimingTable::global().clear(); });
  module.def("set_timing_limit", [](uint64_t bytes) { TimingTable::global().setLimit(bytes); });
}

} // namespace tess::python
