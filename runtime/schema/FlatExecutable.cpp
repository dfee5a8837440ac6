// `fields` lists the fields of every part once, for both the writer and the reader.
#include "runtime/schema/FlatExecutable.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/vocabulary/Error.h"
#include "runtime/schema/ExecutableCodec.h"
#include "llvm/ADT/STLExtras.h"

#include <concepts>
#include <cstring>

namespace tess::runtime {

namespace {

template <typename T, typename Part>
concept Is = std::same_as<std::remove_const_t<T>, Part>;

template <typename A> void fields(A &a, Is<SymbolDecl> auto &x) { a(x.name, x.min, x.max); }
template <typename A> void fields(A &a, Is<DataSize> auto &x) { a(x.value, x.axis); }
template <typename A> void fields(A &a, Is<ValueDecl> auto &x) {
  a(x.kind, x.dtype, x.base, x.constant, x.name, x.location);
}
template <typename A> void fields(A &a, Is<ProgramNode> auto &x) { a(x.op, x.operands, x.segments, x.results, x.loop); }
template <typename A> void fields(A &a, Is<LoopDecl> auto &x) {
  a(x.arguments, x.yields, x.numCarried, x.numNodes, x.numSteps, x.length, x.reverse, x.isGuarded);
}
template <typename A> void fields(A &a, Is<AxisGroup> auto &x) { a(x.first, x.last); }
template <typename A> void fields(A &a, Is<ScalarSource> auto &x) { a(x.kind, x.bits, x.parameter); }
template <typename A> void fields(A &a, Is<LookupDecl> auto &x) { a(x.operand, x.axis, x.node); }
template <typename A> void fields(A &a, Is<std::pair<uint16_t, uint16_t>> auto &x) { a(x.first, x.second); }
template <typename A> void fields(A &a, Is<Step> auto &x) {
  a(x.kind, x.operands, x.results, x.domain, x.parallel, x.reduced, x.vectorOnReduced, x.innerClasses, x.scalars,
    x.lookups, x.image, x.entry, x.fillEntry, x.op, x.segments, x.inplace, x.implementation, x.location, x.loop);
}
template <typename A> void fields(A &a, Is<GridEntry> auto &x) { a(x.numPointers, x.numDims, x.team); }
template <typename A> void fields(A &a, Is<KernelEntry> auto &x) {
  a(x.name, x.offset, x.scratchBytesPerElement, x.picosecondsPerElement, x.scratchBytesPerChunk, x.grid);
}
template <typename A> void fields(A &a, Is<Image> auto &x) { a(x.bytes, x.entries, x.features, x.hash, x.abi, x.kind); }
template <typename A> void fields(A &a, Is<TensorMeta> auto &x) { a(x.dtype, x.shape); }
template <typename A> void fields(A &a, Is<ConstantDecl> auto &x) { a(x.meta, a.content(x), x.tensor); }
template <typename A> void fields(A &a, Is<DimDecl> auto &x) { a(x.size, x.symbol); }
template <typename A> void fields(A &a, Is<InputDecl> auto &x) { a(x.name, x.value, x.dtype, x.dims, x.initial); }
template <typename A> void fields(A &a, Is<OutputDecl> auto &x) { a(x.name, x.value, x.donates); }
template <typename A> void fields(A &a, Is<Executable> auto &x) {
  a(x.target, x.numThreads, x.symbols, x.values, x.nodes, x.steps, x.loops, x.images, x.constants, x.inputs, x.outputs,
    x.numScalars, x.bitsVersion, x.dataSizes, x.withoutWinograd, x.isFast);
}

// The last value of each enumeration: a reader refuses larger ones.
constexpr ValueKind last(ValueKind) { return ValueKind::Argument; }
constexpr InnerClass last(InnerClass) { return InnerClass::Repeated; }
constexpr ImageKind last(ImageKind) { return ImageKind::Ptx; }
constexpr StepKind last(StepKind) { return StepKind::Loop; }
constexpr ScalarSource::Kind last(ScalarSource::Kind) { return ScalarSource::Size; }
constexpr AttrKind last(AttrKind) { return AttrKind::DType; }

template <typename T>
concept Number = std::is_arithmetic_v<T>;

/// The default of an attribute, which is not written.

/// Set in the number of an attribute that is written as text, because it has expressions, whose handles are of this
/// process.
/// Stands for the id of an operator that is written by its name.
constexpr uint16_t kNamedOp = 0xFFFF;
constexpr uint8_t kIsText = 0x80;

class Writer {
public:
  std::string out;

  void operator()(const auto &...values) { (value(values), ...); }
  static llvm::StringRef content(const ConstantDecl &constant) { return constant.content(); }

private:
  template <typename T> void raw(T number) { out.append(reinterpret_cast<const char *>(&number), sizeof number); }
  template <typename T>
    requires Number<T> || std::is_enum_v<T>
  void value(T number) {
    raw(number);
  }
  void value(llvm::StringRef text) {
    raw(uint32_t(text.size()));
    out += text;
  }
  void value(const std::string &text) { value(llvm::StringRef(text)); }
  void value(DType dtype) { // the number of parameters is of this process, their text is not
    raw(uint8_t(kindOf(dtype)));
    if (isQuantized(dtype))
      value(shortName(dtype).str());
  }
  template <typename List> void list(const List &items) {
    raw(uint32_t(items.size()));
    for (const auto &item : items)
      value(item);
  }
  template <typename T> void value(const std::vector<T> &items) { list(items); }
  template <typename T, unsigned N> void value(const llvm::SmallVector<T, N> &items) { list(items); }
  void value(const OpDef &op);
  void value(const AttrValue &attr);
  template <typename T>
    requires std::is_class_v<T>
  void value(const T &part) {
    fields(*this, part);
  }
};

void Writer::value(const OpDef &op) {
  const bool isNamed = op && op.info().origin; // ids of such rows are of this process
  raw(uint16_t(isNamed ? kNamedOp : op ? op.info().id + 1 : 0));
  if (isNamed)
    value(std::string(op.info().name));
  llvm::SmallVector<unsigned, 4> given;
  for (unsigned i = 0; op && i < op.numAttrs(); ++i)
    if (!(op.attr(i) == defaultOf(op.info().attrs[i])))
      given.push_back(i);
  raw(uint8_t(given.size()));
  for (unsigned i : given) {
    bool isText = op.attr(i).hasExpressions();
    raw(uint8_t(isText ? i | kIsText : i));
    isText ? value(op.attr(i).toText()) : value(op.attr(i));
  }
}

void Writer::value(const AttrValue &attr) {
  raw(attr.kind());
  switch (attr.kind()) {
  case AttrKind::None:
    return;
  case AttrKind::I64:
    return value(attr.i64());
  case AttrKind::F64:
    return value(attr.f64());
  case AttrKind::Bool:
    return value(attr.boolean());
  case AttrKind::Str:
    return value(attr.str());
  case AttrKind::I64List:
    return value(attr.ints());
  case AttrKind::DType:
    return value(attr.dtype());
  case AttrKind::Parameter:
  case AttrKind::Body:
    break;
  }
  llvm_unreachable("the operators of an executable have numbers");
}

/// Bytes of an item whose texts and lists are empty. A list may not have more items than fit into the remaining bytes,
/// so its memory stays within a multiple of these.
template <typename T> size_t leastBytes() {
  static const size_t bytes = [] {
    Writer writer;
    writer(T());
    return writer.out.size();
  }();
  return bytes;
}

/// Reads an executable; after the first fault it reads nothing more.
class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : rest(bytes) {}
  bool isWhole() const { return ok && rest.empty(); }

  void operator()(auto &...values) { (value(values), ...); }
  static std::string &content(ConstantDecl &constant) { return constant.bytes; }

private:
  llvm::StringRef take(size_t count) {
    ok = ok && count <= rest.size();
    llvm::StringRef taken = ok ? rest.take_front(count) : llvm::StringRef();
    rest = rest.drop_front(taken.size());
    return taken;
  }
  template <typename T> T raw() {
    T number = T();
    if (llvm::StringRef bytes = take(sizeof number); ok)
      std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  template <Number T> void value(T &number) { number = raw<T>(); }
  void value(bool &flag) {
    uint8_t byte = raw<uint8_t>();
    ok = ok && byte < 2;
    flag = byte == 1;
  }
  template <typename T>
    requires std::is_enum_v<T>
  void value(T &number) {
    number = raw<T>();
    ok = ok && number <= last(T());
    if (!ok)
      number = T();
  }
  void value(DType &dtype) {
    dtype = DType(raw<uint8_t>());
    ok = ok && unsigned(dtype) < kNumDTypes;
    if (!ok || !isQuantized(dtype))
      return;
    std::string name;
    value(name);
    std::optional<DType> named = parseDType(name);
    ok = ok && named && kindOf(*named) == dtype;
    dtype = ok ? *named : DType();
  }
  void value(std::string &text) {
    if (llvm::StringRef bytes = take(raw<uint32_t>()); !bytes.empty()) // most texts are empty
      text.assign(bytes.data(), bytes.size());
  }
  template <typename List> void list(List &items) {
    size_t count = raw<uint32_t>();
    using T = typename List::value_type;
    ok = ok && count <= rest.size() / leastBytes<T>() &&
         (!(Is<T, ProgramNode> || Is<T, Step> || Is<T, LoopDecl>) || count <= most);
    items.resize(ok ? count : 0);
    if constexpr (Number<typename List::value_type>) {
      llvm::StringRef bytes = take(items.size() * sizeof(items[0]));
      if (!bytes.empty())
        std::memcpy(items.data(), bytes.data(), bytes.size());
    } else {
      for (auto &item : items)
        value(item);
    }
  }
  template <typename T> void value(std::vector<T> &items) { list(items); }
  void value(std::vector<ValueDecl> &values) {
    list(values);
    most = values.size();
  }
  template <typename T, unsigned N> void value(llvm::SmallVector<T, N> &items) { list(items); }
  void value(AxisGroup &group) {
    fields(*this, group);
    ok = ok && group.first <= kMaxRank && group.last <= kMaxRank;
  }
  void value(TensorMeta &meta) {
    fields(*this, meta);
    ok = ok && meta.shape.size() <= kMaxRank;
  }
  void value(OpDef &op);
  AttrValue attribute();
  AttrValue expressions(AttrKind kind);
  template <typename T>
    requires std::is_class_v<T>
  void value(T &part) {
    fields(*this, part);
  }

  llvm::StringRef rest;
  size_t most = 0; // nodes or steps: each defines a value of its own
  bool ok = true;
};

void Reader::value(OpDef &op) {
  unsigned id = raw<uint16_t>();
  const OpInfo *found = nullptr;
  if (std::string name; ok && id == kNamedOp) {
    value(name);
    found = findOp(name);
    ok = ok && found;
  } else {
    ok = ok && id <= allOps().size();
    found = ok && id ? &allOps()[id - 1] : nullptr;
  }
  unsigned given = raw<uint8_t>();
  ok = ok && (found || !given);
  if (!ok || !found)
    return;
  const OpInfo &info = *found;
  op = OpDef(info);
  while (ok && given--) {
    unsigned place = raw<uint8_t>(), index = place & ~kIsText;
    ok = ok && index < info.attrs.size();
    AttrValue attr = !ok ? AttrValue() : place & kIsText ? expressions(info.attrs[index].kind) : attribute();
    ok = ok && !llvm::errorToBool(op.trySet(index, std::move(attr)));
  }
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    ok = ok && (info.attrs[i].isOptional || op.attr(i).kind() != AttrKind::None);
}

AttrValue Reader::expressions(AttrKind kind) {
  std::string text;
  value(text);
  llvm::Expected<AttrValue> attr = AttrValue::parse(kind, text);
  ok = ok && attr;
  if (attr)
    return *attr;
  llvm::consumeError(attr.takeError());
  return {};
}

AttrValue Reader::attribute() {
  auto read = [&](auto item) {
    value(item);
    return AttrValue(std::move(item));
  };
  AttrKind kind = AttrKind::None;
  value(kind);
  switch (kind) {
  case AttrKind::None:
    return {};
  case AttrKind::I64:
    return read(int64_t());
  case AttrKind::F64:
    return read(double());
  case AttrKind::Bool:
    return read(bool());
  case AttrKind::Str:
    return read(std::string());
  case AttrKind::I64List:
    return read(IntList());
  case AttrKind::DType:
    return read(DType());
  case AttrKind::Parameter:
  case AttrKind::Body:
    break; // last() is below them
  }
  llvm_unreachable("covered switch");
}

} // namespace

std::string writeFlat(const Executable &executable) {
  Writer writer;
  writer(executable);
  return std::move(writer.out);
}

llvm::Expected<Executable> readFlat(llvm::StringRef bytes, llvm::StringRef what,
                                    llvm::function_ref<llvm::Error(Image &)> place) {
  Executable executable;
  Reader reader(bytes);
  reader(executable);
  if (!reader.isWhole())
    return makeError(ErrorCode::DataLoss, what + ": must be an executable that this build wrote, got " +
                                              llvm::Twine(bytes.size()) + " bytes that are none");
  for (Image &image : executable.images)
    if (llvm::Error error = place ? place(image) : llvm::Error::success())
      return std::move(error);
  if (llvm::Error error = validate(executable, what))
    return std::move(error);
  return executable;
}

} // namespace tess::runtime
