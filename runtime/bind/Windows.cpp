//===- Windows.cpp - reductions over windows ------------------------------===//
#include "runtime/bind/Binder.h"

namespace tess::runtime {

/// `layout` with an axis for each of the last windows' positions and one for the elements in each; its first element
/// may lie before the operand.
static Layout windowLayout(Layout layout, llvm::ArrayRef<WindowAxis> windows, llvm::ArrayRef<int64_t> domain) {
  size_t first = layout.strides.size() - windows.size();
  for (auto [index, window] : llvm::enumerate(windows)) {
    int64_t stride = layout.strides[first + index];
    layout.offset -= window.padding * stride;
    layout.strides[first + index] = window.stride * stride;
    layout.strides.push_back(window.dilation * stride);
  }
  layout.shape.assign(domain.begin(), domain.end());
  return layout;
}

llvm::Error Binder::addWindow(const Step &step) {
  if (llvm::Error error = checkOperator(step))
    return error;
  ValueId operand = step.operands[0], result = step.results[0];
  const OpDef &op = operatorOf(step.op);
  auto windows = op.info().windowRule(op);
  Shape domain = metas[result].shape, source = metas[operand].shape;
  llvm::SmallVector<KernelBound, 3> bounds;
  for (auto [index, window] : llvm::enumerate(windows)) {
    domain.push_back(window.size);
    int64_t extent = source[source.size() - windows.size() + index];
    bounds.push_back({window.stride, window.dilation, window.padding, extent});
  }
  Layout elements = windowLayout(layouts[operand], windows, domain);
  llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, {domain}, {elements, layouts[result]}, 1, bounds);
  if (!geometry)
    return geometry.takeError();
  if (geometry->parallel == 0)
    return llvm::Error::success();
  Command &command = newCommand(Command::Launch, &step);
  command.numInputs = command.numOutputs = 1;
  setLaunch(command, step, step.entry, *geometry);
  addPointer(operand, elements.offset);
  addPointer(result, layouts[result].offset);
  return llvm::Error::success();
}

} // namespace tess::runtime
