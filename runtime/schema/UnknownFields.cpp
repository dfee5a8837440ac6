//===- UnknownFields.cpp - fields of a newer writer -----------------------===//
#include "runtime/schema/UnknownFields.h"
#include "ops/Error.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

namespace tess::runtime {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

static llvm::Error refuseBelow(const Message &message, const FieldDescriptor &field, llvm::StringRef what) {
  const google::protobuf::Reflection &reflection = *message.GetReflection();
  if (!field.is_repeated())
    return reflection.HasField(message, &field) ? refuseUnknownFields(reflection.GetMessage(message, &field), what)
                                                : llvm::Error::success();
  for (int i = 0, n = reflection.FieldSize(message, &field); i < n; ++i)
    if (llvm::Error e = refuseUnknownFields(reflection.GetRepeatedMessage(message, &field, i), what))
      return e;
  return llvm::Error::success();
}

llvm::Error refuseUnknownFields(const Message &message, llvm::StringRef what) {
  const google::protobuf::Descriptor &type = *message.GetDescriptor();
  const google::protobuf::UnknownFieldSet &unknown = message.GetReflection()->GetUnknownFields(message);
  if (!unknown.empty())
    return makeError(ErrorCode::Unimplemented, what + ": fields of " + type.name() + " must be known, got number " +
                                                   llvm::Twine(unknown.field(0).number()) +
                                                   ", written by a newer Tessera");
  for (int i = 0; i < type.field_count(); ++i)
    if (type.field(i)->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      if (llvm::Error e = refuseBelow(message, *type.field(i), what))
        return e;
  return llvm::Error::success();
}

} // namespace tess::runtime
