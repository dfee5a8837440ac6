//===- Windows.cpp - reductions over windows ------------------------------===//
#include "ops/inference/WindowRules.h"
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
  ValueId operand = step.operands[0], result = step.results[0];
  const OpDef &op = operatorOf(step.op);
  windows::Windows windows = windows::of(op);
  llvm::ArrayRef<int64_t> extents = llvm::ArrayRef(metas[operand].shape).take_back(windows.size());
  Shape domain = metas[result].shape;
  KernelOperands operands{{}, {}, 1};
  for (auto [window, extent] : llvm::zip(windows, extents)) {
    domain.push_back(window.size);
    operands.bounds.push_back({window.stride, window.dilation, window.padding, extent});
  }
  operands.shapes = {domain};
  operands.layouts = {windowLayout(layouts[operand], windows, domain), layouts[result]};
  size_t before = bound->commands.size();
  llvm::Error error = addLaunch(step, step.entry, {operand, result}, operands);
  if (!error && bound->commands.size() > before)
    bound->commands.back().launch.lead =
        (layouts[operand].offset - operands.layouts[0].offset) * byteWidth(metas[operand].dtype);
  return error;
}

} // namespace tess::runtime
