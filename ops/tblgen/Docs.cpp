//===- Docs.cpp - gen-tess-docs and gen-tess-markdown --------------------===//
//
// Where an operator's text in the dialect belongs stands `@ir`, and `@shape` where
// the shapes of its example's results do: both need inference, which the readers of
// these outputs link (ops/table/Docs.h).
//
//===----------------------------------------------------------------------===//
#include "ops/tblgen/Describe.h"
#include "ops/tblgen/Generators.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

namespace {

std::string sentence(std::string text) {
  if (!text.empty())
    text[0] = toUpper(text[0]);
  return text + ".";
}

/// The paragraphs of a TableGen code block, without its indentation.
std::string paragraph(StringRef text) {
  std::string out;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (!line.trim().empty())
      out += (out.empty() ? "" : " ") + line.trim().str();
  return out;
}

void section(std::string &out, StringRef title, const std::vector<std::string> &lines) {
  if (lines.empty())
    return;
  out += "\n" + title.str() + ":\n";
  for (const std::string &line : lines)
    out += "    " + line + "\n";
}

std::string docstring(const OpModel &op) {
  std::string out = documentation(op);
  section(out, "IR", {"@ir"});
  section(out, "Example", exampleLines(op));
  return out;
}

void emitMarkdownOp(const OpModel &op, raw_ostream &os) {
  os << "\n### " << op.pyName << "\n`" << op.pyName << "(" << pySignature(op) << ")`\n\n"
     << sentence(op.summary) << " " << paragraph(op.description) << "\n\n@ir " << op.name << "\n\n| | |\n|---|---|\n";
  auto row = [&](StringRef name, const std::vector<std::string> &lines) {
    if (!lines.empty())
      os << "| " << name << " | " << join(lines, "<br>") << " |\n";
  };
  row("operands", operandLines(op));
  row("attributes", attrLines(op));
  row("results", resultLines(op));
  row("dtype", {dtypeLine(op)});
  row("errors", raisesLines(op));
  row("names", {"`tess." + op.name + "`, `builtin." + op.opdefName + "`" +
                (op.text("onnx").empty() ? "" : ", ONNX `" + StringRef(op.text("onnx")).split('(').first.str() + "`")});
  row("gradient", {op.hasGradient() ? "yes" : "no"});
}

/// The first sample as a row of firstCallOf.
void emitFirstCall(const OpModel &op, raw_ostream &os) {
  os << "{OpDef::get(" << cppString(op.name) << ")";
  for (const auto &[name, value] : op.samples.front().attrs)
    os << ".set(" << cppString(name) << ", " << cppValue(value) << ")";
  os << ", {";
  for (const ExampleOperand &operand : exampleOperands(op)) {
    auto dims = map_range(operand.shape, [](int64_t d) { return std::to_string(d); });
    os << "TensorMeta(" << cppDType(*parseDType(operand.dtype)) << ", {" << join(dims, ", ") << "}), ";
  }
  os << "}}";
}

} // namespace

std::string documentation(const OpModel &op) {
  std::string out = sentence(op.summary) + "\n\n" + paragraph(op.description) + "\n";
  std::vector<std::string> args = operandLines(op), attrs = attrLines(op);
  args.insert(args.end(), attrs.begin(), attrs.end());
  section(out, "Args", args);
  section(out, "Returns", resultLines(op));
  section(out, "Dtype of the result", {dtypeLine(op)});
  section(out, "Raises", raisesLines(op));
  return out;
}

void emitDocs(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-docs");
  os << "constexpr const char *docstrings[] = {\n";
  for (const OpModel &op : model.ops())
    os << "    " << cppString(docstring(op)) << ",\n";
  os << "};\nFirstCall firstCallOf(unsigned id) {\n  switch (id) {\n";
  for (auto [id, op] : enumerate(model.ops())) {
    os << "  case " << id << ":\n    return ";
    emitFirstCall(op, os);
    os << ";\n";
  }
  os << "  }\n  llvm_unreachable(\"every operator has a first call\");\n}\n";
}

void emitMarkdown(const Model &model, raw_ostream &os) {
  os << "<!-- Written by tess-tblgen --gen-tess-markdown from ops/records/*.td. Do not edit. -->\n# Operators\n";
  std::map<std::string, std::vector<const OpModel *>> byModule;
  for (const OpModel &op : model.ops())
    if (!op.pyName.empty())
      byModule[op.pyModule].push_back(&op);
  for (const auto &[module, ops] : byModule) {
    os << "\n## tessera." << module << "\n";
    for (const OpModel *op : ops)
      emitMarkdownOp(*op, os);
  }
}

} // namespace tess::tblgen
