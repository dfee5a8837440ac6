//===- Grad.cpp - tapes for Python ---------------------------------------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/gradients/Recomputation.h"

namespace tess::python {

using namespace eager;

namespace {

/// The tensors of a Python sequence; None becomes null if `allowNone`.
llvm::SmallVector<TensorRef, 4> tensorsOf(nb::handle sequence, const char *what, bool allowNone = false) {
  llvm::SmallVector<TensorRef, 4> tensors;
  for (nb::handle item : nb::borrow<nb::iterable>(sequence)) {
    if (allowNone && item.is_none()) {
      tensors.push_back(TensorRef());
      continue;
    }
    if (!isTensor(item.ptr()))
      throw nb::type_error((std::string(what) + ": items must be Tensor, got " + describeObject(item.ptr())).c_str());
    tensors.push_back(TensorRef(&implOf(item.ptr())));
  }
  return tensors;
}

nb::list listOf(llvm::ArrayRef<TensorRef> tensors) {
  nb::list list;
  for (const TensorRef &tensor : tensors)
    list.append(tensor ? nb::steal(wrap(tensor)) : nb::none());
  return list;
}

/// The recording of one GradManager.
class GradState {
public:
  void attach(nb::handle tensors) {
    for (const TensorRef &tensor : tensorsOf(tensors, "attach"))
      tape->watch(*tensor);
  }
  void record(const GradState *beside) { tape->start(beside ? beside->tape.get() : nullptr); }
  void release() {
    tape->stop();
    tape->clear();
  }
  bool tracksAny(nb::handle tensors) {
    return llvm::any_of(tensorsOf(tensors, "tracks_any"),
                        [&](const TensorRef &tensor) { return tape->tracks(*tensor); });
  }
  bool hasValueOfThen(nb::handle tensor) {
    return llvm::all_of(tensorsOf(nb::make_tuple(tensor), "has_value_of_then"),
                        [&](const TensorRef &each) { return tape->isUnwritten(*each); });
  }
  void addHook(nb::handle tensor, nb::handle hook);
  nb::list backward(nb::handle ys, nb::handle dys) {
    auto outputs = tensorsOf(ys, "backward");
    llvm::SmallVector<TensorRef, 4> seeds;
    if (!dys.is_none())
      seeds = tensorsOf(dys, "backward", true);
    if (!seeds.empty() && seeds.size() != outputs.size())
      throwError(invalidArgument("backward: there must be one dy for each y, got " + llvm::Twine(outputs.size()) +
                                 " and " + llvm::Twine(seeds.size())));
    return listOf(valueOrThrow(tape->backward(outputs, seeds)));
  }

private:
  TapeRef tape = Tape::create();
};

/// A Python callable as a gradient. Tapes may destroy it on any thread.
struct Callable {
  explicit Callable(nb::handle function) : function(function.inc_ref().ptr()) {}
  ~Callable() {
    if (!Py_IsInitialized())
      return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(function);
  }
  PyObject *function;
};

/// Checks that a function of the user gave a gradient of the meta that it is for.
llvm::Error checkGrad(const char *what, const TensorImpl &grad, const TensorMeta &meta) {
  if (grad.hasMeta(meta))
    return llvm::Error::success();
  return invalidArgument(llvm::Twine(what) + " must have the shape and dtype " + toString(meta) + ", got " +
                         toString(grad.meta()));
}

/// Calls the hook with a gradient; None in return leaves it as it is.
GradHook hookOf(nb::handle hook) {
  auto callable = std::make_shared<Callable>(hook);
  return [callable](TensorRef grad) -> llvm::Expected<TensorRef> {
    nb::gil_scoped_acquire gil;
    nb::object given = nb::steal(wrap(grad));
    nb::object result = nb::steal(PyObject_CallOneArg(callable->function, given.ptr()));
    if (!result)
      return takePythonError();
    if (result.is_none())
      return std::move(grad);
    if (!isTensor(result.ptr()))
      return makeError(ErrorCode::TypeMismatch,
                       "register_hook: a hook must return a Tensor or None, got " + describeObject(result.ptr()));
    if (llvm::Error e =
            checkGrad("register_hook: the gradient that a hook returns", implOf(result.ptr()), grad->meta()))
      return std::move(e);
    return TensorRef(&implOf(result.ptr()));
  };
}

void GradState::addHook(nb::handle tensor, nb::handle hook) {
  for (const TensorRef &each : tensorsOf(nb::make_tuple(tensor), "register_hook"))
    tape->addHook(*each, hookOf(hook), hook.ptr());
}

/// While alive, the tape that started last records nothing; those before it do, which differentiate its gradient.
class InnermostHidden {
public:
  InnermostHidden() {
    if (!activeTapes().empty())
      hidden = std::make_unique<Tape::Outer>(*activeTapes().back());
  }
  void end() { hidden.reset(); }

private:
  std::unique_ptr<Tape::Outer> hidden;
};

llvm::Expected<Tensors> callBackward(const Callable &callable, llvm::ArrayRef<TensorRef> outputGrads,
                                     llvm::ArrayRef<TensorMeta> inputs) {
  nb::gil_scoped_acquire gil;
  nb::object arguments = nb::steal(PyTuple_New(outputGrads.size()));
  for (unsigned i = 0; i < outputGrads.size(); ++i)
    PyTuple_SET_ITEM(arguments.ptr(), i, outputGrads[i] ? wrap(outputGrads[i]) : Py_NewRef(Py_None));
  nb::object result = nb::steal(PyObject_Call(callable.function, arguments.ptr(), nullptr));
  if (!result)
    return takePythonError();
  Tensors grads;
  try {
    if (isTensor(result.ptr()) || result.is_none())
      result = nb::make_tuple(result);
    for (TensorRef &grad : tensorsOf(result, "Function.backward", true))
      grads.push_back(std::move(grad));
  } catch (nb::builtin_exception &error) {
    return makeError(ErrorCode::TypeMismatch, error.what());
  }
  if (grads.size() != inputs.size())
    return invalidArgument("Function.backward: there must be one gradient for each input, got " +
                           llvm::Twine(grads.size()) + " for " + llvm::Twine(inputs.size()));
  for (unsigned i = 0; i < inputs.size(); ++i) {
    std::string what = "Function.backward: gradient " + std::to_string(i);
    if (llvm::Error e = grads[i] ? checkGrad(what.c_str(), *grads[i], inputs[i]) : llvm::Error::success())
      return std::move(e);
  }
  return grads;
}

nb::list customFunction(nb::handle inputs, nb::handle outputs, nb::handle backward) {
  auto ins = tensorsOf(inputs, "custom_function"), outs = tensorsOf(outputs, "custom_function");
  auto callable = std::make_shared<Callable>(backward);
  std::vector<TensorMeta> metas;
  for (const TensorRef &input : ins)
    metas.push_back(input->meta());
  recordCustomFunction(ins, outs, [callable, metas](llvm::ArrayRef<TensorRef> outputGrads) {
    return callBackward(*callable, outputGrads, metas);
  });
  return listOf(outs);
}

/// A call whose gradient runs it again, and the Python callable that does so.
class PyRecomputation {
public:
  explicit PyRecomputation(nb::handle arguments) : call(tensorsOf(arguments, "checkpoint")) {}
  void end() { call.end(); }
  void read(nb::handle tensors) {
    for (const TensorRef &tensor : tensorsOf(tensors, "checkpoint"))
      call.noteRead(*tensor);
  }
  void record(nb::handle outputs, nb::handle rerun) {
    auto callable = std::make_shared<Callable>(rerun);
    call.record(tensorsOf(outputs, "checkpoint"), [callable]() -> llvm::Expected<Tensors> {
      nb::gil_scoped_acquire gil;
      nb::object result = nb::steal(PyObject_CallNoArgs(callable->function));
      if (!result)
        return takePythonError();
      auto tensors = tensorsOf(result, "checkpoint");
      return Tensors(tensors.begin(), tensors.end());
    });
  }
  nb::list begin() { return listOf(valueOrThrow(call.begin())); }
  void finish() { call.finish(); }

private:
  Recomputation call;
};

} // namespace

void initGrad(nb::module_ &module) {
  nb::class_<PyRecomputation>(module, "Recomputation", "A call that tapes keep nothing of, from now until end().")
      .def(nb::init<nb::handle>(), nb::arg("arguments"))
      .def("read", &PyRecomputation::read, nb::arg("tensors"), "The call returns these, which may be from outside.")
      .def("end", &PyRecomputation::end)
      .def("record", &PyRecomputation::record, nb::arg("outputs"), nb::arg("rerun"),
           "The outputs get the gradients of the tensors that `rerun` returns when it is recorded.")
      .def("begin", &PyRecomputation::begin, "The arguments anew; variables have the values that the call read.")
      .def("finish", &PyRecomputation::finish, "Variables have their values of before begin().");
  nb::class_<GradState>(module, "GradState", "A recording of operators on attached tensors.")
      .def(nb::init<>())
      .def("attach", &GradState::attach, nb::arg("tensors"), "Gradients of these values are wanted, in this order.")
      .def("record", &GradState::record, nb::arg("beside") = nb::none(),
           "Starts to record on this thread, as one with another that has just started.")
      .def("release", &GradState::release, "Stops and forgets.")
      .def("tracks_any", &GradState::tracksAny, nb::arg("tensors"), "Whether a gradient of one can arrive somewhere.")
      .def("has_value_of_then", &GradState::hasValueOfThen, nb::arg("tensor"),
           "Whether the attached tensor has not been written since.")
      .def("add_hook", &GradState::addHook, nb::arg("tensor"), nb::arg("hook"),
           "hook(gradient) runs in backward, and may return another one.")
      .def("backward", &GradState::backward, nb::arg("ys"), nb::arg("dys") = nb::none(),
           "The gradient of every attached tensor, or None; ends the recording.");
  nb::class_<InnermostHidden>(module, "InnermostHidden",
                              "From now until end() the tape that started last records nothing; last in, first out.")
      .def(nb::init<>())
      .def("end", &InnermostHidden::end);
  module.def(
      "add_grad_hook",
      [](nb::handle tensor, nb::handle hook) {
        for (const TensorRef &each : tensorsOf(nb::make_tuple(tensor), "register_hook"))
          for (const TapeRef &tape : activeTapes())
            tape->addHook(*each, hookOf(hook), hook.ptr());
      },
      nb::arg("tensor"), nb::arg("hook"), "GradState.add_hook of every tape that records.");
  module.def("no_grad_enter", &pauseGrad, "Nothing is recorded on this thread until no_grad_exit.");
  module.def("no_grad_exit", &resumeGrad);
  module.def(
      "accumulate_grad",
      [](nb::handle total, nb::handle grad) {
        auto tensors = tensorsOf(nb::make_tuple(total, grad), "accumulate_grad");
        checkOrThrow(accumulateGrad(*tensors[0], *tensors[1]));
      },
      nb::arg("total"), nb::arg("grad"), "total += grad, in the memory of total when nobody else has it.");
  module.def("custom_function", &customFunction, nb::arg("inputs"), nb::arg("outputs"), nb::arg("backward"),
             "Gives the outputs a gradient: backward(*output_grads) -> one gradient or None for each input.");
}

} // namespace tess::python
