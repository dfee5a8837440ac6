//===- ConvResidues.cpp - windows that reach elements ---------------------===//
#include "runtime/cpu/ConvResidues.h"

namespace tess::runtime::cpu {

static std::vector<Residue> residuesOf(const SpatialAxis &axis) {
  std::vector<Residue> list;
  for (int64_t first = 0; first < std::min(axis.stride, axis.size) && int64_t(list.size()) < axis.kernel; ++first) {
    Residue residue{first, {axis.results, (axis.size - first + axis.stride - 1) / axis.stride, 0}};
    for (int64_t place = 0; place < axis.kernel; ++place) {
      const int64_t distance = first + axis.pad - place * axis.dilation;
      if (distance % axis.stride)
        continue;
      if (residue.axis.kernel == 0) {
        residue.place = place;
        residue.axis.pad = -(distance / axis.stride);
      } else if (residue.axis.kernel == 1) {
        residue.step = place - residue.place;
        residue.axis.dilation = -(residue.step * axis.dilation / axis.stride);
      }
      ++residue.axis.kernel;
    }
    if (residue.axis.kernel)
      list.push_back(residue);
  }
  return list;
}

std::vector<Residues> residuesOf(const ConvShape &shape) {
  std::vector<Residues> list;
  for (const Residue &d : residuesOf(shape.axes[0]))
    for (const Residue &h : residuesOf(shape.axes[1]))
      for (const Residue &w : residuesOf(shape.axes[2]))
        list.push_back({d, h, w});
  return list;
}

size_t bytesToClear(const ConvShape &shape, const TensorMeta &image) {
  int64_t reached = 0;
  for (const Residues &residues : residuesOf(shape))
    reached += residues[0].axis.results * residues[1].axis.results * residues[2].axis.results;
  return reached == shape.plane() ? 0 : size_t(image.numElements()) * byteWidth(image.dtype);
}

std::vector<int64_t> placesOf(const ConvShape &shape, const Residues &residues) {
  const auto &[depth, row, column] = residues;
  std::vector<int64_t> places;
  for (int64_t d = 0; d < depth.axis.kernel; ++d)
    for (int64_t h = 0; h < row.axis.kernel; ++h)
      for (int64_t w = 0; w < column.axis.kernel; ++w) {
        const int64_t rows = (depth.place + d * depth.step) * shape.axes[1].kernel + row.place + h * row.step;
        places.push_back(rows * shape.axes[2].kernel + column.place + w * column.step);
      }
  return places;
}

} // namespace tess::runtime::cpu
