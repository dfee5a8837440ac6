//===- Graph.cpp - contexts, modules and text -----------------------------===//
#include "ir/Dialect.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ops/vocabulary/Error.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <mutex>

using namespace mlir;

namespace tess::ir {
namespace {

struct ContextPool {
  std::mutex mutex;
  std::vector<std::pair<std::unique_ptr<MLIRContext>, unsigned>> idle;
};
/// A context holds a few MB; graphs beyond this many at the same time get new ones.
constexpr size_t kMaxIdle = 4;
constexpr unsigned kMaxUses = 2000;

ContextPool &pool() {
  static ContextPool *instance = new ContextPool; // never destroyed: static Graphs return their contexts to it
  return *instance;
}

std::unique_ptr<MLIRContext> makeContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<TessDialect, func::FuncDialect>();
  return context;
}

} // namespace

PooledContext::PooledContext() {
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    if (!pool().idle.empty()) {
      std::tie(context, uses) = std::move(pool().idle.back());
      pool().idle.pop_back();
    }
  }
  if (!context)
    context = makeContext();
  ++uses;
}

PooledContext::~PooledContext() {
  std::lock_guard<std::mutex> lock(pool().mutex);
  if (!retired && uses < kMaxUses && pool().idle.size() < kMaxIdle)
    pool().idle.emplace_back(std::move(context), uses);
}

func::FuncOp GraphImpl::main() const { return cast<func::FuncOp>(module.get().lookupSymbol("main")); }

Graph::Graph() : pimpl(std::make_unique<GraphImpl>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph &&) noexcept = default;
Graph &Graph::operator=(Graph &&) noexcept = default;

unsigned Graph::bitsVersion() const { return pimpl->bitsVersion; }

Numerics Graph::numerics() const { return numericsOf(pimpl->main()); }

void Graph::setNumerics(Numerics numerics) {
  std::lock_guard<std::mutex> lock(pimpl->mutex); // one thread at a time may use the context
  setNumericsOf(pimpl->main(), numerics);
}

llvm::StringRef nameOf(Numerics numerics) { return numerics == Numerics::Fast ? "fast" : "strict"; }

llvm::Expected<Numerics> parseNumerics(StringRef caller, StringRef name) {
  for (Numerics numerics : {Numerics::Strict, Numerics::Fast})
    if (name == nameOf(numerics))
      return numerics;
  return invalidArgument(caller + ": numerics must be 'strict' or 'fast', got '" + name + "'");
}

Numerics numericsOf(func::FuncOp func) {
  auto name = func->getAttrOfType<StringAttr>(kNumericsAttr);
  return name && name.getValue() == nameOf(Numerics::Fast) ? Numerics::Fast : Numerics::Strict;
}

void setNumericsOf(func::FuncOp func, Numerics numerics) {
  if (numerics == Numerics::Strict)
    func->removeAttr(kNumericsAttr);
  else
    func->setAttr(kNumericsAttr, StringAttr::get(func.getContext(), nameOf(numerics)));
}

std::string Graph::toText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/true).elideLargeElementsAttrs(16).elideLargeResourceString(64);
  pimpl->module->print(os, flags);
  return text;
}

llvm::Expected<Graph> Graph::parseText(StringRef text) {
  Graph graph;
  MLIRContext *context = graph.pimpl->context.get();
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  graph.pimpl->module = parseSourceString<ModuleOp>(text, context);
  if (!graph.pimpl->module)
    return invalidArgument("graph: text must be a valid module of the tess dialect, got error: " + message);
  if (!graph.pimpl->module->lookupSymbol<func::FuncOp>("main"))
    return invalidArgument("graph: module must have a function main, got none");
  return graph;
}

} // namespace tess::ir
