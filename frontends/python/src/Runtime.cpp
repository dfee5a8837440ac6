//===- Runtime.cpp - threads, counters, memory, locations ----------------===//
#include "frontends/python/src/Bridge.h"

#include "compiler/Compile.h"
#include "compiler/ExecutableCache.h"
#include "eager/BackwardPlan.h"
#include "eager/Counters.h"
#include "eager/Location.h"
#include "eager/OpCache.h"
#include "eager/Queue.h"
#include "eager/WarmSet.h"
#include "runtime/Allocator.h"
#include "runtime/Code.h"
#include "runtime/Executor.h"
#include "runtime/KernelTable.h"
#include "runtime/ParallelFor.h"
#include "runtime/schema/BitsVersion.h"

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
}

nb::dict cacheStats() {
  nb::dict stats;
  addOperators(stats);
  addCompiler(stats);
  addPrimitives(stats);
  addCounts(stats);
  return stats;
}

/// A limit given in Python; `what` opens the message of the error.
uint64_t bytesOf(const char *what, int64_t bytes) {
  if (bytes < 0)
    throwError(invalidArgument(llvm::Twine(what) + ": bytes must be at least 0, got " + llvm::Twine(bytes)));
  return uint64_t(bytes);
}

void setDiskCache(const std::string &folder, int64_t bytes) {
  compiler::setObjectCache(folder, bytesOf("set_disk_cache", bytes));
}

size_t writeWarmSet(const std::string &folder, const std::vector<std::string> &levels,
                    const std::vector<std::string> &classes, uint64_t maxBytes) {
  return valueOrThrow(eager::writeWarmSet(folder, levels, classes, maxBytes));
}

nb::tuple diskCache() {
  auto [folder, bytes] = compiler::objectCacheSettings();
  return nb::make_tuple(folder, bytes);
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

nb::dict memoryStats() {
  runtime::AllocatorStats memory = runtime::cpuAllocator().stats();
  nb::dict stats;
  stats["in_use"] = memory.inUse;
  stats["cached"] = memory.cached;
  stats["peak"] = memory.peak;
  stats["limit"] = memory.limit;
  stats["allocations"] = memory.allocations;
  stats["system_allocations"] = memory.systemAllocations;
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
  info["device"] = runtime::cpuDevice().name();
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

nb::dict parameterRow(const AttrInfo &attr) {
  nb::dict row;
  row["name"] = attr.name;
  row["runtime"] = attr.isRuntime;
  row["optional"] = attr.isOptional;
  row["default"] = attr.hasDefault ? nb::steal(fromAttr(attr.defaultValue())) : nb::none();
  row["has_default"] = attr.hasDefault;
  nb::list cases;
  for (const char *name : attr.cases)
    cases.append(name);
  row["cases"] = cases;
  row["doc"] = attr.doc ? attr.doc : "";
  return row;
}

/// The axes of one operand or result: symbols by name, "*D" for any number of axes, None for anything else.
nb::list patternRow(const Signature &signature, llvm::ArrayRef<DimPattern> dims) {
  nb::list row;
  for (const DimPattern &dim : dims)
    if (dim.kind == DimPattern::Symbol || dim.kind == DimPattern::Star)
      row.append(std::string(dim.kind == DimPattern::Star ? "*" : "") + signature.symbols[dim.symbol]);
    else
      row.append(nb::none());
  return row;
}

/// The sharding rule: symbols that may be split, symbols that give partial sums, and the axes of operands and results.
nb::object shardingRow(const OpInfo &info) {
  if (info.sharding.splittable.empty() && info.sharding.partial.empty())
    return nb::none();
  const Signature &signature = *info.signature;
  auto names = [&](llvm::ArrayRef<uint8_t> symbols) {
    nb::list list;
    for (uint8_t symbol : symbols)
      list.append(signature.symbols[symbol]);
    return list;
  };
  auto patterns = [&](llvm::ArrayRef<OperandPattern> operands) {
    nb::list list;
    for (const OperandPattern &operand : operands) {
      nb::object guard = operand.guardAttr < 0 ? nb::none() : nb::object(nb::str(info.attrs[operand.guardAttr].name));
      list.append(
          nb::make_tuple(patternRow(signature, operand.dims), guard, patternRow(signature, operand.guardedDims)));
    }
    return list;
  };
  nb::dict row;
  row["split"] = names(info.sharding.splittable);
  row["partial"] = names(info.sharding.partial);
  row["operands"] = patterns(signature.operands);
  row["results"] = patterns(signature.results);
  return row;
}

nb::dict opRow(const OpInfo &info) {
  nb::dict row;
  nb::list operands, results, attrs;
  for (const OperandInfo &operand : info.operands)
    operands.append(nb::make_tuple(operand.name, int(operand.arity), int(operand.dtypes)));
  for (const ResultInfo &result : info.results)
    results.append(nb::make_tuple(result.name, result.hidden, int(result.dtypes)));
  for (const AttrInfo &attr : info.attrs)
    attrs.append(parameterRow(attr));
  row["name"] = info.name;
  row["opdef"] = info.opdefName;
  row["summary"] = info.summary;
  row["module"] = info.pythonModule;
  row["python"] = info.pythonName;
  row["version"] = int(info.version);
  row["lowering"] = int(info.lowering);
  row["has_gradient"] = info.gradient != nullptr;
  row["stochastic"] = info.stochastic;
  row["needs_sizes"] = info.needsSizes;
  row["signature"] = info.signature ? info.signature->text : "";
  row["sharding"] = shardingRow(info);
  row["operands"] = operands;
  row["results"] = results;
  row["attrs"] = attrs;
  return row;
}

nb::list opTable() {
  nb::list table;
  for (const OpInfo &info : allOps())
    table.append(opRow(info));
  return table;
}

void syncAll() { checkOrThrow(eager::sync()); }

} // namespace

void initRuntime(nb::module_ &module) {
  module.def("sync", &syncAll, "Waits for all queued work; raises the first error that nobody has seen.");
  module.def("set_num_threads", [](unsigned count) { checkOrThrow(runtime::setNumThreads(count)); });
  module.def("get_num_threads", &runtime::numThreads);
  module.def("set_async_level", [](int level) { checkOrThrow(eager::setAsyncLevel(level)); });
  module.def("get_async_level", &eager::asyncLevel);
  module.def("set_check_finite", &eager::setCheckFinite);
  module.def("get_check_finite", &eager::checksFinite);
  module.def("cache_stats", &cacheStats, "Counters of the operator cache and the compiler.");
  module.def("set_cache_limit", [](int64_t bytes) { eager::setOpCacheLimit(bytesOf("set_cache_limit", bytes)); });
  module.def("set_disk_cache", &setDiskCache);
  module.def("cached_classes", &eager::cachedClasses, "Classes of all compiled operators.");
  module.def("open_warm_set", [](const std::string &folder) { compiler::openWarmSet(folder); });
  module.def("write_warm_set", &writeWarmSet, "Compiles classes into a file for each level; how many fit.");
  module.def("warm_set_classes", &compiler::warmSetKeys, "Classes of the open warm set.");
  module.def("disk_cache", &diskCache, "Folder and limit in bytes.");
  module.def("queue_stats", &queueStats,
             "Commands that wait or run, the bytes that they hold, and the bounds of both.");
  module.def("memory_stats", &memoryStats, "Bytes of the allocator.");
  module.def("reset_peak_memory", [] { runtime::cpuAllocator().resetPeak(); });
  module.def("set_memory_limit", [](uint64_t bytes) { runtime::cpuAllocator().setLimit(bytes); });
  module.def("launch_count", &runtime::launchCount, "Kernels, library calls and copies since the start.");
  module.def("doctor", &doctorInfo, "Facts about this machine and build.");
  module.def("bits_changes", &bitsChanges,
             "(version, operators, dtypes, ulps, relative, why) of each change of the bits that builds compute.");
  module.def("op_table", &opTable, "One dict for each operator.");
  module.def("push_scope", [](const std::string &name) { eager::pushScope(name); });
  module.def("pop_scope", &eager::popScope);
  module.def("current_scope", &eager::currentScope);
}

} // namespace tess::python
