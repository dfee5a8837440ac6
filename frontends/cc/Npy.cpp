//===- Npy.cpp - NumPy's array files --------------------------------------===//
#include "tessera/npy.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

namespace tessera::deploy {

namespace {

struct TypeName {
  const char *npy;
  DType dtype;
};
constexpr TypeName typeNames[] = {{"f2", DType::Float16},   {"f4", DType::Float32},    {"f8", DType::Float64},
                                  {"i1", DType::Int8},      {"u1", DType::UInt8},      {"i2", DType::Int16},
                                  {"i4", DType::Int32},     {"i8", DType::Int64},      {"b1", DType::Bool},
                                  {"u2", DType::UInt16},    {"u4", DType::UInt32},     {"u8", DType::UInt64},
                                  {"c8", DType::Complex64}, {"c16", DType::Complex128}};

struct Closer {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

struct Header {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

Status bad(const std::string &path, const std::string &message) { return {Code::DataLoss, path + ": " + message}; }

Status systemError(const std::string &path, const char *doing) {
  int code = errno;
  return {code == ENOENT ? Code::NotFound : Code::IoError,
          path + ": must be able to " + doing + ", got " + std::strerror(code)};
}

} // namespace

/// The position of the text after `'key':`, spaces skipped; npos when the key is missing.
static size_t valueOf(const std::string &text, const std::string &key) {
  size_t at = text.find("'" + key + "'");
  at = at == std::string::npos ? at : text.find(':', at);
  return at == std::string::npos ? at : text.find_first_not_of(' ', at + 1);
}

/// Parses a header, as in "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
static bool parseHeader(const std::string &text, Header &header) {
  size_t descr = valueOf(text, "descr"), order = valueOf(text, "fortran_order"), shape = valueOf(text, "shape");
  if (descr == std::string::npos || order == std::string::npos || shape == std::string::npos || text[descr] != '\'' ||
      text[shape] != '(')
    return false;
  header.descr = text.substr(descr + 1, text.find('\'', descr + 1) - descr - 1);
  header.fortran = text.compare(order, 4, "True") == 0;
  size_t end = text.find(')', shape);
  if (end == std::string::npos)
    return false;
  for (size_t at = shape + 1; at < end;) {
    size_t digits = text.find_first_not_of("0123456789", at);
    if (digits == at) { // a comma or a space
      ++at;
      continue;
    }
    if (digits - at > 15 || header.shape.size() == 32)
      return false;
    header.shape.push_back(std::stoll(text.substr(at, digits - at)));
    at = digits;
  }
  return true;
}

/// The number of elements of `shape`; -1 when their bytes would not fit in memory.
static int64_t checkedCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size && count > (int64_t(1) << 56) / size)
      return -1;
    count *= size;
  }
  return count;
}

static void toRowMajor(NpyArray &array) {
  size_t rank = array.shape.size(), width = byteWidth(array.dtype);
  std::vector<char> out(array.data.size());
  std::vector<int64_t> index(rank), strides(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * array.shape[axis - 1];
  for (int64_t i = 0, n = array.count(); i < n; ++i) {
    int64_t source = std::inner_product(index.begin(), index.end(), strides.begin(), int64_t(0));
    std::memcpy(out.data() + i * int64_t(width), array.data.data() + source * int64_t(width), width);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < array.shape[axis])
        break;
      index[axis] = 0;
    }
  }
  array.data = std::move(out);
}

static Status readHeader(std::FILE *file, const std::string &path, Header &header) {
  unsigned char start[12] = {};
  if (std::fread(start, 1, 10, file) != 10 || std::memcmp(start, "\x93NUMPY", 6) != 0)
    return bad(path, "must be a .npy file, got another kind");
  uint32_t length = start[8] | uint32_t(start[9]) << 8;
  if (start[6] >= 2) { // the length takes four bytes
    if (std::fread(start + 10, 1, 2, file) != 2)
      return bad(path, "must have a header, got the end of the file");
    length |= uint32_t(start[10]) << 16 | uint32_t(start[11]) << 24;
  }
  if (start[6] < 1 || start[6] > 3 || length > 1 << 20)
    return bad(path, "must be of .npy version 1 to 3, got " + std::to_string(start[6]));
  std::string text(length, '\0');
  if (std::fread(text.data(), 1, length, file) != length || !parseHeader(text, header))
    return bad(path, "must have a header with descr, fortran_order and shape, got another");
  return {};
}

static Status readArray(std::FILE *file, const std::string &path, NpyArray &array) {
  Header header;
  if (Status status = readHeader(file, path, header); !status)
    return status;
  const TypeName *type = nullptr;
  for (const TypeName &candidate : typeNames)
    if (header.descr.size() >= 3 && header.descr[0] != '>' && header.descr.substr(1) == candidate.npy)
      type = &candidate;
  if (!type)
    return bad(path, "must have elements of a little-endian number, got " + header.descr);
  int64_t count = checkedCount(header.shape);
  long begin = std::ftell(file);
  std::fseek(file, 0, SEEK_END);
  int64_t available = std::ftell(file) - begin;
  std::fseek(file, begin, SEEK_SET);
  int64_t bytes = count < 0 ? -1 : count * int64_t(byteWidth(type->dtype));
  if (bytes < 0 || bytes > available)
    return bad(path, "must have as many elements as its shape says, got " + std::to_string(available) + " bytes");
  array = {type->dtype, header.shape, std::vector<char>(size_t(bytes))};
  if (std::fread(array.data.data(), 1, size_t(bytes), file) != size_t(bytes))
    return systemError(path, "read the file");
  if (header.fortran && array.shape.size() > 1)
    toRowMajor(array);
  return {};
}

Status readNpy(const std::string &path, NpyArray &array) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return systemError(path, "open the file");
  return readArray(file.get(), path, array);
}

Status parseNpy(const std::string &bytes, const std::string &name, NpyArray &array) {
  if (bytes.empty())
    return bad(name, "must be a .npy file, got no bytes");
  File file(::fmemopen(const_cast<char *>(bytes.data()), bytes.size(), "rb"));
  if (!file)
    return systemError(name, "read the bytes");
  return readArray(file.get(), name, array);
}

DType storedAs(DType dtype) {
  switch (dtype) {
  case DType::BFloat16:
    return DType::UInt16;
  case DType::Float8E4M3:
  case DType::Float8E5M2:
    return DType::UInt8;
  case DType::QInt8:
  case DType::QInt8Narrow:
  case DType::QInt4:
  case DType::QInt1:
  case DType::IntB1:
  case DType::IntB2:
  case DType::IntB4:
    return DType::Int8;
  case DType::QUInt8:
  case DType::QUInt4:
    return DType::UInt8;
  case DType::QInt32:
    return DType::Int32;
  default:
    return dtype;
  }
}

static std::string headerText(DType dtype, const Shape &shape) {
  std::string descr;
  for (const TypeName &candidate : typeNames)
    if (candidate.dtype == storedAs(dtype))
      descr = (byteWidth(dtype) == 1 ? "|" : "<") + std::string(candidate.npy);
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    text += std::to_string(size) + ", ";
  if (shape.size() > 1)
    text.resize(text.size() - 2);
  else if (shape.size() == 1)
    text.pop_back();
  text += "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  return text + '\n';
}

Status writeNpy(const std::string &path, DType dtype, const Shape &shape, const void *data) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file)
    return systemError(path, "create the file");
  std::string text = headerText(dtype, shape);
  const unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   static_cast<unsigned char>(text.size() & 255),
                                   static_cast<unsigned char>(text.size() >> 8)};
  size_t bytes = byteWidth(dtype);
  for (int64_t size : shape)
    bytes *= size_t(size);
  bool ok = std::fwrite(start, 1, 10, file.get()) == 10 &&
            std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
            std::fwrite(data, 1, bytes, file.get()) == bytes && std::fflush(file.get()) == 0;
  if (!ok)
    return systemError(path, "write the file");
  return {};
}

} // namespace tessera::deploy
