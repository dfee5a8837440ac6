//===- Places.cpp - the user's line of a call ----------------------------===//
//
// Noting a place costs a walk over the frames of our own package and two
// reference counts; text is made only when an error or a dump wants it.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Bridge.h"

#include "eager/Location.h"

#include <frameobject.h>
#include <nanobind/stl/string.h>

namespace tess::python {

/// Code of our own package: its file lies in the folder of the extension.
static std::string packageFolder;

/// Files that were asked about: a step asks about the same few all the time. Each holds a reference to its name, so
/// that the address means that file. Guarded by the interpreter's lock.
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

/// The innermost frame outside the package; line -1 when there is none.
static void capture(void *&code, int32_t &position) {
  code = nullptr;
  if (!PyGILState_Check())
    return;
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()); // new reference
  while (frame) {
    PyCodeObject *own = PyFrame_GetCode(frame);
    bool inside = isOwn(own);
    if (!inside) {
      code = own; // the reference goes to the location
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

/// The line's text without its indentation.
static std::string source(void *code, int32_t position) {
  nb::gil_scoped_acquire gil;
  auto *object = static_cast<PyCodeObject *>(code);
  try {
    nb::object line = nb::module_::import_("linecache")
                          .attr("getline")(nb::borrow(object->co_filename), PyCode_Addr2Line(object, position));
    return nb::cast<std::string>(line.attr("strip")());
  } catch (nb::python_error &) { // a file that is no text
    return "";
  }
}

static void release(void *code) {
  if (!Py_IsInitialized())
    return;
  PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject *>(code));
  PyGILState_Release(gil);
}

static void *leaveInterpreter() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }

static void enterInterpreter(void *token) {
  if (token)
    PyEval_RestoreThread(static_cast<PyThreadState *>(token));
}

void initLocation(nb::module_ &module) {
  module.def("_set_package_folder", [](nb::str folder) { packageFolder = folder.c_str(); });
  eager::setLocationHooks({capture, describe, source, release});
  eager::setBlockingHooks({leaveInterpreter, enterInterpreter});
}

} // namespace tess::python
