//===- WatchedCode.h - frames that a StateWatch follows ---------*- C++ -*-===//
#pragma once

#include "frontends/python/src/Frames.h"
#include "frontends/python/src/StateWatch.h"

#include <memory>

namespace tess::python {

/// Follows the frames of this thread from start() to stop(). A debugger that traced them before still is told of calls,
/// lines, returns and exceptions.
class WatchedCode {
public:
  /// `kindOf` gives the CodeKind of a file and of the name of its module.
  WatchedCode(nb::callable freeze, nb::callable kindOf) : watch(std::move(freeze)), kindOf(std::move(kindOf)) {}

  void start();
  void stop();
  StateWatch &reads() { return watch; }
  /// That of this thread; null: none is at work.
  static WatchedCode *current();

private:
  struct Code {
    nb::object object; // keeps it alive
    PyCodeObject *code = nullptr;
    nb::object bytes;            // of its instructions
    std::vector<int16_t> depths; // of the stack, by number of instruction
    CodeKind kind = CodeKind::Users;
    PyObject *name(int number) const { return PyTuple_GET_ITEM(code->co_names, number); }
    std::string variable(int number) const {
      return PyUnicode_AsUTF8(PyTuple_GET_ITEM(code->co_localsplusnames, number));
    }
  };
  struct Frame {
    PyFrameObject *frame;
    const Code *code;
    CodeKind kind;            // that of the code; of Python's library where the package calls it: Ours
    bool makesObject = false; // the last instruction called a class
    FrameStack stack{nullptr, 0};
  };

  static int trace(PyObject *self, PyFrameObject *frame, int event, PyObject *argument);
  void enter(PyFrameObject *frame);
  void leave(PyFrameObject *frame);
  void step(PyFrameObject *frame);
  const Code &codeOf(PyFrameObject *frame);
  void seeResult(Frame &at);
  void seeLocal(const Frame &at, int number);
  void seeSlice(const Frame &at, bool isWrite);
  void seeSuper(const Frame &at, PyObject *name);
  void seeLoad(const Frame &at, int op, int arg);
  void seeGlobal(const Frame &at, PyObject *name, bool isWrite);
  void seeVariable(const Frame &at, int number, bool isWrite);
  void seeOther(const Frame &at, int op, int arg);
  void seeCall(Frame &at, const struct FrameCall &call, const std::vector<PyObject *> &args);
  bool seeBuiltin(PyObject *function, const std::vector<PyObject *> &args);
  void seeMethod(PyObject *self, PyObject *method, const std::vector<PyObject *> &args);

  StateWatch watch;
  nb::callable kindOf;
  std::map<PyObject *, Code> codes;
  std::vector<Frame> frames;
  size_t muted = 0; // frames from this one on are; 0: none
  Py_tracefunc before = nullptr;
  nb::object beforeArgument, guard;
};

} // namespace tess::python
