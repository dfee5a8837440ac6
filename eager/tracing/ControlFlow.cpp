//===- ControlFlow.cpp - branches and loops of user's functions -----------===//
#include "eager/tracing/ControlFlow.h"

#include "eager/gradients/Recomputation.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/GraphValue.h"
#include "eager/stack/Tracer.h"
#include "eager/tracing/BodyRecording.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::eager {

// Of a loop that is recorded trip by trip; compiling takes some tenths of a millisecond for each.
static constexpr int64_t kMostRecordedTrips = 256;

static Metas metasOf(llvm::ArrayRef<TensorRef> tensors) {
  Metas metas;
  for (const TensorRef &tensor : tensors)
    metas.push_back(tensor->meta());
  return metas;
}

/// A trip gives back what it was given, as a recorded one must.
static llvm::Error checkCarried(llvm::ArrayRef<TensorRef> before, llvm::ArrayRef<TensorRef> after, llvm::StringRef name,
                                llvm::StringRef body) {
  if (before.size() != after.size())
    return makeError(ErrorCode::TypeMismatch, name + ": " + body +
                                                  " must return as many carried values as it takes, got " +
                                                  llvm::Twine(after.size()) + " for " + llvm::Twine(before.size()));
  return control::checkCarried(metasOf(before), metasOf(after), name, body);
}

static llvm::Error checkPred(const TensorImpl &pred, llvm::StringRef name, llvm::StringRef what) {
  if (!isBool(pred.dtype()))
    return makeError(ErrorCode::TypeMismatch,
                     name + ": " + what + " must be a bool tensor, got " + toString(pred.meta()));
  if (pred.rank())
    return invalidArgument(name + ": " + what + " must have rank 0, got " + toString(pred.meta()));
  return llvm::Error::success();
}

/// Whether a bool holds; a recording in which that is asked holds for this call only.
static llvm::Expected<bool> isTrue(const TensorRef &pred) {
  bool answer = false;
  Recorder *recorder = Recorder::current();
  if (!recorder) {
    if (llvm::Error error = readValue(*pred, &answer))
      return std::move(error);
    return answer;
  }
  llvm::Expected<TensorRef> number = applyOne(builtin::Cast(DType::Int32), {Operand(pred)});
  if (!number)
    return number.takeError();
  auto values = recorder->readSizes(**number);
  if (!values)
    return values.takeError();
  int64_t value = values->front();
  if (sizes::dependsOnData(value))
    recorder->noteDataRead();
  return sizes::substitute(value, [&](uint32_t symbol) { return recorder->sizeOf(symbol); }) != 0;
}

namespace {

/// A function that becomes the body of a loop, and the loop.
class LoopBody {
public:
  /// A function of arguments for the carried values and for elements of the xs; all its outputs.
  using Function = llvm::function_ref<llvm::Expected<Tensors>(llvm::ArrayRef<TensorRef> arguments)>;

  LoopBody(llvm::ArrayRef<TensorRef> carried, llvm::ArrayRef<TensorRef> xs, const control::ScanOrder &order)
      : call{carried, xs, order} {}
  /// False when no body does what the function did, which must run instead: it looked at a size that data decides.
  llvm::Expected<bool> record(Function function);
  /// What the function returned, as tensors without values.
  llvm::ArrayRef<TensorRef> outputs() const { return made; }
  llvm::Expected<Tensors> apply() const { return body->apply(call); }
  llvm::Expected<Tensors> apply(llvm::ArrayRef<TensorRef> unread) const {
    return body->apply({call.carried, call.xs, call.order, unread});
  }
  llvm::Expected<Tensors> zeros() const { return body->zeros(call); }

private:
  /// The outcome for an error of the recording; within no recording it is one of the user's.
  static llvm::Expected<bool> failed(llvm::Error error, bool mustRun) {
    if (!mustRun || !Recorder::current())
      return std::move(error);
    auto [code, message] = takeError(std::move(error));
    if (code == ErrorCode::Internal)
      return makeError(code, message);
    return false;
  }

  ScanCall call;
  std::unique_ptr<BodyRecording> body;
  Tensors made;
};

} // namespace

llvm::Expected<bool> LoopBody::record(Function function) {
  if (llvm::Error error = BodyRecording::begin(call).moveInto(body))
    return std::move(error);
  if (llvm::Error error = function(body->arguments()).moveInto(made)) {
    bool mustRun = body->mustRun();
    body.reset();
    return failed(std::move(error), mustRun);
  }
  body->end(made);
  if (llvm::Error error = body->check(call, numTapes() != 0)) {
    body.reset();
    return failed(std::move(error), /*mustRun=*/true);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace {

/// One call of scan.
class ScanLoop {
public:
  ScanLoop(StepFunction step, llvm::ArrayRef<TensorRef> carried, llvm::ArrayRef<TensorRef> xs,
           const control::ScanOrder &order)
      : step(step), carried(carried), xs(xs), order(order) {}
  /// As one operator; trip by trip where no operator does what a step did.
  llvm::Expected<TripValues> write();
  /// As a loop of the language.
  llvm::Expected<TripValues> run();

private:
  llvm::Expected<TripValues> applyStep(llvm::ArrayRef<TensorRef> now, llvm::ArrayRef<TensorRef> elements) const;
  llvm::Expected<bool> recordStep(LoopBody &body) const;
  llvm::Expected<int64_t> numTrips() const;
  llvm::Expected<std::vector<TripElements>> elements() const;
  llvm::Expected<Tensors> runTrips(llvm::ArrayRef<TensorRef> first, int64_t trips, std::vector<Tensors> &stacks) const;
  llvm::Expected<Tensors> stackAll(llvm::ArrayRef<Tensors> stacks) const;
  llvm::Expected<Tensors> stackNothing() const;

  StepFunction step;
  llvm::ArrayRef<TensorRef> carried, xs;
  control::ScanOrder order;
};

} // namespace

llvm::Expected<TripValues> ScanLoop::applyStep(llvm::ArrayRef<TensorRef> now,
                                               llvm::ArrayRef<TensorRef> elements) const {
  llvm::Expected<TripValues> values = step(now, elements);
  if (values)
    if (llvm::Error error = checkCarried(carried, values->carried, "scan", "step"))
      return std::move(error);
  return values;
}

llvm::Expected<bool> ScanLoop::recordStep(LoopBody &body) const {
  return body.record([&](llvm::ArrayRef<TensorRef> arguments) -> llvm::Expected<Tensors> {
    llvm::Expected<TripValues> values =
        applyStep(arguments.take_front(carried.size()), arguments.drop_front(carried.size()));
    if (!values)
      return values.takeError();
    Tensors all = std::move(values->carried);
    llvm::append_range(all, values->stacked);
    return all;
  });
}

llvm::Expected<TripValues> ScanLoop::write() {
  LoopBody body(carried, xs, order);
  llvm::Expected<bool> isRecorded = recordStep(body);
  if (!isRecorded)
    return isRecorded.takeError();
  if (*isRecorded) {
    llvm::Expected<Tensors> results = body.apply();
    if (!results)
      return results.takeError();
    return TripValues{Tensors(llvm::ArrayRef(*results).take_front(carried.size())),
                      Tensors(llvm::ArrayRef(*results).drop_front(carried.size()))};
  }
  llvm::Expected<int64_t> trips = numTrips();
  if (!trips)
    return trips.takeError();
  if (*trips > kMostRecordedTrips)
    Recorder::current()->noteDataRead(); // the function runs eagerly
  return run();
}

/// How many trips there are; a recording holds for this number only.
llvm::Expected<int64_t> ScanLoop::numTrips() const {
  if (Recorder *recorder = Recorder::current())
    for (const TensorRef &x : xs)
      if (x->rank() && sizes::dependsOnData(recordedShape(*x).front()))
        recorder->noteDataRead();
  return control::numTrips(control::scan({}, 0, 0, order), metasOf(xs));
}

llvm::Expected<std::vector<TripElements>> ScanLoop::elements() const {
  std::vector<TripElements> list;
  for (const TensorRef &x : xs) {
    llvm::Expected<TripElements> elements = TripElements::of(x);
    if (!elements)
      return elements.takeError();
    list.push_back(std::move(*elements));
  }
  return list;
}

/// The carried values after all trips; `stacks` get what each trip gave, by result.
llvm::Expected<Tensors> ScanLoop::runTrips(llvm::ArrayRef<TensorRef> first, int64_t count,
                                           std::vector<Tensors> &stacks) const {
  llvm::Expected<std::vector<TripElements>> all = elements();
  if (!all)
    return all.takeError();
  Tensors now(first);
  for (int64_t trip = 0; trip < count; ++trip) {
    Tensors taken;
    for (const TripElements &each : *all)
      if (llvm::Error error = each[order.reverse ? count - 1 - trip : trip].moveInto(taken.emplace_back()))
        return std::move(error);
    llvm::Expected<TripValues> made = applyStep(now, taken);
    if (!made)
      return made.takeError();
    llvm::Expected<Tensors> ys = Tensors();
    if (llvm::Error error = apart(made->carried).moveInto(now))
      return std::move(error);
    if (llvm::Error error = apart(made->stacked).moveInto(*ys))
      return std::move(error);
    if (trip && ys->size() != stacks.size())
      return invalidArgument("scan: step must return as many ys in each trip, got " + llvm::Twine(stacks.size()) +
                             " and " + llvm::Twine(ys->size()));
    stacks.resize(ys->size());
    for (auto [stack, y] : llvm::zip_equal(stacks, *ys))
      stack.push_back(y);
  }
  return now;
}

llvm::Expected<Tensors> ScanLoop::stackAll(llvm::ArrayRef<Tensors> stacks) const {
  Tensors stacked;
  for (Tensors stack : stacks) {
    if (order.reverse)
      std::reverse(stack.begin(), stack.end());
    if (llvm::Error error = stackTrips(stack).moveInto(stacked.emplace_back()))
      return std::move(error);
  }
  return stacked;
}

/// What a loop without trips stacks: what a trip would give is known by inference.
llvm::Expected<Tensors> ScanLoop::stackNothing() const {
  LoopBody body(carried, xs, order);
  llvm::Expected<bool> isRecorded = recordStep(body);
  if (!isRecorded)
    return isRecorded.takeError();
  if (!*isRecorded)
    return invalidArgument("scan: sizes that data decides must not be looked at by a step that is not applied, got "
                           "one in a loop without trips");
  Tensors nothing;
  for (const TensorRef &output : body.outputs().drop_front(carried.size())) {
    TensorMeta meta = control::stacked(output->meta(), 0);
    llvm::Expected<TensorRef> none = TensorImpl::allocate(meta.dtype, meta.shape, output->storage().device());
    if (llvm::Error error = std::move(none).moveInto(nothing.emplace_back()))
      return std::move(error);
  }
  return nothing;
}

llvm::Expected<TripValues> ScanLoop::run() {
  llvm::Expected<int64_t> count = numTrips();
  if (!count)
    return count.takeError();
  Trips trips;
  llvm::Expected<Tensors> first = trips.begin(carried);
  if (!first)
    return first.takeError();
  TripValues values;
  std::vector<Tensors> stacks;
  if (llvm::Error error = runTrips(*first, *count, stacks).moveInto(values.carried))
    return std::move(error);
  if (llvm::Error error = (*count ? stackAll(stacks) : stackNothing()).moveInto(values.stacked))
    return std::move(error);
  return trips.end(std::move(values));
}

llvm::Expected<TripValues> scan(StepFunction step, llvm::ArrayRef<TensorRef> carried, llvm::ArrayRef<TensorRef> xs,
                                std::optional<int64_t> length, bool reverse) {
  ScanLoop loop(step, carried, xs, {length, reverse});
  return isWrittenDown(carried) || isWrittenDown(xs) ? loop.write() : loop.run();
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

/// A branch as a loop of one trip where `pred` holds; false when it must run.
static llvm::Expected<bool> recordBranch(LoopBody &body, BranchFunction branch) {
  return body.record([&](llvm::ArrayRef<TensorRef> arguments) -> llvm::Expected<Tensors> {
    llvm::Expected<Tensors> results = branch();
    if (results)
      results->insert(results->begin(), arguments.front());
    return results;
  });
}

static llvm::Error checkBranches(llvm::ArrayRef<TensorRef> then, llvm::ArrayRef<TensorRef> otherwise) {
  Metas metas[] = {metasOf(then.drop_front()), metasOf(otherwise.drop_front())};
  if (metas[0] == metas[1])
    return llvm::Error::success();
  auto text = [](const Metas &list) {
    return "[" + llvm::join(llvm::map_range(list, [](const TensorMeta &meta) { return toString(meta); }), ", ") + "]";
  };
  return invalidArgument("cond: both branches must return the same dtypes and shapes, got " + text(metas[0]) + " and " +
                         text(metas[1]));
}

/// Both branches, one after the other: the one that is not taken leaves the results alone.
static llvm::Expected<Tensors> applyBranches(llvm::ArrayRef<const LoopBody *> branches) {
  llvm::Expected<Tensors> results = branches.front()->zeros();
  for (const LoopBody *branch : branches) {
    if (!results)
      return results;
    results = branch->apply(*results);
    if (results)
      results->erase(results->begin()); // the predicate
  }
  return results;
}

llvm::Expected<Tensors> cond(const TensorRef &pred, BranchFunction then, BranchFunction otherwise) {
  if (llvm::Error error = checkPred(*pred, "cond", "pred"))
    return std::move(error);
  if (isWrittenDown(*pred)) {
    llvm::Expected<TensorRef> opposite = applyOne(builtin::LogicalNot(), {Operand(pred)});
    if (!opposite)
      return opposite.takeError();
    control::ScanOrder once{1, /*reverse=*/false, /*isGuarded=*/true};
    LoopBody one(llvm::ArrayRef(pred), {}, once), other(llvm::ArrayRef(*opposite), {}, once);
    llvm::Expected<bool> isRecorded = recordBranch(one, then);
    if (isRecorded && *isRecorded)
      isRecorded = recordBranch(other, otherwise);
    if (!isRecorded)
      return isRecorded.takeError();
    if (*isRecorded) {
      if (llvm::Error error = checkBranches(one.outputs(), other.outputs()))
        return std::move(error);
      return applyBranches({&one, &other});
    }
  }
  llvm::Expected<bool> holds = isTrue(pred);
  if (!holds)
    return holds.takeError();
  Trips once;
  llvm::Expected<Tensors> results = *holds ? then() : otherwise();
  if (!results)
    return results;
  llvm::Expected<TripValues> values = once.end({{}, std::move(*results)});
  if (!values)
    return values.takeError();
  return std::move(values->stacked);
}

//===----------------------------------------------------------------------===//
// while_loop
//===----------------------------------------------------------------------===//

namespace {

/// One call of while_loop.
class WhileLoop {
public:
  WhileLoop(PredicateFunction predicate, TripFunction body, llvm::ArrayRef<TensorRef> carried, int64_t limit)
      : predicate(predicate), body(body), carried(carried), limit(limit) {}
  /// As an operator; nothing when the loop must run.
  llvm::Expected<std::optional<Tensors>> write() const;
  /// As a loop of the language.
  llvm::Expected<Tensors> run() const;

private:
  llvm::Expected<TensorRef> holds(llvm::ArrayRef<TensorRef> values) const {
    llvm::Expected<TensorRef> pred = predicate(values);
    if (pred)
      if (llvm::Error error = checkPred(**pred, "while_loop", "the result of cond"))
        return std::move(error);
    return pred;
  }
  llvm::Expected<Tensors> following(llvm::ArrayRef<TensorRef> values) const {
    llvm::Expected<Tensors> made = body(values);
    if (made)
      if (llvm::Error error = checkCarried(values, *made, "while_loop", "body"))
        return std::move(error);
    return made;
  }
  llvm::Expected<Tensors> countedTrip(llvm::ArrayRef<TensorRef> arguments) const;

  PredicateFunction predicate;
  TripFunction body;
  llvm::ArrayRef<TensorRef> carried;
  int64_t limit;
};

} // namespace

/// The guard, the number of trips made and one more where the predicate holds, and the values.
llvm::Expected<Tensors> WhileLoop::countedTrip(llvm::ArrayRef<TensorRef> arguments) const {
  llvm::Expected<Tensors> made = following(arguments.drop_front());
  if (!made)
    return made;
  llvm::Expected<TensorRef> pred = holds(*made);
  if (!pred)
    return pred.takeError();
  llvm::Expected<TensorRef> trips = applyOne(builtin::Add(), {Operand(arguments.front()), Operand(*pred)});
  if (!trips)
    return trips.takeError();
  made->insert(made->begin(), std::move(*trips));
  return made;
}

llvm::Expected<std::optional<Tensors>> WhileLoop::write() const {
  llvm::Expected<TensorRef> pred = holds(carried);
  if (!pred)
    return pred.takeError();
  llvm::Expected<TensorRef> start = applyOne(builtin::Cast(DType::Int64), {Operand(*pred)});
  if (!start)
    return start.takeError();
  Tensors guarded = {std::move(*start)};
  llvm::append_range(guarded, carried);
  LoopBody loop(guarded, {}, {limit, /*reverse=*/false, /*isGuarded=*/true});
  llvm::Expected<bool> isRecorded =
      loop.record([&](llvm::ArrayRef<TensorRef> arguments) { return countedTrip(arguments); });
  if (!isRecorded)
    return isRecorded.takeError();
  if (!*isRecorded)
    return std::nullopt;
  llvm::Expected<Tensors> results = loop.apply();
  if (!results)
    return results.takeError();
  results->erase(results->begin()); // the guard
  return std::optional(std::move(*results));
}

llvm::Expected<Tensors> WhileLoop::run() const {
  Trips trips;
  llvm::Expected<Tensors> values = trips.begin(carried);
  for (int64_t done = 0; values && done < limit; ++done) {
    llvm::Expected<TensorRef> pred = holds(*values);
    if (!pred)
      return pred.takeError();
    llvm::Expected<bool> goesOn = isTrue(*pred);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      break;
    llvm::Expected<Tensors> made = following(*values);
    values = made ? apart(*made) : std::move(made);
  }
  if (!values)
    return values;
  llvm::Expected<TripValues> results = trips.end({std::move(*values), {}});
  if (!results)
    return results.takeError();
  return std::move(results->carried);
}

llvm::Expected<Tensors> whileLoop(PredicateFunction holds, TripFunction body, llvm::ArrayRef<TensorRef> carried,
                                  std::optional<int64_t> maxTrips) {
  if (maxTrips && *maxTrips < 0)
    return invalidArgument("while_loop: max_trips must be at least 0, got " + llvm::Twine(*maxTrips));
  WhileLoop loop(holds, body, carried, maxTrips.value_or(control::kManyTrips));
  if (!isWrittenDown(carried))
    return loop.run();
  llvm::Expected<std::optional<Tensors>> written = loop.write();
  if (!written)
    return written.takeError();
  return *written ? std::move(**written) : loop.run();
}

} // namespace tess::eager
