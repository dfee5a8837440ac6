//===- Counters.cpp - counters, facts and the profile of the process -----===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

#include "compiler/Compile.h"
#include "compiler/cache/ExecutableCache.h"
#include "eager/classes/OpCache.h"
#include "eager/gradients/BackwardPlan.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Queue.h"
#include "ops/inference/InferenceCount.h"
#include "runtime/Accelerators.h"
#include "runtime/Devices.h"
#include "runtime/device/Code.h"
#include "runtime/device/KernelTable.h"
#include "runtime/device/Profiler.h"
#include "runtime/run/Executor.h"
#include "runtime/schema/BitsVersion.h"
#include "runtime/threads/ParallelFor.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

namespace {

void addOperators(nb::dict &stats) {
  eager::OpCacheStats ops = eager::opCacheStats();
  stats["hits"] = ops.hits;
  stats["misses"] = ops.misses;
  stats["evictions"] = ops.evictions;
  stats["entries"] = ops.entries;
  stats["bytes"] = ops.bytes;
  stats["binding_bytes"] = ops.bindingBytes;
  stats["binding_limit"] = ops.bindingLimit;
  eager::BackwardPlanStats plans = eager::backwardPlanStats();
  stats["backward_plan_bytes"] = plans.bytes;
  stats["backward_plan_limit"] = plans.limit;
  stats["limit"] = ops.limit;
}

void addCompiler(nb::dict &stats) {
  compiler::CompileStats compile = compiler::compileStats();
  stats["programs"] = compile.programs;
  stats["kernels_compiled"] = compile.kernelsCompiled;
  stats["kernels_from_memory"] = compile.kernelsFromMemory;
  stats["kernels_from_disk"] = compile.kernelsFromDisk;
  stats["compile_seconds"] = compile.seconds;
  compiler::ExecutableCacheStats executables = compiler::executableCacheStats();
  stats["from_warm_set"] = executables.fromWarmSet;
  stats["from_disk"] = executables.fromDisk;
}

void addPrimitives(nb::dict &stats) {
  runtime::PreparedCacheStats prepared = runtime::preparedCacheStats();
  stats["primitives"] = prepared.misses;
  stats["primitive_seconds"] = prepared.seconds;
  stats["primitive_hits"] = prepared.hits;
  stats["primitive_evictions"] = prepared.evictions;
  stats["primitive_entries"] = prepared.entries;
  stats["primitive_bytes"] = prepared.bytes;
  stats["primitive_limit"] = prepared.limit;
  stats["primitive_fallbacks"] = prepared.fallbacks;
}

void addCounts(nb::dict &stats) {
  using eager::Count;
  eager::Counts counts = eager::counts();
  auto add = [&](const char *name, Count what) { stats[name] = counts[unsigned(what)]; };
  add("compilations", Count::Compilations);
  add("results", Count::Results);
  add("results_of_kernels", Count::FromKernels);
  add("results_of_libraries", Count::FromLibrary);
  add("results_of_loops", Count::FromLoops);
  add("results_in_place", Count::InPlace);
  add("views", Count::FromViews);
  add("host_values", Count::FromHost);
  add("copies", Count::Copies);
  stats["inferences"] = inferenceCount();
}

nb::dict cacheStats() {
  nb::dict stats;
  addOperators(stats);
  addCompiler(stats);
  addPrimitives(stats);
  addCounts(stats);
  return stats;
}

nb::dict queueStats() {
  eager::QueueStats queue = eager::queueStats();
  nb::dict stats;
  stats["commands"] = queue.commands;
  stats["bytes"] = queue.bytes;
  stats["most_commands"] = queue.mostCommands;
  stats["most_bytes"] = queue.mostBytes;
  return stats;
}

nb::dict doctorInfo() {
  nb::dict info;
  info["threads"] = runtime::numThreads();
  info["available_threads"] = runtime::availableThreads();
  nb::list features;
  for (const char *name :
       {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512bf16", "amx-tile"})
    if (runtime::hostHasFeature(name))
      features.append(name);
  info["features"] = features;
  info["operators"] = allOps().size();
  info["devices"] = runtime::deviceNames();
  for (const auto &[kind, note] : runtime::acceleratorNotes())
    info[kind.c_str()] = note;
  info["compiler"] = __VERSION__;
  info["warm_set"] = compiler::warmSetNote();
  info["bits_version"] = runtime::bitsVersion();
  return info;
}

/// A row (version, operators, dtypes, ulps, relative, why) for each change of bits.
nb::list bitsChanges() {
  nb::list changes;
  for (const runtime::BitsChange &change : runtime::bitsChanges())
    changes.append(
        nb::make_tuple(change.version, change.operators, change.dtypes, change.ulps, change.relative, change.why));
  return changes;
}

void startProfile(const nb::dict &options) {
  runtime::profiler::Options wanted;
  wanted.steps = nb::cast<bool>(options["steps"]);
  wanted.scopes = nb::cast<bool>(options["scopes"]);
  wanted.calls = nb::cast<bool>(options["calls"]);
  wanted.memoryStride = nb::cast<unsigned>(options["memory_stride"]);
  wanted.counters = nb::cast<std::vector<std::string>>(options["counters"]);
  checkOrThrow(runtime::profiler::start(wanted));
}

} // namespace

void initCounters(nb::module_ &module) {
  module.def("cache_stats", &cacheStats, "Counters of the operator cache and the compiler.");
  module.def("queue_stats", &queueStats,
             "Commands that wait or run, the bytes that they hold, and the bounds of both.");
  module.def(
      "compiling_part", [] { return compiler::compileStats().part; },
      "The part of a compilation that runs now: a pass, or \"steps\" or \"code\"; \"\": none.");
  module.def("launch_count", &runtime::launchCount, "Kernels, library calls and copies since the start.");
  module.def("doctor", &doctorInfo, "Facts about this machine and build.");
  module.def("bits_changes", &bitsChanges,
             "(version, operators, dtypes, ulps, relative, why) of each change of the bits that builds compute.");
  module.def("start_profile", &startProfile, nb::arg("options"), "Forgets the last profile and begins to record.");
  module.def("is_profiling", &runtime::profiler::on, "Whether a profile is taken.");
  module.def(
      "mark_profile", [](const std::string &name) { runtime::profiler::recordMark(name); }, nb::arg("name"),
      "Puts a point in time into the profile.");
  module.def("hardware_counters", &runtime::hardwareCounterNames, "Names of counters that a profile may have.");
  module.def("stop_profile", &runtime::profiler::stop, "Ends the recording; the profile stays.");
  module.def("profile_json", &runtime::profiler::json, "The last profile, as a Chrome trace.");
}

} // namespace tess::python
