//===- Docs.cpp - gen-tess-docs and gen-tess-markdown --------------------===//
#include "ops/tblgen/Describe.h"
#include "ops/tblgen/Generators.h"

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
  std::string out = sentence(op.summary) + "\n";
  if (std::string text = paragraph(op.description); !text.empty())
    out += "\n" + text + "\n";
  std::vector<std::string> args = operandLines(op), attrs = attrLines(op);
  args.insert(args.end(), attrs.begin(), attrs.end());
  section(out, "Args", args);
  section(out, "Returns", resultLines(op));
  section(out, "Dtype of the result", {dtypeLine(op)});
  section(out, "Raises", raisesLines(op));
  section(out, "Example", exampleLines(op));
  return out;
}

void emitMarkdownOp(const OpModel &op, raw_ostream &os) {
  os << "\n### " << op.pyName << "\n`" << op.pyName << "(" << pySignature(op) << ")`\n\n" << sentence(op.summary);
  if (std::string text = paragraph(op.description); !text.empty())
    os << " " << text;
  os << "\n\n| | |\n|---|---|\n";
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
                (op.text("onnx").empty() ? "" : ", ONNX `" + op.text("onnx") + "`")});
  row("gradient", {op.hasGradient() ? "yes" : "no"});
}

} // namespace

void emitDocs(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-docs");
  os << "constexpr const char *docstrings[] = {\n";
  for (const OpModel &op : model.ops())
    os << "    " << cppString(docstring(op)) << ",\n";
  os << "};\n";
}

void emitMarkdown(const Model &model, raw_ostream &os) {
  os << "<!-- Written by tess-tblgen --gen-tess-markdown from ops/*.td. Do not edit. -->\n# Operators\n";
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
