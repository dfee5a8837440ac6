//===- Trees.h - containers of tensors --------------------------*- C++ -*-===//
//
// What Python's functions take as tuples, lists and dicts of tensors: a Tensor,
// or a vector, array, pair, tuple or map of such.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

#include <array>
#include <map>
#include <tuple>

namespace tessera::detail {

/// Calls `leaf` for each tensor in order, and `size` for the size of each container that may have another.
template <typename Leaf, typename Size> struct TreeWalk {
  Leaf leaf;
  Size size;

  void visit(Tensor &tensor) { leaf(tensor); }
  template <typename T> void visit(std::vector<T> &list) {
    size(list.size());
    for (T &each : list)
      visit(each);
  }
  template <typename T> void visit(std::map<std::string, T> &named) {
    size(named.size());
    for (auto &[name, each] : named)
      visit(each);
  }
  template <typename T, size_t N> void visit(std::array<T, N> &list) {
    for (T &each : list)
      visit(each);
  }
  template <typename... T> void visit(std::pair<T...> &parts) { visitParts(parts); }
  template <typename... T> void visit(std::tuple<T...> &parts) { visitParts(parts); }

private:
  template <typename Parts> void visitParts(Parts &parts) {
    std::apply([&](auto &...each) { (visit(each), ...); }, parts);
  }
};
template <typename Leaf, typename Size> TreeWalk(Leaf, Size) -> TreeWalk<Leaf, Size>;

/// The tensors in order, and the sizes of containers around them.
struct Leaves {
  std::vector<Tensor> tensors;
  std::vector<size_t> sizes;

  template <typename Tree> explicit Leaves(Tree tree) {
    TreeWalk([&](Tensor &each) { tensors.push_back(each); }, [&](size_t size) { sizes.push_back(size); }).visit(tree);
  }
};

/// `like` with other tensors.
template <typename Tree> Tree rebuilt(Tree like, llvm::ArrayRef<Tensor> tensors) {
  size_t next = 0;
  TreeWalk([&](Tensor &each) { each = tensors[next++]; }, [](size_t) {}).visit(like);
  return like;
}

} // namespace tessera::detail
