//===- MessageMemory.cpp - what a Protobuf message would take -------------===//
#include "runtime/schema/MessageMemory.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/DenseMap.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>

namespace tess::runtime {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MessageFactory;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace {

/// Walks the wire format without building messages.
class Walk {
public:
  uint64_t total = 0;

  /// False at the first field that does not parse; the parser reports it later.
  bool message(CodedInputStream &in, const Descriptor &type) {
    while (uint32_t tag = in.ReadTag())
      if (!field(in, tag, type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag))))
        return false;
    return true;
  }

private:
  /// A string of its own: the object, its pointer, what the allocator adds.
  static constexpr uint64_t kStringBytes = sizeof(std::string) + 2 * sizeof(void *) + 16;

  bool field(CodedInputStream &in, uint32_t tag, const FieldDescriptor *field) {
    if (field && field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
      total += kStringBytes;
    bool isMessage = field && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
                     WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!isMessage)
      return WireFormatLite::SkipField(&in, tag);
    uint32_t length = 0;
    if (!in.ReadVarint32(&length) || length > INT32_MAX)
      return false;
    const Descriptor &type = *field->message_type();
    total += sizeOf(type);
    CodedInputStream::Limit limit = in.PushLimit(int(length));
    bool ok = message(in, type) && in.BytesUntilLimit() == 0;
    in.PopLimit(limit);
    return ok;
  }

  uint64_t sizeOf(const Descriptor &type) {
    uint64_t &size = sizes[&type];
    if (!size)
      size = MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
    return size;
  }

  llvm::SmallDenseMap<const Descriptor *, uint64_t, 16> sizes;
};

} // namespace

llvm::Error checkMessageMemory(llvm::StringRef bytes, const google::protobuf::Message &prototype,
                               llvm::StringRef what) {
  constexpr uint64_t kFactor = 3, kAllowance = uint64_t(12) << 20;
  if (bytes.size() > INT32_MAX)
    return llvm::Error::success();
  CodedInputStream in(reinterpret_cast<const uint8_t *>(bytes.data()), int(bytes.size()));
  Walk walk;
  (void)walk.message(in, *prototype.GetDescriptor());
  if (walk.total <= kFactor * bytes.size() + kAllowance)
    return llvm::Error::success();
  return makeError(ErrorCode::DataLoss, what + ": messages must take at most " + llvm::Twine(kFactor) +
                                            " times their bytes and 12 MiB, got " + llvm::Twine(walk.total) + " for " +
                                            llvm::Twine(bytes.size()) + " bytes");
}

} // namespace tess::runtime
