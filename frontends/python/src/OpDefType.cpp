//===- OpDefType.cpp - core.ops.builtin and core.apply -------------------===//
//
// Operators as Python values: each record has a class whose properties are the
// attributes, made on demand from the table.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/OpDefType.h"
#include "eager/stack/Expressions.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/OpFunction.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/tracing/Recording.h"

#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

struct PyOpDef {
  OpDef op;
};

struct PySubgraph {
  Subgraph graph;
};

int attrIndex(const OpInfo &info, llvm::StringRef name) {
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    if (name == info.attrs[i].name)
      return i;
  return -1;
}

void setAttr(OpDef &op, llvm::StringRef name, nb::handle value) {
  int index = attrIndex(op.info(), name);
  if (index < 0)
    checkOrThrow(op.trySet(name, AttrValue())); // reports the attributes that there are
  const AttrInfo &attr = op.info().attrs[index];
  AttrValue converted;
  if (!value.is_none())
    converted = valueOrThrow(toAttr(op.info().opdefName, attr.name, attr, value.ptr()));
  checkOrThrow(op.trySet(name, std::move(converted)));
}

/// Constructs an operator, as in Softmax(-1) or Softmax(axis=-1); the class determines the record.
void initOpDef(nb::pointer_and_handle<PyOpDef> self, const nb::args &args, const nb::kwargs &kwargs) {
  std::string name = nb::cast<std::string>(self.h.type().attr("_record"));
  const OpInfo *info = findOp(name);
  OpDef op(*info);
  if (args.size() > info->attrs.size())
    throwError(makeError(ErrorCode::TypeMismatch, llvm::Twine(info->opdefName) + ": number of attributes must be <= " +
                                                      llvm::Twine(info->attrs.size()) + ", got " +
                                                      llvm::Twine(args.size())));
  for (size_t i = 0; i < args.size(); ++i)
    setAttr(op, info->attrs[i].name, args[i]);
  for (auto [key, value] : kwargs)
    setAttr(op, nb::cast<std::string>(key), value);
  new (self.p) PyOpDef{std::move(op)};
}

nb::dict propsOf(const OpDef &op) {
  nb::dict props;
  for (unsigned i = 0; i < op.numAttrs(); ++i)
    props[op.info().attrs[i].name] = nb::steal(fromAttr(op.attr(i)));
  return props;
}

/// Operands read from tensors, numbers and arrays.
struct Operands {
  llvm::SmallVector<Operand, 4> list;
  llvm::SmallVector<TensorRef, 4> made;
  llvm::SmallVector<unsigned, 4> segments;

  explicit Operands(const nb::args &args) {
    for (nb::handle item : args) {
      list.push_back(Operand(static_cast<TensorImpl *>(nullptr)));
      if (!toOperand(item.ptr(), list.back(), made))
        throw nb::python_error();
    }
    if (!made.empty())
      checkOrThrow(placeMade(list, made));
  }
  void split(const OpInfo &info) {
    if (!info.simple)
      segments = valueOrThrow(defaultSegments(info, list.size()));
  }
};

nb::list listOf(Tensors tensors) {
  nb::list list;
  for (TensorRef &tensor : tensors)
    list.append(tensor ? nb::steal(wrap(std::move(tensor))) : nb::none());
  return list;
}

nb::object applyOp(nb::handle op, const nb::args &args) {
  if (CallWatch::listens()) {
    nb::object function = nb::module_::import_("tessera._core").attr("apply"), all = nb::make_tuple(op) + args;
    nb::object result = nb::steal(CallWatch::call(function.ptr(), all.ptr(), nullptr));
    return result ? result : throw nb::python_error();
  }
  Operands operands(args);
  if (nb::isinstance<PySubgraph>(op)) {
    const Subgraph &graph = nb::cast<PySubgraph &>(op).graph;
    if (graph.inputs.size() != operands.list.size())
      throwError(invalidArgument("apply: number of inputs must be " + llvm::Twine(graph.inputs.size()) + ", got " +
                                 llvm::Twine(operands.list.size())));
    return listOf(valueOrThrow(apply(graph, operands.list)));
  }
  const OpDef &called = opDefOf(op, "apply: operator must be an OpDef or a Subgraph");
  operands.split(called.info());
  Tensors results;
  if (llvm::Error error = applyNormalised(called, operands.list, operands.segments, results))
    throwRefusal(std::move(error));
  return listOf(std::move(results));
}

PySubgraph forwardGraph(const PyOpDef &self, const nb::args &args) {
  Operands operands(args);
  operands.split(self.op.info());
  return {valueOrThrow(self.op.makeForwardGraph(metasOf(operands.list), operands.segments))};
}

std::string docOf(const OpInfo &info) {
  std::string text = std::string(info.opdefName) + "(";
  for (const AttrInfo &attr : info.attrs)
    text += std::string(&attr == info.attrs.begin() ? "" : ", ") + attr.name;
  return text + ")\n\n" + info.summary;
}

/// The class of one record, which is made once.
nb::object opClass(const std::string &opdefName) {
  static nb::dict *classes = new nb::dict;
  if (classes->contains(opdefName.c_str()))
    return nb::borrow((*classes)[opdefName.c_str()]);
  const OpInfo *info = findOpDef(opdefName);
  if (!info)
    throwError(makeError(ErrorCode::TypeMismatch, "op_class: operator must be known, got '" + opdefName + "'"));
  nb::dict members;
  members["_record"] = info->name;
  members["__doc__"] = docOf(*info);
  members["__module__"] = "tessera.core.ops.builtin";
  nb::object property = nb::module_::import_("builtins").attr("property");
  for (const AttrInfo &attr : info->attrs) {
    std::string name = attr.name;
    members[attr.name] =
        property(nb::cpp_function([name](const PyOpDef &self) { return nb::steal(fromAttr(self.op.attr(name))); }),
                 nb::cpp_function([name](PyOpDef &self, nb::handle value) { setAttr(self.op, name, value); }));
  }
  nb::object made =
      nb::module_::import_("builtins").attr("type")(opdefName, nb::make_tuple(nb::type<PyOpDef>()), members);
  (*classes)[opdefName.c_str()] = made;
  return made;
}

} // namespace

nb::object wrapOpDef(const OpDef &op) {
  nb::object type = opClass(std::string(op.info().opdefName));
  nb::object object = nb::inst_alloc(type);
  new (nb::inst_ptr<PyOpDef>(object)) PyOpDef{op};
  nb::inst_mark_ready(object);
  return object;
}

const OpDef &opDefOf(nb::handle object, const char *what) {
  if (!nb::isinstance<PyOpDef>(object))
    throwError(makeError(ErrorCode::TypeMismatch, llvm::Twine(what) + ", got " + describeObject(object.ptr())));
  return nb::cast<PyOpDef &>(object).op;
}

void initOpDefType(nb::module_ &module) {
  nb::class_<PySubgraph>(module, "Subgraph", "A small graph of operators.")
      .def_prop_ro("num_nodes", [](const PySubgraph &self) { return self.graph.nodes.size(); });
  nb::class_<PyOpDef>(module, "OpDef", "An operator with its attributes.")
      .def("__init__", &initOpDef)
      .def_prop_ro("name", [](const PyOpDef &self) { return std::string(self.op.info().opdefName); })
      .def("props", [](const PyOpDef &self) { return propsOf(self.op); })
      .def("to_string", [](const PyOpDef &self) { return self.op.toString(); })
      .def("serialize", [](const PyOpDef &self) { return self.op.serialize(); })
      .def("make_forward_graph", &forwardGraph)
      .def("__repr__", [](const PyOpDef &self) { return self.op.toString(); })
      .def("__hash__", [](const PyOpDef &self) { return self.op.hash(); })
      .def("__eq__", [](const PyOpDef &self, nb::handle other) {
        return nb::isinstance<PyOpDef>(other) && self.op.isSame(nb::cast<PyOpDef &>(other).op);
      });
  module.def(
      "op_of_text", [](const std::string &text) { return wrapOpDef(valueOrThrow(OpDef::parse(text))); },
      nb::arg("text"), "The operator that `serialize` wrote, also one of an older version.");
  module.def("op_class", &opClass, nb::arg("name"), "The class of an operator by its OpDef name.");
  module.def("apply", &applyOp, nb::arg("op"), nb::arg("args"), "The results of an operator or Subgraph, as a list.");
}

} // namespace tess::python
