//===- ProcessSettings.cpp - threads, limits, caches, files, scopes -------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

#include "compiler/Compile.h"
#include "compiler/cache/ExecutableCache.h"
#include "eager/classes/OpCache.h"
#include "eager/classes/WarmSetWriter.h"
#include "eager/layers/CheckFinite.h"
#include "eager/layers/CheckOperands.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Autocast.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/KeptCalls.h"
#include "runtime/contract/Kernels.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/KernelTable.h"
#include "runtime/schema/AtomicFile.h"
#include "runtime/threads/ParallelFor.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

namespace {

/// A limit given in Python; `what` opens the message of the error.
uint64_t bytesOf(const char *what, int64_t bytes) {
  if (bytes < 0)
    throwError(invalidArgument(llvm::Twine(what) + ": bytes must be at least 0, got " + llvm::Twine(bytes)));
  return uint64_t(bytes);
}

void setDiskCache(const std::string &folder, int64_t bytes) {
  compiler::setObjectCache(folder, bytesOf("set_disk_cache", bytes));
}

void replaceFile(const std::string &path, const nb::callable &write) {
  runtime::AtomicFile file(path);
  checkOrThrow(file.create());
  write(file.descriptor());
  llvm::Error error = [&] {
    nb::gil_scoped_release release; // it waits for the disk
    return file.commit();
  }();
  checkOrThrow(std::move(error));
}

size_t writeWarmSet(const std::string &folder, const std::vector<std::string> &levels,
                    const std::vector<std::string> &classes, uint64_t maxBytes) {
  return valueOrThrow(eager::writeWarmSet(folder, levels, classes, maxBytes));
}

nb::tuple diskCache() {
  auto [folder, bytes] = compiler::objectCacheSettings();
  return nb::make_tuple(folder, bytes);
}

/// (on, low dtype, high dtype) by NumPy's names.
nb::tuple tupleOf(const eager::Autocast &cast) {
  return nb::make_tuple(cast.isOn, std::string(numpyName(cast.low)), std::string(numpyName(cast.high)));
}

/// The dtype, which must be one of two.
DType castDType(const char *name, nb::handle given, DType one, DType other) {
  std::optional<DType> dtype = valueOrThrow(toDType(given.ptr()));
  if (dtype != one && dtype != other)
    throwError(invalidArgument(llvm::Twine("autocast: ") + name + " must be " + numpyName(one) + " or " +
                               numpyName(other) + ", got " + (dtype ? numpyName(*dtype) : "None")));
  return *dtype;
}

nb::tuple autocastOf(bool isOn, nb::handle low, nb::handle high) {
  return tupleOf({isOn, castDType("low_prec_dtype", low, DType::Float16, DType::BFloat16),
                  castDType("high_prec_dtype", high, DType::Float32, DType::Float64)});
}

nb::tuple swapAutocast(const nb::tuple &given) {
  nb::tuple former = tupleOf(eager::autocast());
  eager::setAutocast({nb::cast<bool>(given[0]), *valueOrThrow(toDType(nb::object(given[1]).ptr())),
                      *valueOrThrow(toDType(nb::object(given[2]).ptr()))});
  return former;
}

/// Kernels that were prepared for another level go.
void setProductLevel(const std::string &level) {
  checkOrThrow(runtime::contract::limitLevel(level));
  const uint64_t limit = runtime::preparedCacheStats().limit;
  runtime::setPreparedCacheLimit(0);
  runtime::setPreparedCacheLimit(limit);
}

void syncAll() { checkOrThrow(eager::sync()); }

} // namespace

void initProcessSettings(nb::module_ &module) {
  module.def("autocast_of", &autocastOf, nb::arg("enabled"), nb::arg("low"), nb::arg("high"),
             "Whether operators are cast, and the dtypes, checked, by NumPy's names.");
  module.def("autocast", [] { return tupleOf(eager::autocast()); }, "What autocast_of gave for this thread.");
  module.def("swap_autocast", &swapAutocast, nb::arg("state"), "Sets it for this thread; what it was.");
  module.def("sync", &syncAll, "Waits for all queued work; raises the first error that nobody has seen.");
  module.def("set_num_threads", [](unsigned count) { checkOrThrow(runtime::setNumThreads(count)); });
  module.def("get_num_threads", &runtime::numThreads);
  module.def("set_product_level", &setProductLevel, "Has products bound from now on use no level above this one.");
  module.def("get_product_level", [] { return runtime::contract::highestLevel().str(); });
  module.def("set_async_level", [](int level) { checkOrThrow(eager::setAsyncLevel(level)); });
  module.def("get_async_level", &eager::asyncLevel);
  module.def("set_check_finite", &eager::setCheckFinite);
  module.def("get_check_finite", &eager::checksFinite);
  module.def("set_check_operands", &eager::setCheckOperands);
  module.def("get_check_operands", &eager::checksOperands);
  module.def("set_cache_limit", [](int64_t bytes) { eager::setOpCacheLimit(bytesOf("set_cache_limit", bytes)); });
  module.def("set_trace_limit", [](int64_t bytes) { eager::setTraceLimit(bytesOf("set_trace_limit", bytes)); });
  module.def("get_trace_limit", &eager::traceLimit);
  module.def("trace_bytes", &eager::traceBytes, "Bytes that traces keep.");
  module.def("set_disk_cache", &setDiskCache);
  module.def("cached_classes", &eager::cachedClasses, "Classes of all compiled operators.");
  module.def("open_warm_set", [](const std::string &folder) { compiler::openWarmSet(folder); });
  module.def("write_warm_set", &writeWarmSet, "Compiles classes into a file for each level; how many fit.");
  module.def("warm_set_classes", &compiler::warmSetKeys, "Classes of the open warm set.");
  module.def("disk_cache", &diskCache, "Folder and limit in bytes.");
  module.def("replace_file", &replaceFile,
             "Replaces the file by what write(descriptor) writes; where that raises, the file stays as it was.");
  module.def("push_scope", [](const std::string &name) { eager::pushScope(name); });
  module.def("pop_scope", &eager::popScope);
  module.def("current_scope", &eager::currentScope);
}

} // namespace tess::python
