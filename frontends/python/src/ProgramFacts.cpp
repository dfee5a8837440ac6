//===- ProgramFacts.cpp - programs in numbers, for Python -----------------===//
#include "frontends/python/src/ProgramFacts.h"

#include "frontends/python/src/Errors.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>

namespace tess::python {

nb::dict memoryOf(eager::TracedProgram &program) {
  runtime::MemoryEstimate estimate = program.memory();
  nb::dict bytes;
  bytes["arena"] = estimate.arena;
  bytes["outputs"] = estimate.outputs;
  bytes["constants"] = estimate.constants;
  bytes["rounding"] = estimate.rounding;
  bytes["saved_per_trip"] = estimate.savedPerTrip;
  return bytes;
}

std::string accountOf(eager::TracedProgram &program, bool withBoundaries) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(valueOrThrow(program.account(withBoundaries)));
  return text;
}

nb::object fittedOf(const eager::TracedProgram &program) {
  const eager::TracedProgram::Fitting *fitting = program.fitted();
  if (!fitting)
    return nb::none();
  nb::list again;
  for (const compiler::Repetition &each : fitting->schedule.repetitions)
    again.append(nb::make_tuple(each.operators, each.location, each.bytes));
  nb::dict facts;
  facts["limit"] = fitting->limit.bytes;
  facts["plain"] = fitting->plain;
  facts["taken"] = fitting->taken;
  facts["is_kept"] = fitting->isKept();
  facts["time_factor"] = fitting->timeFactor();
  facts["again"] = again;
  return facts;
}

} // namespace tess::python
