//===- SavedRecords.cpp - records of saved modules as dicts ---------------===//
//
// Messages of frontends/python/proto as dicts of what is set, and back. The bytes
// are those of one message Saved, whose records are taken one by one: a file of a
// million expressions needs the memory of one.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/proto/TracedModule.pb.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

#include "ops/vocabulary/Error.h"
#include "runtime/schema/MessageParse.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>

namespace tess::python {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using traced::proto::Record;

namespace {

constexpr unsigned kMostDeep = 100; // as Protobuf's parsers
constexpr char kTag = 1 << 3 | 2;   // field 1 of Saved: a message

// From messages.

nb::object textOf(const FieldDescriptor &field, const std::string &text) {
  if (field.type() == FieldDescriptor::TYPE_BYTES)
    return nb::bytes(text.data(), text.size());
  return nb::str(text.data(), text.size());
}

nb::dict dictOf(const Message &message);

/// Element `index` of a repeated field; -1: of one that is not.
nb::object valueOf(const Message &message, const FieldDescriptor &field, int index) {
  const Reflection &in = *message.GetReflection();
  bool isOne = index < 0;
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return dictOf(isOne ? in.GetMessage(message, &field) : in.GetRepeatedMessage(message, &field, index));
  case FieldDescriptor::CPPTYPE_STRING:
    return textOf(field, isOne ? in.GetString(message, &field) : in.GetRepeatedString(message, &field, index));
  case FieldDescriptor::CPPTYPE_UINT32:
    return nb::int_(isOne ? in.GetUInt32(message, &field) : in.GetRepeatedUInt32(message, &field, index));
  case FieldDescriptor::CPPTYPE_INT64:
    return nb::int_(isOne ? in.GetInt64(message, &field) : in.GetRepeatedInt64(message, &field, index));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return nb::float_(in.GetDouble(message, &field));
  case FieldDescriptor::CPPTYPE_BOOL:
    return nb::bool_(in.GetBool(message, &field));
  default:
    return nb::int_(in.GetEnumValue(message, &field));
  }
}

nb::dict dictOf(const Message &message) {
  std::vector<const FieldDescriptor *> fields;
  message.GetReflection()->ListFields(message, &fields);
  nb::dict dict;
  for (const FieldDescriptor *field : fields) {
    if (!field->is_repeated()) {
      dict[field->name().c_str()] = valueOf(message, *field, -1);
      continue;
    }
    nb::list list;
    for (int i = 0, n = message.GetReflection()->FieldSize(message, field); i < n; ++i)
      list.append(valueOf(message, *field, i));
    dict[field->name().c_str()] = list;
  }
  return dict;
}

// To messages.

void fill(Message &message, const nb::dict &dict, unsigned depth);

std::string stringOf(const FieldDescriptor &field, nb::handle value) {
  if (field.type() == FieldDescriptor::TYPE_BYTES) {
    nb::bytes bytes = nb::cast<nb::bytes>(value);
    return std::string(bytes.c_str(), bytes.size());
  }
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text)
    return std::string(text, size);
  PyErr_Clear();
  throwError(invalidArgument("save: texts in a traced module must be Unicode, got others in " + field.full_name()));
}

void setOne(Message &message, const FieldDescriptor &field, nb::handle value, unsigned depth) {
  const Reflection &out = *message.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return fill(*out.MutableMessage(&message, &field), nb::cast<nb::dict>(value), depth);
  case FieldDescriptor::CPPTYPE_STRING:
    return out.SetString(&message, &field, stringOf(field, value));
  case FieldDescriptor::CPPTYPE_UINT32:
    return out.SetUInt32(&message, &field, nb::cast<uint32_t>(value));
  case FieldDescriptor::CPPTYPE_INT64:
    return out.SetInt64(&message, &field, nb::cast<int64_t>(value));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return out.SetDouble(&message, &field, nb::cast<double>(value));
  case FieldDescriptor::CPPTYPE_BOOL:
    return out.SetBool(&message, &field, nb::cast<bool>(value));
  default:
    return out.SetEnumValue(&message, &field, nb::cast<int>(value));
  }
}

void addOne(Message &message, const FieldDescriptor &field, nb::handle value, unsigned depth) {
  const Reflection &out = *message.GetReflection();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_MESSAGE:
    return fill(*out.AddMessage(&message, &field), nb::cast<nb::dict>(value), depth);
  default:
    return out.AddInt64(&message, &field, nb::cast<int64_t>(value));
  }
}

void fill(Message &message, const nb::dict &dict, unsigned depth) {
  if (depth >= kMostDeep)
    throwError(invalidArgument("save: a record must have at most " + llvm::Twine(kMostDeep) +
                               " messages within each other, got more"));
  for (auto [name, value] : dict) {
    const FieldDescriptor *field = message.GetDescriptor()->FindFieldByName(nb::cast<std::string>(name));
    if (!field)
      throwError(invalidArgument("save: a record must have the fields of " + message.GetTypeName() + ", got " +
                                 nb::cast<std::string>(name)));
    if (!field->is_repeated()) {
      setOne(message, *field, value, depth + 1);
      continue;
    }
    for (nb::handle item : value)
      addOne(message, *field, item, depth + 1);
  }
}

class RecordWriter {
public:
  void add(const std::string &kind, const nb::dict &dict) {
    Record record;
    const FieldDescriptor *field = Record::descriptor()->FindFieldByName(kind);
    if (!field)
      throwError(invalidArgument("save: a record must be of a kind that is known, got " + kind));
    fill(*record.GetReflection()->MutableMessage(&record, field), dict, 1);
    content.push_back(kTag);
    llvm::raw_string_ostream stream(content);
    llvm::encodeULEB128(record.ByteSizeLong(), stream);
    stream.flush();
    record.AppendToString(&content);
  }

  nb::bytes bytes() const { return nb::bytes(content.data(), content.size()); }

private:
  std::string content;
};

class RecordReader {
public:
  explicit RecordReader(nb::bytes bytes) : bytes(std::move(bytes)) {}

  /// (kind, what is set) of the next record.
  nb::tuple next() {
    llvm::StringRef rest = llvm::StringRef(bytes.c_str(), bytes.size()).drop_front(position);
    if (rest.empty())
      throw nb::stop_iteration();
    const char *error = nullptr;
    unsigned lengthBytes = 0;
    auto *begin = reinterpret_cast<const uint8_t *>(rest.data()), *end = begin + rest.size();
    uint64_t length = rest.front() == kTag ? llvm::decodeULEB128(begin + 1, &lengthBytes, end, &error) : 0;
    size_t start = 1 + size_t(lengthBytes);
    if (rest.front() != kTag || error || length > rest.size() - start)
      throwError(makeError(ErrorCode::DataLoss, name() + ": must be whole, got byte " + llvm::Twine(position) + " of " +
                                                    llvm::Twine(bytes.size())));
    checkOrThrow(runtime::parseMessage(rest.substr(start, length), record, name()));
    position += start + length;
    ++number;
    std::vector<const FieldDescriptor *> fields;
    record.GetReflection()->ListFields(record, &fields);
    if (fields.empty())
      throwError(makeError(ErrorCode::DataLoss, name() + ": must be of a kind that is known, got another"));
    return nb::make_tuple(fields.front()->name(), valueOf(record, *fields.front(), -1));
  }

private:
  std::string name() const { return "load: record " + std::to_string(number) + " of a traced module"; }

  nb::bytes bytes;
  Record record;
  size_t position = 0, number = 0;
};

} // namespace

void initSavedRecords(nb::module_ &module) {
  nb::class_<RecordWriter>(module, "RecordWriter", "Writes records of a saved module.")
      .def("__init__", [](RecordWriter *self) { new (self) RecordWriter(); })
      .def("add", &RecordWriter::add, nb::arg("kind"), nb::arg("fields"), "Adds a record of a kind, by its fields.")
      .def("bytes", &RecordWriter::bytes, "All records.");
  nb::class_<RecordReader>(module, "RecordReader", "The records in bytes, one after another: (kind, fields).")
      .def(
          "__init__", [](RecordReader *self, nb::bytes bytes) { new (self) RecordReader(std::move(bytes)); },
          nb::arg("bytes"))
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &RecordReader::next);
}

} // namespace tess::python
