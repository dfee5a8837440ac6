//===- UserLines.cpp - the user's line of a call --------------------------===//
//
// Noting a place costs a walk over the frames of our own package and two
// reference counts. Text is made only when an error or a dump needs it.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

#include "eager/tensor/Queue.h"
#include "runtime/threads/Worker.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <frameobject.h>
#include <nanobind/stl/string.h>
#include <thread>
#include <unistd.h>

namespace tess::python {

namespace {

/// A code object that a thread without the interpreter's lock released. A thread with the lock drops it.
struct Dropped {
  PyObject *code;
  Dropped *next;
};
std::atomic<Dropped *> dropped = nullptr;

/// Set at exit, when threads that are not ours must stay out: the interpreter ends a thread that asks for its lock by
/// unwinding it, and C++ frames do not survive that.
std::atomic<bool> leaving = false;
thread_local bool isLeavingThread = false;
std::atomic<int> entering = 0;  // threads in PyEval_RestoreThread, or about to call it
std::atomic<int> computing = 0; // threads that compile or run a program without the interpreter's lock

} // namespace

static void dropCodes() {
  for (Dropped *each = dropped.exchange(nullptr); each;) {
    Py_DECREF(each->code);
    delete std::exchange(each, each->next);
  }
}

/// The folder of the extension; code of our own package is in files below it.
static std::string packageFolder;

/// A cache of files, because a step asks about the same few all the time. Each entry holds a reference to the name, so
/// that its address means that file. Guarded by the interpreter's lock.
struct KnownFile {
  PyObject *name = nullptr;
  bool own = false;
};
static KnownFile knownFiles[64];

static bool isOwn(PyCodeObject *code) {
  if (packageFolder.empty())
    return false;
  PyObject *name = code->co_filename;
  KnownFile &known = knownFiles[(reinterpret_cast<uintptr_t>(name) >> 4) % std::size(knownFiles)];
  if (known.name == name)
    return known.own;
  const char *file = PyUnicode_AsUTF8(name);
  Py_XDECREF(known.name);
  known = {Py_NewRef(name), file && llvm::StringRef(file).starts_with(packageFolder)};
  return known.own;
}

/// The innermost frame outside the package; `code` is null when there is none.
static void capture(void *&code, int32_t &position) {
  code = nullptr;
  if (!PyGILState_Check())
    return;
  if (dropped.load(std::memory_order_relaxed))
    dropCodes();
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()); // new reference
  while (frame) {
    PyCodeObject *own = PyFrame_GetCode(frame);
    bool inside = isOwn(own);
    if (!inside) {
      code = own; // the location owns the reference now
      position = PyFrame_GetLasti(frame);
      Py_DECREF(frame);
      return;
    }
    Py_DECREF(own);
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

static std::string describe(void *code, int32_t position) {
  PyGILState_STATE gil = PyGILState_Ensure();
  auto *object = static_cast<PyCodeObject *>(code);
  const char *file = PyUnicode_AsUTF8(object->co_filename);
  std::string text = (file ? std::string(file) : "?") + ":" + std::to_string(PyCode_Addr2Line(object, position));
  PyErr_Clear();
  PyGILState_Release(gil);
  size_t slash = text.rfind('/');
  return slash == std::string::npos ? text : text.substr(slash + 1);
}

/// Frames that a text of calls has at most.
static constexpr unsigned kMostCalls = 64;

/// "net.py:7 in forward < train.py:12 in step".
static std::string calls() {
  if (!PyGILState_Check())
    return "";
  std::string text;
  unsigned count = 0;
  nb::object frame = nb::steal(reinterpret_cast<PyObject *>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame.is_valid() && count < kMostCalls) {
    auto *current = reinterpret_cast<PyFrameObject *>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(current)));
    auto *object = reinterpret_cast<PyCodeObject *>(code.ptr());
    if (!isOwn(object)) {
      const char *name = PyUnicode_AsUTF8(object->co_name);
      text += (count++ ? " < " : "") + describe(object, PyFrame_GetLasti(current)) + " in " + (name ? name : "?");
    }
    frame = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetBack(current)));
  }
  PyErr_Clear();
  return text;
}

/// The text of the line without its indentation.
static std::string source(void *code, int32_t position) {
  nb::gil_scoped_acquire gil;
  auto *object = static_cast<PyCodeObject *>(code);
  try {
    nb::object line = nb::module_::import_("linecache")
                          .attr("getline")(nb::borrow(object->co_filename), PyCode_Addr2Line(object, position));
    return nb::cast<std::string>(line.attr("strip")());
  } catch (nb::python_error &) { // the file is no text
    return "";
  }
}

/// Releases a code object. The worker calls this, so it must not wait for the lock: a thread that waits for the worker
/// may hold it.
static void release(void *code) {
  if (leaving || !Py_IsInitialized())
    return;
  auto *object = static_cast<PyObject *>(code);
  if (!runtime::Worker::onWorkerThread() && PyGILState_Check())
    return Py_DECREF(object);
  auto *node = new Dropped{object, dropped.load()};
  while (!dropped.compare_exchange_weak(node->next, node))
    ;
}

/// Keeps another thread out when the program ends.
[[noreturn]] static void stayOut() {
  for (;;)
    ::pause();
}

static void *leaveInterpreter(bool computes) {
  if (runtime::Worker::onWorkerThread() || !PyGILState_Check())
    return nullptr;
  bool ends = leaving && !isLeavingThread; // set by a thread that had the lock, as this thread has now
  computing += computes && !ends;
  void *token = PyEval_SaveThread();
  if (ends)
    stayOut();
  return token;
}

static void enterInterpreter(void *token, bool computes) {
  if (!token)
    return;
  ++entering;
  computing -= computes;
  if (leaving && !isLeavingThread) {
    --entering;
    stayOut();
  }
  PyEval_RestoreThread(static_cast<PyThreadState *>(token));
  --entering;
}

/// Runs Python's signal handlers; only a call on the main thread has an effect.
static llvm::Error pollInterpreter(void *&token) {
  if (!token)
    return llvm::Error::success();
  enterInterpreter(token, false);
  llvm::Error error = PyErr_CheckSignals() < 0 ? takePythonError() : llvm::Error::success();
  token = PyEval_SaveThread();
  return error;
}

/// Raises the errors that nobody has seen; with `wait`, those of all queued work. Afterwards no other thread runs our
/// code, because libraries are about to be destroyed.
static void leave(bool wait) {
  llvm::Error error = wait ? eager::sync() : llvm::Error::success();
  isLeavingThread = true;
  leaving = true;
  while (entering || computing) {
    nb::gil_scoped_release others;
    std::this_thread::yield();
  }
  runtime::Worker::global().stop();
  checkOrThrow(std::move(error));
}

/// Ends the process with a status that tells of an error, whatever exit() was given.
static void failAtExit() {
  std::fflush(nullptr);
  ::on_exit(
      [](int status, void *) {
        std::fflush(nullptr);
        ::_exit(status ? status : 1);
      },
      nullptr);
}

void initUserLines(nb::module_ &module) {
  module.def("_fail_at_exit", &failAtExit, "The process will end with a status other than 0.");
  module.def("_set_package_folder", [](const nb::str &folder) { packageFolder = folder.c_str(); });
  module.def("_leave", &leave, nb::arg("wait"),
             "To be called at exit: waits for all queued work and raises what nobody has seen.");
  eager::setLocationHooks({capture, describe, source, release, calls});
  eager::setBlockingHooks({leaveInterpreter, enterInterpreter, pollInterpreter});
}

} // namespace tess::python
