//===- Autodiff.cpp - gradients ------------------------------------------===//
#include "tessera/Autodiff.h"

#include "eager/tracing/Recorder.h"
#include "tessera/Frozen.h"

namespace tessera {

namespace eager = tess::eager;

GradManager &GradManager::attach(const std::vector<Tensor> &tensors, const Callback &callback) {
  bool isChanged = false;
  for (const Tensor &tensor : tensors) {
    eager::TensorRef variable = tensor.ref();
    size_t i = 0;
    while (i < attached.size() && attached[i].tensor.ref() != variable)
      ++i;
    if (i == attached.size()) {
      attached.push_back({tensor, {}});
      if (tape)
        watch(attached.back());
      isChanged = true;
    }
    if (!callback)
      continue;
    attached[i].callbacks.push_back(callback);
    isChanged = true;
  }
  if (isChanged)
    noteChange();
  return *this;
}

/// Notes that the attached tensors have changed. Changes within a recorded call do not count, because its program
/// attaches nothing.
void GradManager::noteChange() {
  if (detail::Effects::current())
    return;
  *unchanged = false;
  unchanged = std::make_shared<bool>(true);
}

std::vector<Tensor> GradManager::attachedTensors() const {
  std::vector<Tensor> tensors;
  for (const Attached &entry : attached)
    tensors.push_back(entry.tensor);
  return tensors;
}

void GradManager::watch(const Attached &entry) {
  if (detail::isFrozen(entry.tensor))
    return;
  unsigned number = tape->watch(*entry.tensor.ref());
  watched.resize(std::max<size_t>(watched.size(), number + 1));
  watched[number] = &entry - attached.data();
}

GradManager::Scope GradManager::record() {
  if (tape)
    throw Error(ErrorCode::InvalidArgument, "record: a GradManager must record once at a time, got a second start");
  if (detail::Effects *effects = detail::Effects::current())
    effects->seeMode(unchanged);
  detail::noteFrozen();
  tape = eager::Tape::create();
  for (const Attached &entry : attached)
    watch(entry);
  tape->start();
  return Scope(*this);
}

void GradManager::release() {
  if (!tape)
    return;
  tape->stop();
  tape->clear();
  tape.reset();
  watched.clear();
}

void GradManager::Attached::add(Tensor grad) const {
  for (const Callback &callback : callbacks)
    grad = callback(tensor, grad);
  eager::noteGrad(*tensor.ref());
  Tensor before = tensor.grad();
  if (before.isDefined())
    before.assign(before + grad);
  else
    tensor.setGrad(grad);
}

static eager::Tensors refs(const std::vector<Tensor> &tensors) {
  eager::Tensors list;
  for (const Tensor &tensor : tensors)
    list.push_back(tensor.isDefined() ? tensor.ref() : eager::TensorRef());
  return list;
}

void GradManager::backward(const std::vector<Tensor> &ys, const std::vector<Tensor> &dys) {
  if (!tape)
    throw Error(ErrorCode::InvalidArgument, "backward: the manager must be recording, got one that is not");
  std::vector<size_t> order = watched;
  eager::TapeRef recorded = tape;
  auto grads = recorded->backward(refs(ys), refs(dys));
  release();
  eager::Tensors values = valueOrThrow(std::move(grads));
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i])
      attached[order[i]].add(Tensor(values[i]));
}

} // namespace tessera
