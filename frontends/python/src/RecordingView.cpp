//===- RecordingView.cpp - the operators of a recording, for Python ------===//
//
// Values have numbers: those of the recording, then those within composites,
// which become the operators of their forward graphs unless the caller knows
// them. Sizes are numbers of the recorded call, or texts of expressions of the
// dimensions that the caller frees, "d0" being the first.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/TensorObject.h"
#include "frontends/python/src/Trace.h"

#include "eager/tracing/SymbolicShapes.h"
#include "ops/graphs/Control.h"
#include "ops/graphs/Subgraph.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

// By Recording::ValueKind.
constexpr const char *kKinds[] = {"argument", "captured", "constant", "computed"};

/// One operator and the numbers of its values.
struct Row {
  OpDef op;
  llvm::SmallVector<uint32_t, 4> inputs;
  llvm::SmallVector<uint32_t, 2> outputs;
  llvm::SmallVector<unsigned, 4> segments;
  std::string place;
};

class Writer {
public:
  Writer(const Recording &recording, const std::set<std::string> &known, llvm::ArrayRef<FreeAxis> free);
  nb::dict write();

private:
  int64_t sizeOf(uint32_t symbol) const;
  void add(const Row &row);
  void expand(const Row &row, const Subgraph &graph);
  void append(const Row &row);
  Metas operandsOf(const Row &row) const;
  nb::dict bodyOf(const Row &row);
  nb::list valueRows() const;

  const Recording &recording;
  const std::set<std::string> &known;
  std::map<uint32_t, uint32_t> dims; // symbols of the recording that are free, as symbols of the view
  std::vector<TensorMeta> metas;     // by number
  nb::list rows;
};

Writer::Writer(const Recording &recording, const std::set<std::string> &known, llvm::ArrayRef<FreeAxis> free)
    : recording(recording), known(known) {
  std::map<std::string, uint32_t> numbers;
  for (const auto &[argument, axis, name] : free)
    dims[symbolOf(recording.arguments()[argument], axis)] =
        numbers.try_emplace(name, uint32_t(numbers.size())).first->second;
  SymbolicShapes shapes;
  for (auto [number, value] : llvm::enumerate(recording.values())) {
    TensorMeta &meta = metas.emplace_back(value.meta);
    if (number == 0 || dims.empty())
      continue;
    for (auto [size, expression] : llvm::zip_equal(meta.shape, shapes.of(recording, number)))
      if (sizes::isSymbolic(expression))
        size = sizes::substitute(expression, [&](uint32_t symbol) { return sizeOf(symbol); });
  }
}

/// A free dimension, or the size of the recorded call.
int64_t Writer::sizeOf(uint32_t symbol) const {
  auto found = dims.find(symbol);
  return found == dims.end() ? recording.sizeOf(symbol) : sizes::symbol(found->second);
}

/// A number, None for an unknown one, or the text of an expression.
nb::object sizeObject(int64_t size) {
  if (size == kUnknown)
    return nb::none();
  if (!sizes::isSymbolic(size))
    return nb::int_(size);
  return nb::str(sizes::toText(size, [](uint32_t symbol) { return "d" + std::to_string(symbol); }).c_str());
}

/// The items as a list of Python's.
nb::list listOf(const auto &items) {
  nb::list list;
  for (auto item : items)
    list.append(item);
  return list;
}

nb::list sizeObjects(llvm::ArrayRef<int64_t> sizes) { return listOf(llvm::map_range(sizes, sizeObject)); }

nb::object attributeObject(const AttrValue &value) {
  if (value.kind() == AttrKind::I64List)
    return sizeObjects(value.ints());
  if (value.kind() == AttrKind::I64)
    return sizeObject(value.i64());
  return nb::steal(fromAttr(value));
}

Metas Writer::operandsOf(const Row &row) const {
  Metas operands;
  for (uint32_t input : row.inputs)
    operands.push_back(metas[input]);
  return operands;
}

/// The operators within a loop, over values with numbers of their own.
nb::dict Writer::bodyOf(const Row &row) {
  const Subgraph &graph = control::bodyOf(row.op);
  Metas operands = operandsOf(row);
  std::vector<TensorMeta> inner = valueOrThrow(inferValues(graph, control::bodyInputs(row.op, operands)));
  uint32_t first = metas.size();
  metas.insert(metas.end(), inner.begin(), inner.end());
  nb::list outer = rows;
  rows = nb::list();
  auto sizeOfTrip = [&](int id, unsigned axis) { return sizes::symbol(dataSymbolOf(first + uint32_t(id), axis)); };
  for (const Subgraph::Node &node : graph.nodes) {
    OpDef op = control::withBodySizes(node.op, sizeOfTrip);
    Row part{std::move(op), {}, {}, node.segments, node.location.empty() ? row.place : node.location};
    for (int id : node.inputs)
      part.inputs.push_back(first + id);
    for (int id : node.outputs)
      part.outputs.push_back(first + id);
    add(part);
  }
  auto numberOf = [&](int id) { return first + id; };
  nb::dict body;
  body["operators"] = rows;
  body["inputs"] = listOf(llvm::map_range(graph.inputs, numberOf));
  body["outputs"] = listOf(llvm::map_range(graph.outputs, numberOf));
  rows = outer;
  return body;
}

void Writer::append(const Row &row) {
  nb::dict attributes;
  for (unsigned i = 0; i < row.op.numAttrs(); ++i)
    if (row.op.attr(i).kind() != AttrKind::Body)
      attributes[row.op.info().attrs[i].name] = attributeObject(row.op.attr(i));
  if (control::hasBody(row.op.info()))
    attributes["body"] = bodyOf(row);
  rows.append(nb::make_tuple(row.op.info().name, attributes, listOf(row.inputs), listOf(row.segments),
                             listOf(row.outputs), row.place));
}

/// Appends the operators of `graph`, which compute the results of `row`.
void Writer::expand(const Row &row, const Subgraph &graph) {
  Metas operands = operandsOf(row);
  std::vector<TensorMeta> inner = valueOrThrow(inferValues(graph, operands));
  std::vector<uint32_t> numbers(graph.numValues, 0); // number 0 is not used
  for (auto [id, number] : llvm::zip(graph.inputs, row.inputs))
    numbers[id] = number;
  std::vector<std::pair<uint32_t, uint32_t>> copies; // results that are another value
  for (auto [id, number] : llvm::zip(graph.outputs, row.outputs))
    if (id >= 0 && !numbers[id])
      numbers[id] = number;
    else if (id >= 0)
      copies.emplace_back(numbers[id], number);
  for (const Subgraph::Node &node : graph.nodes) {
    Row part{node.op, {}, {}, node.segments, row.place};
    for (int id : node.inputs)
      part.inputs.push_back(numbers[id]);
    for (int id : node.outputs) {
      if (!numbers[id]) {
        numbers[id] = metas.size();
        metas.push_back(inner[id]);
      }
      part.outputs.push_back(numbers[id]);
    }
    add(part);
  }
  for (auto [from, to] : copies)
    append({OpDef::get("copy"), {from}, {to}, {}, row.place});
}

void Writer::add(const Row &row) {
  const OpInfo &info = row.op.info();
  if (info.lowering != Lowering::Composite || known.count(info.name))
    return append(row);
  Metas operands = operandsOf(row);
  forgetExpressions(operands); // the graph is one for all sizes
  expand(row, valueOrThrow(row.op.makeForwardGraph(operands, row.segments)));
}

nb::list Writer::valueRows() const {
  nb::list values;
  for (auto [number, meta] : llvm::enumerate(metas)) {
    nb::dict row;
    row["dtype"] = std::string(numpyName(meta.dtype));
    row["shape"] = nb::tuple(sizeObjects(meta.shape));
    bool isOwn = number && number < recording.values().size();
    row["kind"] = isOwn ? kKinds[unsigned(recording.values()[number].kind)] : kKinds[3];
    row["name"] = isOwn ? recording.values()[number].name : "";
    row["tensor"] = nb::none();
    if (isOwn)
      if (const Recording::Value &value = recording.values()[number]; value.tensor)
        row["tensor"] = nb::steal(wrap(value.snapshot ? value.snapshot : value.tensor));
    values.append(row);
  }
  return values;
}

nb::dict Writer::write() {
  for (const Recording::Op &op : recording.ops()) {
    OpDef made = op.op;
    if (made.hasExpressions())
      made = made.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); });
    Row row{std::move(made), op.inputs, op.outputs, op.segments, op.location.describe()};
    add(row);
  }
  nb::dict view;
  view["operators"] = rows;
  view["values"] = valueRows();
  view["arguments"] = listOf(recording.arguments());
  view["results"] = listOf(recording.results());
  view["updated"] =
      listOf(llvm::map_range(recording.updates(), [](const Recording::Update &each) { return each.value; }));
  view["has_data_sizes"] = recording.hasDataSizes();
  return view;
}

} // namespace

nb::dict viewOf(const PyRecording &self, const std::set<std::string> &known, const std::vector<FreeAxis> &free) {
  return Writer(*self.recording, known, free).write();
}

} // namespace tess::python
