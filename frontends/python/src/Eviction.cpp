//===- Eviction.cpp - tensors that are dropped; what holds memory ---------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/eviction/Eviction.h"
#include "runtime/Devices.h"
#include "runtime/device/Allocator.h"
#include "llvm/ADT/DenseSet.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

static nb::dict evictionStats() {
  const eager::eviction::Stats now = eager::eviction::stats();
  nb::dict stats;
  stats["evictions"] = now.evictions;
  stats["recomputations"] = now.recomputations;
  stats["evicted_bytes"] = now.evictedBytes;
  stats["evicted_now"] = now.evictedNow;
  return stats;
}

static bool drop(const nb::object &tensor) {
  if (!isTensor(tensor.ptr()))
    throwError(makeError(ErrorCode::TypeMismatch, "drop: tensor must be a Tensor, got another object"));
  return valueOrThrow(eager::eviction::drop(implOf(tensor.ptr()).storage()));
}

/// Bytes of the memory of tensors on a device, by list; memory that came before does not count again.
static std::vector<uint64_t> heldBytes(const std::string &name, const std::vector<nb::list> &lists) {
  const runtime::Device &device = *valueOrThrow(runtime::findDevice(name, "held_bytes"));
  llvm::DenseSet<const eager::Storage *> seen;
  std::vector<uint64_t> sums;
  for (const nb::list &list : lists) {
    uint64_t &sum = sums.emplace_back(0);
    for (nb::handle each : list) {
      const eager::Storage &storage = implOf(each.ptr()).storage();
      if (&storage.device() == &device && !storage.isForeign() && !storage.isEvicted() && seen.insert(&storage).second)
        sum += uint64_t(storage.bytes());
    }
  }
  return sums;
}

void initEviction(nb::module_ &module) {
  module.def(
      "set_eviction",
      [](uint64_t threshold, int64_t leastBytes, bool samples) {
        eager::eviction::set({threshold, leastBytes, samples});
      },
      nb::arg("threshold"), nb::arg("least_bytes"), nb::arg("samples"));
  module.def("enable_eviction", &eager::eviction::enable);
  module.def("disable_eviction", &eager::eviction::disable);
  module.def("drop_value", &drop, nb::arg("tensor"), "Whether the value of the tensor is evicted now.");
  module.def("held_bytes", &heldBytes, nb::arg("device"), nb::arg("lists"), "Bytes of the tensors of each list.");
  module.def(
      "fail_allocation",
      [](const std::string &name, std::optional<uint64_t> skipped) {
        valueOrThrow(runtime::findDevice(name, "fail_allocation"))->allocator().failRequest(skipped);
      },
      nb::arg("device"), nb::arg("skipped").none(),
      "The request after the next `skipped` ones finds no memory, once; None: no request fails.");
  module.def("eviction_stats", &evictionStats, "Counts of evictions and recomputations.");
}

} // namespace tess::python
