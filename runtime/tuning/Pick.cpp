//===- Pick.cpp - which kernel computes a call ----------------------------===//
#include "runtime/tuning/Pick.h"
#include "runtime/contract/Kernels.h"
#include "runtime/tuning/Measure.h"
#include "runtime/tuning/TimingTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace tess::runtime::tuning {

namespace {

/// A kernel that may compute the call, by its own name among them.
struct Candidate {
  PreparedRef kernel;
  std::string name;
};
using Candidates = std::vector<Candidate>;

/// By how much another kernel must be faster than the rule's: less is noise.
constexpr double kGain = 0.95;

std::string nameOf(const PreparedKernel &kernel, bool isSerial) {
  const std::string &name = kernel.implementation();
  std::string how = kernel.form();
  if (isSerial)
    how += how.empty() ? "1 thread" : ", 1 thread";
  return how.empty() ? name : name + " (" + how + ")";
}

/// Collects the kernels that may compute a request, the rule's first.
class Collector {
public:
  Collector(Device &device, const PrepareRequest &request, const KernelDef &def)
      : device(device), request(request), def(def) {}

  llvm::Expected<Candidates> run() {
    llvm::Expected<PreparedRef> rule = prepareKernel(device.kernels(), request);
    if (!rule)
      return rule.takeError();
    const bool mayMove = request.mayMoveBits && !(request.settings.strategy & Reproducible);
    add(*rule, false);
    for (const KernelVariant &variant : def.variants(request))
      if (isNew(variant, **rule) && (mayMove || variant.implementation == (*rule)->implementation()))
        if (llvm::Error error = prepare(variant))
          return std::move(error);
    return std::move(list);
  }

private:
  /// Whether the request may be answered so, and the rule's kernel is another one.
  bool isNew(const KernelVariant &variant, const PreparedKernel &rule) const {
    const bool isAsked = request.implementation.empty() || request.implementation == variant.implementation;
    const bool isRule = variant.implementation == rule.implementation() && variant.form == rule.form();
    return isAsked && !isRule && request.settings.allows(variant.implementation);
  }

  llvm::Error prepare(const KernelVariant &variant) {
    PrepareRequest own = request;
    own.implementation = variant.implementation;
    own.form = variant.form;
    llvm::Expected<PreparedRef> kernel = prepareKernel(device.kernels(), own);
    if (!kernel)
      return kernel.takeError();
    add(*kernel, false);
    return llvm::Error::success();
  }

  void add(const PreparedRef &kernel, bool isSerial) {
    list.push_back({kernel, nameOf(*kernel, isSerial)});
    if (isSerial || kernel->threads() == 1 || !request.settings.asksTimes())
      return;
    PrepareRequest own = request;
    own.implementation = kernel->implementation();
    own.form = kernel->form();
    own.threads = 1;
    if (llvm::Expected<PreparedRef> serial = prepareKernel(device.kernels(), own))
      add(*serial, true);
    else
      llvm::consumeError(serial.takeError());
  }

  Device &device;
  const PrepareRequest &request;
  const KernelDef &def;
  Candidates list;
};

/// Leaves out what needs more workspace than is allowed; where all do, the one that needs least stays.
bool leaveOutLarge(Candidates &candidates, uint64_t limit) {
  auto bytesOf = [](const Candidate &each) { return each.kernel->workspaceBytes(); };
  auto isLarge = [&](const Candidate &each) { return bytesOf(each) > limit; };
  if (llvm::none_of(candidates, isLarge))
    return false;
  auto least = llvm::min_element(candidates, [&](const auto &a, const auto &b) { return bytesOf(a) < bytesOf(b); });
  Candidate smallest = *least;
  llvm::erase_if(candidates, isLarge);
  if (candidates.empty())
    candidates.push_back(std::move(smallest));
  return true;
}

/// The text of a call in the table of timings: everything that moves times, and the kernels that there are.
std::string textOf(const PrepareRequest &request, const Candidates &candidates) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << request.op.serialize() << '|' << contract::highestLevel() << '|' << request.threads << '|';
  for (llvm::ArrayRef<TensorMeta> metas : {request.inputs, request.outputs})
    for (const TensorMeta &meta : metas)
      out << toString(meta) << ' ';
  for (llvm::StringRef packing : request.inputPackings)
    out << llvm::xxh3_64bits(packing) << ' ';
  out << request.outputPacking;
  for (const Candidate &each : candidates)
    out << '|' << each.name;
  return text;
}

/// The fastest candidate; the first one unless another takes clearly less.
llvm::Expected<Pick> fastest(Device &device, const PrepareRequest &request, const Candidates &candidates,
                             llvm::StringRef text) {
  std::vector<PreparedRef> kernels;
  for (const Candidate &each : candidates)
    kernels.push_back(each.kernel);
  llvm::Expected<std::vector<double>> times = measure(device, request, kernels);
  if (!times)
    return times.takeError();
  size_t best = size_t(llvm::min_element(*times) - times->begin());
  best = (*times)[best] < (*times)[0] * kGain ? best : 0;
  TimingTable::global().insert(text, {candidates[best].name, (*times)[best]});
  return Pick{kernels[best], Reason::Measured, unsigned(kernels.size()), (*times)[best]};
}

/// The candidate that times say, remembered or measured now; without times, or without memory to measure, the first.
Pick byTimes(Device &device, const PrepareRequest &request, const Candidates &candidates, Pick first) {
  const std::string text = textOf(request, candidates);
  if (std::optional<Timing> known = TimingTable::global().find(text)) {
    auto found = llvm::find_if(candidates, [&](const Candidate &each) { return each.name == known->kernel; });
    if (found != candidates.end())
      return {found->kernel, Reason::Remembered, first.candidates, known->microseconds};
  }
  if (!request.settings.measures())
    return first;
  llvm::Expected<Pick> pick = fastest(device, request, candidates, text);
  if (pick)
    return std::move(*pick);
  llvm::consumeError(pick.takeError());
  return first;
}

} // namespace

llvm::Expected<Pick> pickKernel(Device &device, const PrepareRequest &request) {
  const KernelSettings &settings = request.settings;
  const char *name = request.op.info().kernel;
  const KernelDef *def = name ? findKernel(device.kernels(), name) : nullptr;
  if (settings.areRules() || !def || !def->variants || !device.hostAccessible()) {
    llvm::Expected<PreparedRef> kernel = prepareKernel(device.kernels(), request);
    if (!kernel)
      return kernel.takeError();
    return Pick{std::move(*kernel), settings.areRules() ? Reason::Rule : Reason::Alone};
  }
  llvm::Expected<Candidates> candidates = Collector(device, request, *def).run();
  if (!candidates)
    return candidates.takeError();
  const bool isCut = leaveOutLarge(*candidates, settings.workspaceLimit);
  Pick first{candidates->front().kernel, isCut ? Reason::Limit : Reason::Rule, unsigned(candidates->size())};
  if (candidates->size() == 1) {
    first.reason = isCut ? Reason::Limit : Reason::Alone;
    return first;
  }
  return settings.asksTimes() ? byTimes(device, request, *candidates, std::move(first)) : std::move(first);
}

std::string describe(const Pick &pick) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const PreparedKernel &kernel = *pick.kernel;
  out << kernel.implementation();
  if (!kernel.form().empty())
    out << " (" << kernel.form() << ")";
  out << (kernel.threads() == 1 ? ", 1 thread" : ", " + std::to_string(kernel.threads()) + " threads");
  switch (pick.reason) {
  case Reason::Rule:
    out << ", by the rule";
    break;
  case Reason::Alone:
    out << ", nothing else to choose from";
    break;
  case Reason::Limit:
    out << ", by the limit of workspace";
    break;
  case Reason::Remembered:
  case Reason::Measured:
    out << ", fastest of " << pick.candidates << llvm::format(": %.1f us", pick.microseconds)
        << (pick.reason == Reason::Remembered ? ", remembered" : "");
    break;
  }
  return text;
}

} // namespace tess::runtime::tuning
