//===- Network.cpp - graphs as data for Python ----------------------------===//
//
// Nodes and the editor of ir/ as objects. A value is a Tensor of the subclass
// that Python gives (VarNode), so that every function takes it.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/OpDefType.h"
#include "frontends/python/src/ProgramFiles.h"
#include "frontends/python/src/TensorObject.h"

#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "eager/stack/Apply.h"
#include "eager/stack/GraphValue.h"
#include "eager/tensor/Location.h"
#include "ir/FreeSizes.h"
#include "ir/GraphEditor.h"
#include "ops/graphs/Control.h"
#include "ops/inference/QuantizedMetas.h"
#include "ops/vocabulary/SizeExpr.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

using namespace eager;
using ir::GraphEditor;

namespace {

nb::object wrapVar(const ir::Var &var) { return nb::steal(wrap(tensorOf(var))); }

const ir::Var &varOf(nb::handle object) {
  if (!isTensor(object.ptr()) || !implOf(object.ptr()).isGraphValue())
    throwError(makeError(ErrorCode::TypeMismatch,
                         "network: a variable must be a VarNode, got " + describeObject(object.ptr())));
  return eager::varOf(implOf(object.ptr()));
}

TensorImpl &tensorOf(nb::handle object, const char *what) {
  if (!isTensor(object.ptr()))
    throwError(makeError(ErrorCode::TypeMismatch,
                         llvm::Twine(what) + ": value must be a Tensor, got " + describeObject(object.ptr())));
  return implOf(object.ptr());
}

struct PyNode {
  ir::NodeRef node;

  const char *kind() const {
    constexpr const char *kKinds[] = {"input", "state", "constant", "operator"}; // by Node::Kind
    return kKinds[unsigned(node->kind())];
  }
  nb::object op() const {
    bool hasRecord = node->isOperator() && !control::hasBody(node->op.info());
    return hasRecord ? wrapOpDef(node->op) : nb::none();
  }
  nb::list inputs() const {
    nb::list list;
    for (const ir::Var &operand : node->operands)
      list.append(wrapVar(operand));
    return list;
  }
  nb::list outputs() const {
    nb::list list;
    for (unsigned result = 0; result < node->numResults(); ++result)
      list.append(wrapVar(node->var(result)));
    return list;
  }
  /// A tensor of a constant or a state.
  nb::object value() const {
    if (!node->bytes)
      return nb::none();
    return nb::steal(wrap(valueOrThrow(createTensor(node->metas.front(), node->bytes->data()))));
  }
};

/// A size: a number, the handle of an expression, or name, least and most of a free dimension.
using Size = std::variant<int64_t, std::tuple<std::string, int64_t, int64_t>>;

Shape shapeOf(const std::vector<Size> &sizes, const char *what) {
  Shape shape;
  for (const Size &size : sizes) {
    if (const auto *number = std::get_if<int64_t>(&size)) {
      if ((*number < 0 && !ir::hasNodeSymbols(*number)) || sizes.size() > kMaxRank)
        throwError(invalidArgument(llvm::Twine(what) + ": shape must have at most " + llvm::Twine(kMaxRank) +
                                   " sizes of at least 0, got size " + llvm::Twine(*number) + " of " +
                                   llvm::Twine(sizes.size())));
      shape.push_back(*number);
      continue;
    }
    const auto &[name, min, max] = std::get<1>(size);
    shape.push_back(sizes::symbol(ir::symbolOf({name, min, max < 0 ? INT64_MAX : max})));
  }
  return shape;
}

PyNode makeInput(const std::string &name, nb::handle dtype, const std::vector<Size> &sizes) {
  std::optional<DType> type = valueOrThrow(toDType(dtype.ptr()));
  TensorMeta meta(type.value_or(DType::Float32), shapeOf(sizes, "make_input_node"));
  checkOrThrow(checkQuantized("make_input_node", meta));
  return {ir::Node::input(name, meta)};
}

PyNode makeConstant(nb::handle value, const std::string &name) {
  ir::NodeRef node = valueOrThrow(constantOf(tensorOf(value, "make_const")));
  node->names.front() = name;
  return {node};
}

nb::tuple open(const std::string &path) {
  compiler::Metadata metadata;
  auto read = [&]() -> llvm::Expected<GraphEditor> {
    BlockingRegion region(/*computes=*/true);
    llvm::Expected<ir::Graph> graph = compiler::readGraph(path, &metadata);
    return graph ? GraphEditor::open(*graph) : graph.takeError();
  };
  return nb::make_tuple(valueOrThrow(read()), metadata);
}

nb::dict dump(const GraphEditor &self, const std::string &path, const std::vector<std::string> &targets,
              const compiler::Metadata &metadata, const nb::dict &names, bool fuse) {
  llvm::Expected<ir::Graph> graph = self.graph(keptNames(names));
  if (!graph)
    throwError(graph.takeError());
  auto write = [&] {
    BlockingRegion region(/*computes=*/true);
    compiler::CompileOptions options = hostOptions();
    options.fuse = fuse;
    return compiler::writeProgram(path, *graph, targets, metadata, std::move(options));
  };
  return describe(valueOrThrow(write()));
}

nb::list listOf(const std::vector<ir::NodeRef> &nodes) {
  nb::list list;
  for (const ir::NodeRef &node : nodes)
    list.append(PyNode{node});
  return list;
}

nb::list outputsOf(const GraphEditor &self) {
  nb::list list;
  for (const GraphEditor::Output &output : self.outputs())
    list.append(nb::make_tuple(wrapVar(output.var), output.name));
  return list;
}

using Objects = std::vector<nb::object>;
using ObjectPairs = std::vector<std::pair<nb::object, nb::object>>;

std::vector<std::pair<ir::Var, ir::Var>> varsOf(const ObjectPairs &given) {
  std::vector<std::pair<ir::Var, ir::Var>> pairs;
  for (const auto &[from, to] : given)
    pairs.emplace_back(varOf(from), varOf(to));
  return pairs;
}

nb::list withReplaced(const Objects &given, const ObjectPairs &pairs) {
  ir::Vars vars;
  for (const nb::object &each : given)
    vars.push_back(varOf(each));
  nb::list list;
  for (const ir::Var &var : valueOrThrow(ir::withReplaced(vars, varsOf(pairs))))
    list.append(wrapVar(var));
  return list;
}

nb::list dependencies(const Objects &vars) {
  std::vector<ir::NodeRef> nodes;
  for (const nb::object &var : vars)
    nodes.push_back(varOf(var).node);
  return listOf(ir::withDependencies(nodes));
}

/// The objects of the old results stand for the new ones from now on.
void replaceNodes(GraphEditor &self, const std::vector<std::pair<PyNode, PyNode>> &given) {
  std::vector<std::pair<ir::NodeRef, ir::NodeRef>> pairs;
  for (const auto &[from, to] : given)
    pairs.emplace_back(from.node, to.node);
  checkOrThrow(self.replaceNodes(pairs));
  for (const auto &[from, to] : pairs)
    for (unsigned result = 0; result < from->numResults(); ++result)
      standFor(*eager::tensorOf(from->var(result)), to->var(result));
}

void setValue(GraphEditor &self, const PyNode &node, nb::handle value) {
  TensorImpl &tensor = tensorOf(value, "set_value");
  ir::NodeRef constant = valueOrThrow(constantOf(tensor));
  checkOrThrow(self.setValue(node.node, constant->metas.front(), *constant->bytes));
}

void setShapes(GraphEditor &self, const std::vector<std::pair<PyNode, std::vector<Size>>> &given) {
  std::vector<std::pair<ir::NodeRef, Shape>> shapes;
  for (const auto &[node, sizes] : given)
    shapes.emplace_back(node.node, shapeOf(sizes, "reset_batch_size"));
  checkOrThrow(self.setShapes(shapes));
}

void initNode(nb::module_ &module) {
  nb::class_<PyNode>(module, "GraphNode", "A node of a graph that is edited.")
      .def_prop_ro("kind", &PyNode::kind, "input, state, constant or operator.")
      .def_prop_ro("serial", [](const PyNode &self) { return self.node->serial(); })
      .def_prop_ro("op", &PyNode::op, "The OpDef; None where it is no operator, or a loop.")
      .def_prop_ro(
          "reads_sizes",
          [](const PyNode &self) { return self.node->isOperator() && ir::hasNodeSymbols(self.node->op); },
          "Whether sizes of others, which a run knows, are among its attributes.")
      .def_prop_ro("op_name",
                   [](const PyNode &self) { return self.node->isOperator() ? self.node->op.name().str() : ""; })
      .def_prop_ro("inputs", &PyNode::inputs)
      .def_prop_ro("outputs", &PyNode::outputs)
      .def_prop_ro("location", [](const PyNode &self) { return self.node->location; })
      .def_prop_ro("value", &PyNode::value, "Of a constant or a state; None for others.")
      .def("__eq__",
           [](const PyNode &self, nb::handle other) {
             return nb::isinstance<PyNode>(other) && nb::cast<PyNode &>(other).node == self.node;
           })
      .def("__hash__", [](const PyNode &self) { return self.node->serial(); });
}

} // namespace

void initNetwork(nb::module_ &module) {
  initNode(module);
  nb::class_<GraphEditor>(module, "GraphEditor", "The outputs of a program, and so its nodes.")
      .def_static("open", &open, nb::arg("path"), "(editor, metadata) of a file.")
      .def("dump", &dump, nb::arg("path"), nb::arg("targets"), nb::arg("metadata"), nb::arg("names"), nb::arg("fuse"),
           "What was written.")
      .def("nodes", [](const GraphEditor &self) { return listOf(self.nodes()); })
      .def("inputs", [](const GraphEditor &self) { return listOf(self.inputs()); })
      .def("outputs", &outputsOf, "(variable, name) of each; \"\": the variable's.")
      .def(
          "add_output", [](GraphEditor &self, nb::handle var) { self.addOutput(varOf(var)); }, nb::arg("var"))
      .def(
          "remove_output", [](GraphEditor &self, nb::handle var) { return self.removeOutput(varOf(var)); },
          nb::arg("var"))
      .def(
          "replace_vars",
          [](GraphEditor &self, const ObjectPairs &pairs) { checkOrThrow(self.replaceVars(varsOf(pairs))); },
          nb::arg("pairs"))
      .def("replace_nodes", &replaceNodes, nb::arg("pairs"))
      .def(
          "set_op",
          [](GraphEditor &self, const PyNode &node, nb::handle op) {
            checkOrThrow(self.setOp(node.node, opDefOf(op, "set_op: operator must be an OpDef")));
          },
          nb::arg("node"), nb::arg("op"))
      .def("set_value", &setValue, nb::arg("node"), nb::arg("value"))
      .def("set_shapes", &setShapes, nb::arg("shapes"))
      .def("__init__", [](GraphEditor *self) { new (self) GraphEditor(); });
  module.def("graph_input", &makeInput, nb::arg("name"), nb::arg("dtype"), nb::arg("shape"));
  module.def("with_replaced", &withReplaced, nb::arg("vars"), nb::arg("pairs"),
             "What the variables are where everything reads the second of a pair in the place of the first.");
  module.def("dependencies", &dependencies, nb::arg("vars"),
             "The nodes that give the variables, each behind what it depends on.");
  module.def("graph_constant", &makeConstant, nb::arg("value"), nb::arg("name"));
  module.def(
      "node_of", [](nb::handle var) { return nb::make_tuple(PyNode{varOf(var).node}, varOf(var).result); },
      nb::arg("var"), "The node that gives a variable, and which of its results it is.");
  module.def("var_name", [](nb::handle var) { return varOf(var).name(); }, nb::arg("var"));
  module.def(
      "set_var_name", [](nb::handle var, const std::string &name) { varOf(var).name() = name; }, nb::arg("var"),
      nb::arg("name"));
  module.def(
      "is_graph_value", [](nb::handle object) { return isTensor(object.ptr()) && implOf(object.ptr()).isGraphValue(); },
      nb::arg("object"), "Whether it stands for a value of a network.");
  module.def(
      "set_var_node", [](nb::handle type) { varNodeType = reinterpret_cast<PyTypeObject *>(type.inc_ref().ptr()); },
      nb::arg("type"), "The class of values of networks.");
}

} // namespace tess::python
