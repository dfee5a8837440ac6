//===- WatchedCode.cpp - frames that a StateWatch follows -----------------===//
#include "frontends/python/src/WatchedCode.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/StackDepths.h"
#include "frontends/python/src/TensorObject.h"

#include <frameobject.h>
#include <nanobind/stl/string.h>
#include <opcode.h>

namespace tess::python {

static thread_local WatchedCode *active = nullptr;

WatchedCode *WatchedCode::current() { return active; }

/// From now on the frame tells of instructions. 3.13 does that for a frame with an `f_trace` only; nobody calls it.
static void traceInstructions(PyFrameObject *frame, [[maybe_unused]] nb::handle tracer) {
  nb::handle object(reinterpret_cast<PyObject *>(frame));
#if PY_VERSION_HEX >= 0x030d0000
  if (object.attr("f_trace").is_none())
    object.attr("f_trace") = tracer;
#endif
  object.attr("f_trace_opcodes") = true;
}

/// Has PyEval_SetTrace tell of instructions: 3.12 decides there, by whether any frame was to do that before.
static void wantInstructions() {
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
  nb::object frame = nb::steal(reinterpret_cast<PyObject *>(PyThreadState_GetFrame(PyThreadState_Get())));
  nb::object before = frame.attr("f_trace_opcodes");
  frame.attr("f_trace_opcodes") = true;
  frame.attr("f_trace_opcodes") = before;
#endif
}

void WatchedCode::start() {
  PyThreadState *thread = PyThreadState_Get();
  wantInstructions();
  before = thread->c_tracefunc;
  beforeArgument = nb::borrow(thread->c_traceobj);
  active = this;
  guard = nb::capsule(this);
  PyEval_SetTrace(&WatchedCode::trace, guard.ptr());
}

void WatchedCode::stop() {
  active = nullptr;
  PyEval_SetTrace(before, beforeArgument.ptr());
  beforeArgument.reset();
  frames.clear();
}

int WatchedCode::trace(PyObject *self, PyFrameObject *frame, int event, PyObject *argument) {
  auto &watched = *static_cast<WatchedCode *>(PyCapsule_GetPointer(self, nullptr));
  if (event == PyTrace_CALL)
    watched.enter(frame);
  else if (event == PyTrace_OPCODE)
    watched.step(frame);
  else if (event == PyTrace_RETURN)
    watched.leave(frame);
  if (watched.before && event != PyTrace_OPCODE)
    return watched.before(watched.beforeArgument.ptr(), frame, event, argument);
  return 0;
}

const WatchedCode::Code &WatchedCode::codeOf(PyFrameObject *frame) {
  auto object = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(frame)));
  auto it = codes.find(object.ptr());
  if (it != codes.end())
    return it->second;
  auto globals = nb::steal(PyFrame_GetGlobals(frame));
  nb::object kind = kindOf(object.attr("co_filename"), globals.attr("get")("__name__"));
  auto *code = reinterpret_cast<PyCodeObject *>(object.ptr());
  Code known{object, code, nb::steal(PyCode_GetCode(code)), {}, CodeKind(nb::cast<long>(kind))};
  if (known.kind != CodeKind::Ours && known.kind != CodeKind::Muted) // whose instructions are not followed
    known.depths = stackDepths(code, known.bytes.ptr());
  return codes.emplace(object.ptr(), std::move(known)).first->second;
}

/// The dict or tuple of arguments without names is made by the call.
static void noteMadeArguments(StateWatch &watch, PyFrameObject *frame, PyCodeObject *code) {
  int number = code->co_argcount + code->co_kwonlyargcount;
  for (int flag : {CO_VARARGS, CO_VARKEYWORDS})
    if (code->co_flags & flag)
      if (PyObject *made = localValue(frame, number++))
        watch.noteInside(made);
}

void WatchedCode::enter(PyFrameObject *frame) {
  const Code &code = codeOf(frame);
  bool isOfOurs = frames.empty() || frames.back().kind == CodeKind::Ours;
  CodeKind kind = code.kind == CodeKind::Library && isOfOurs ? CodeKind::Ours : code.kind;
  frames.push_back({frame, &code, kind});
  if (!muted && kind == CodeKind::Muted)
    muted = frames.size();
  if (muted || kind == CodeKind::Ours)
    return;
  traceInstructions(frame, guard);
  watch.setPlace(kind, code.code, code.code->co_firstlineno);
  noteMadeArguments(watch, frame, code.code);
  if (code.code->co_argcount && nb::str(nb::handle(code.code->co_name)).equal(nb::str("__init__")))
    if (PyObject *made = localValue(frame, 0); made && !watch.isKnown(made))
      watch.noteInside(made); // what has no name yet
  if (PyObject *function = functionOf(frame); function && kind == CodeKind::Users)
    watch.noteFunction(function);
}

void WatchedCode::leave(PyFrameObject *frame) {
  if (frames.empty() || frames.back().frame != frame)
    return; // one that ran before
  if (muted == frames.size())
    muted = 0;
  frames.pop_back();
}

/// An object that an instruction left on the stack, and nobody else refers to, is made within the call.
void WatchedCode::seeResult(Frame &at) {
  bool isNew = std::exchange(at.makesObject, false);
  PyObject *result = at.stack.value(0);
  if (result && (isNew || Py_REFCNT(result) == 1) && !isLeaf(result))
    watch.noteInside(result);
}

void WatchedCode::step(PyFrameObject *frame) {
  if (muted || frames.empty() || frames.back().frame != frame || frames.back().kind == CodeKind::Ours)
    return;
  Frame &at = frames.back();
  watch.setPlace(at.kind, at.code->code, PyFrame_GetLineNumber(frame));
  int offset = PyFrame_GetLasti(frame);
  at.stack = {frame, at.code->depths[offset / 2]};
  seeResult(at);
  Instruction now = instructionAt(at.code->bytes.ptr(), offset);
  FrameCall call;
  if (!callAt(at.stack, now, call)) {
    seeLoad(at, now.op, now.arg);
    return;
  }
  std::vector<PyObject *> args;
  if (call.self)
    args.push_back(call.self);
  for (int i = call.numArgs - 1; i >= 0; --i)
    if (PyObject *argument = at.stack.value(call.above + i))
      args.push_back(argument);
  for (PyObject *more : {call.args, call.kwargs})
    if (more && PyTuple_Check(more))
      args.insert(args.end(), PySequence_Fast_ITEMS(more), PySequence_Fast_ITEMS(more) + PyTuple_GET_SIZE(more));
    else if (more)
      watch.noteContents(more);
  seeCall(at, call, args);
}

void WatchedCode::seeGlobal(const Frame &at, PyObject *name, bool isWrite) {
  if (at.kind != CodeKind::Users)
    return;
  auto globals = nb::steal(PyFrame_GetGlobals(at.frame));
  watch.note(ReadKind::Item, globals.ptr(), name, textOf(name), isWrite);
}

/// A variable of an enclosing function, by its number among the frame's variables.
void WatchedCode::seeVariable(const Frame &at, int number, bool isWrite) {
  PyCodeObject *code = at.code->code;
  PyObject *cell = localValue(at.frame, number);
  if (!cell || !PyCell_Check(cell))
    return;
  if (number < code->co_nlocalsplus - code->co_nfreevars)
    watch.noteInside(cell);
  else
    watch.note(ReadKind::Cell, cell, Py_None, at.code->variable(number), isWrite);
}

/// Whether the variable of that number is a cell, so that functions share it.
static bool isCell(PyCodeObject *code, int number) {
  constexpr int kOwnCell = 0x40, kCellOfOuter = 0x80; // CO_FAST_CELL and CO_FAST_FREE of the interpreter
  return PyBytes_AS_STRING(code->co_localspluskinds)[number] & (kOwnCell | kCellOfOuter);
}

void WatchedCode::seeLocal(const Frame &at, int number) {
  if (isCell(at.code->code, number)) // for a function that is made: 3.13 has no instruction of its own
    return seeVariable(at, number, false);
  PyObject *value = localValue(at.frame, number);
  if (value)
    watch.nameObject(value, at.code->variable(number));
}

/// x[a:b] by one instruction, from 3.12 on.
void WatchedCode::seeSlice(const Frame &at, bool isWrite) {
  nb::object key = nb::steal(PySlice_New(at.stack.value(1), at.stack.value(0), nullptr));
  watch.noteSubscript(at.stack.value(2), key.ptr(), isWrite);
}

/// `super().name` by one instruction, from 3.12 on.
void WatchedCode::seeSuper(const Frame &at, PyObject *name) {
  if (at.stack.value(2) != reinterpret_cast<PyObject *>(&PySuper_Type))
    return; // one of the user's, which the instruction calls
  nb::object made =
      nb::steal(PyObject_CallFunctionObjArgs(at.stack.value(2), at.stack.value(1), at.stack.value(0), nullptr));
  if (made)
    return watch.noteAttribute(made.ptr(), name);
  PyErr_Clear(); // the instruction raises it
}

void WatchedCode::seeLoad(const Frame &at, int op, int arg) {
  PyObject *top = at.stack.value(0), *below = at.stack.value(1);
  switch (op) {
  case LOAD_FAST:
#if PY_VERSION_HEX >= 0x030c0000
  case LOAD_FAST_CHECK:
  case LOAD_FAST_AND_CLEAR:
#endif
    return seeLocal(at, arg);
#if PY_VERSION_HEX >= 0x030d0000
  case LOAD_FAST_LOAD_FAST:
    seeLocal(at, arg >> 4);
    return seeLocal(at, arg & 15);
  case STORE_FAST_LOAD_FAST:
    return arg >> 4 == (arg & 15) ? void() : seeLocal(at, arg & 15);
#endif
  case LOAD_GLOBAL:
    return seeGlobal(at, at.code->name(arg >> 1), false);
  case STORE_GLOBAL:
  case DELETE_GLOBAL:
    return seeGlobal(at, at.code->name(arg), true);
  case LOAD_DEREF:
  case LOAD_CLOSURE:
    return seeVariable(at, arg, false);
  case STORE_DEREF:
  case DELETE_DEREF:
    return seeVariable(at, arg, true);
#if PY_VERSION_HEX < 0x030c0000
  case LOAD_METHOD:
  case LOAD_ATTR:
#else
  case LOAD_ATTR:
    return watch.noteAttribute(top, at.code->name(arg >> 1));
  case LOAD_SUPER_ATTR:
    return seeSuper(at, at.code->name(arg >> 2));
  case BINARY_SLICE:
    return seeSlice(at, false);
  case STORE_SLICE:
    return seeSlice(at, true);
#endif
  case IMPORT_FROM:
    return watch.noteAttribute(top, at.code->name(arg));
  case STORE_ATTR:
  case DELETE_ATTR:
    return watch.noteAttribute(top, at.code->name(arg), true);
  case BINARY_SUBSCR:
    return watch.noteSubscript(below, top);
  case STORE_SUBSCR:
  case DELETE_SUBSCR:
    return watch.noteSubscript(below, top, true);
  default:
    seeOther(at, op, arg);
  }
}

void WatchedCode::seeOther(const Frame &at, int op, int arg) {
  PyObject *top = at.stack.value(0), *below = at.stack.value(1);
  switch (op) {
#ifdef FORMAT_WITH_SPEC
  case FORMAT_WITH_SPEC:
    return watch.noteContents(below);
  case FORMAT_SIMPLE:
#endif
  case GET_ITER:
  case UNPACK_SEQUENCE:
  case UNPACK_EX:
  case LIST_EXTEND:
  case SET_UPDATE:
  case DICT_UPDATE:
  case DICT_MERGE:
#ifdef FORMAT_VALUE
  case FORMAT_VALUE:
    if (op == FORMAT_VALUE && (arg & 4))
      top = below;
#endif
    return watch.noteContents(top);
  case FOR_ITER:
    return watch.noteAdvance(top);
  case CONTAINS_OP:
    return watch.noteContains(top, below);
  case COMPARE_OP:
  case BINARY_OP:
    watch.noteContents(top);
    return watch.noteContents(below);
  case UNARY_NOT:
#if PY_VERSION_HEX < 0x030c0000
  case JUMP_IF_FALSE_OR_POP:
  case JUMP_IF_TRUE_OR_POP:
#endif
#if PY_VERSION_HEX < 0x030c0000
  case POP_JUMP_FORWARD_IF_FALSE:
  case POP_JUMP_FORWARD_IF_TRUE:
  case POP_JUMP_BACKWARD_IF_FALSE:
  case POP_JUMP_BACKWARD_IF_TRUE:
#else
  case POP_JUMP_IF_FALSE:
  case POP_JUMP_IF_TRUE:
#endif
#ifdef TO_BOOL
  case TO_BOOL:
#endif
    return watch.noteTruth(top);
  default:
    return;
  }
}

void WatchedCode::seeMethod(PyObject *self, PyObject *method, const std::vector<PyObject *> &args) {
  std::string name = textOf(nb::object(nb::handle(method).attr("__name__")).ptr());
  PyObject *first = args.size() > 1 ? args[1] : nullptr;
  if (first && (name == "__setattr__" || name == "__delattr__"))
    watch.noteAttribute(self, first, true);
  else if (first && name == "__getattribute__")
    watch.noteAttribute(self, first);
  else if (first && PyDict_Check(self) && (name == "get" || name == "__getitem__"))
    watch.noteSubscript(self, first);
  else if (first && name == "__contains__")
    watch.noteContains(self, first);
  else if (name == "get" && PyContextVar_CheckExact(self))
    watch.note(ReadKind::ContextVariable, self, Py_None, watch.pathOf(self));
  else if (name == "__len__")
    watch.noteLength(self);
  else if (name == "__reduce_ex__" || name == "__reduce__" || name == "__dir__")
    watch.noteAllAttributes(self);
  else if (name == "__next__" || name == "send")
    watch.noteAdvance(self);
  else if (name != "__init__" && name != "__new__" && name != "__init_subclass__")
    watch.noteContents(self);
}

/// Functions of the module builtins that read otherwise than all elements of their arguments.
bool WatchedCode::seeBuiltin(PyObject *function, const std::vector<PyObject *> &args) {
  auto owner = nb::handle(function).attr("__module__");
  if (!nb::isinstance<nb::str>(owner) || nb::cast<std::string>(owner) != "builtins")
    return false;
  std::string name = textOf(nb::object(nb::handle(function).attr("__name__")).ptr());
  if (name == "getattr" || name == "hasattr" || name == "setattr" || name == "delattr") {
    if (args.size() > 1)
      watch.noteAttribute(args[0], args[1], name[0] == 's' || name[0] == 'd');
    return true;
  }
  if (name == "vars" || name == "dir") {
    if (!args.empty())
      watch.noteAllAttributes(args[0]);
    return true;
  }
  if (name == "len" && args.size() == 1)
    watch.noteLength(args[0]);
  if (name == "next" && !args.empty())
    watch.noteAdvance(args[0]);
  return name == "len" || name == "next" || name == "isinstance" || name == "issubclass" || name == "id" ||
         name == "callable" || name == "hash" || name == "print" || name == "__build_class__";
}

void WatchedCode::seeCall(Frame &at, const FrameCall &call, const std::vector<PyObject *> &args) {
  PyObject *callable = call.callable;
  if (PyFunction_Check(callable) || (PyMethod_Check(callable) && PyFunction_Check(PyMethod_GET_FUNCTION(callable))))
    return; // its frame comes next
  bool isClass = PyType_Check(callable);
  if (isClass && reinterpret_cast<PyTypeObject *>(callable)->tp_dealloc != PyBaseObject_Type.tp_dealloc)
    at.makesObject = callable != reinterpret_cast<PyObject *>(&PyType_Type);
  if (callable == reinterpret_cast<PyObject *>(&PyType_Type) || callable == reinterpret_cast<PyObject *>(&PySuper_Type))
    return;
  if (callable == reinterpret_cast<PyObject *>(&PyBool_Type) && args.size() == 1)
    return watch.noteTruth(args[0]);
  PyTypeObject *type = Py_TYPE(callable);
  if (PyCFunction_Check(callable)) {
    PyObject *self = PyCFunction_GET_SELF(callable);
    if (self && !PyModule_Check(self) && !PyType_Check(self)) {
      std::vector<PyObject *> all{self};
      all.insert(all.end(), args.begin(), args.end());
      seeMethod(self, callable, all);
    } else if (seeBuiltin(callable, args)) {
      return;
    }
  } else if ((type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type) && !args.empty()) {
    seeMethod(args[0], callable, args);
    for (size_t i = 1; i < args.size(); ++i)
      watch.noteContents(args[i]);
    return;
  }
  if (std::string(type->tp_name) == "functools.partial") {
    nb::object keywords = nb::handle(callable).attr("keywords");
    watch.nameObject(keywords.ptr(), watch.pathOf(callable) + ".keywords");
    watch.noteContents(keywords.ptr());
    return;
  }
  bool readsAttributes = !isClass &&
                         nb::isinstance<nb::str>(nb::getattr(nb::handle(callable), "__module__", nb::none())) &&
                         !isLeaf(callable);
  for (PyObject *argument : args) {
    watch.noteContents(argument);
    if (readsAttributes)
      watch.noteAllAttributes(argument);
  }
}

static void noteItem(const nb::dict &owner, const nb::object &key, std::string path) {
  if (WatchedCode *watched = WatchedCode::current())
    watched->reads().note(ReadKind::Item, owner.ptr(), key.ptr(), std::move(path));
}

static void initWatch(nb::module_ &module) {
  nb::enum_<CodeKind>(module, "CodeKind", nb::is_arithmetic(), "How much of a frame's code counts.")
      .value("USERS", CodeKind::Users)
      .value("LIBRARY", CodeKind::Library)
      .value("PACKAGE", CodeKind::Package)
      .value("OURS", CodeKind::Ours)
      .value("MUTED", CodeKind::Muted);
  nb::enum_<ReadKind>(module, "ReadKind", nb::is_arithmetic(),
                      "What a read asked of its owner, where Python must know.")
      .value("WHOLE", ReadKind::Whole)
      .value("FROZEN", ReadKind::Frozen);
  nb::class_<WatchedCode>(module, "WatchedCode", "Notes what frames of this thread read of Python's state.")
      .def(nb::init<nb::callable, nb::callable>(), nb::arg("freeze"), nb::arg("kind_of"),
           "`freeze(object)` gives the contents of an object of a C type; `kind_of(file, module)` a CodeKind's value.")
      .def("start", &WatchedCode::start, "Frames that begin from now on.")
      .def("stop", &WatchedCode::stop, "What traced the thread before does so again.")
      .def(
          "note_argument", [](WatchedCode &self, nb::handle object) { self.reads().noteArgument(object.ptr()); },
          nb::arg("object"), "It is an argument: another call brings its own.")
      .def(
          "name",
          [](WatchedCode &self, nb::handle object, std::string path) {
            self.reads().nameObject(object.ptr(), std::move(path));
          },
          nb::arg("object"), nb::arg("path"), "What reads of it are called.")
      .def(
          "note_contents", [](WatchedCode &self, nb::handle object) { self.reads().noteContents(object.ptr()); },
          nb::arg("object"), "All that it holds may be read.")
      .def(
          "reads", [](WatchedCode &self) { return self.reads().reads(); },
          "(read, path, code, line, is written, is silent, is of an argument) of each.")
      .def(
          "unwatched", [](WatchedCode &self) { return self.reads().unwatched(); },
          "(path, type, code, line, whether it was advanced) of what cannot be looked at.")
      .def(
          "is_full", [](WatchedCode &self) { return self.reads().isFull(); },
          "Whether there were more reads than are compared.");
  module.def("note_item", &noteItem, nb::arg("owner"), nb::arg("key"), nb::arg("path"),
             "The function that is watched on this thread, if one is, reads that item of the dict.");
}

void initPythonState(nb::module_ &module) {
  initStateReads();
  module.attr("NO_VALUE") = nb::borrow(noValue);
  module.def("holds_state", &holdsState, nb::arg("reads"), "Whether each read gives what it did.");
  module.def("group_reads", &groupReads, nb::arg("reads"), "The reads, those of one owner together.");
  module.def(
      "same_value", [](nb::handle a, nb::handle b) { return isSameValue(a.ptr(), b.ptr()); }, nb::arg("a").none(),
      nb::arg("b").none(), "Plain values and tuples by type and bits, other objects by identity.");
  module.def(
      "value_of",
      [](const nb::tuple &read) {
        return valueOf(ReadKind(nb::cast<long>(read[0])), nb::object(read[1]).ptr(), nb::object(read[2]).ptr());
      },
      nb::arg("read"), "The value that the owner gives now; NO_VALUE: none.");
  module.def(
      "read_again",
      [](const nb::tuple &read) {
        return readOf(ReadKind(nb::cast<long>(read[0])), nb::object(read[1]).ptr(), nb::object(read[2]).ptr());
      },
      nb::arg("read"), "The read as it would be now.");
  initWatch(module);
}

} // namespace tess::python
