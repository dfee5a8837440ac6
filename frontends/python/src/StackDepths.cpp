//===- StackDepths.cpp - how deep a frame's stack is ----------------------===//
#include "frontends/python/src/StackDepths.h"
#include "frontends/python/src/Frames.h"

#include <nanobind/stl/string.h>
#include <opcode.h>

#include <bitset>

namespace tess::python {

namespace nb = nanobind;

namespace {

/// Kinds of instructions by number, from Python's module `opcode`.
struct Opcodes {
  std::bitset<256> isJump, isBackward, isEnd;

  Opcodes() {
    nb::module_ module = nb::module_::import_("opcode");
    for (nb::handle op : module.attr("hasjrel"))
      if (long number = nb::cast<long>(op); number < 256) // those above are the compiler's own
        isJump.set(number);
    nb::list names(module.attr("opname"));
    for (size_t op = 0; op < 256 && op < names.size(); ++op) {
      auto name = nb::cast<std::string>(names[op]);
      isBackward[op] = name.find("BACKWARD") != std::string::npos;
      isEnd[op] = name == "RETURN_VALUE" || name == "RETURN_CONST" || name == "RAISE_VARARGS" || name == "RERAISE" ||
                  name == "INTERPRETER_EXIT" || name.rfind("JUMP_FORWARD", 0) == 0 ||
                  name.rfind("JUMP_BACKWARD", 0) == 0;
    }
  }
};

/// Instructions whose errors go to `target`, where the stack has `depth` values; numbers of instructions.
struct Handler {
  int begin, end, target, depth;
};

/// The exception table: numbers of 6 bits, the highest first, a bit that says whether more follow.
std::vector<Handler> handlersOf(PyCodeObject *code) {
  const auto *at = reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(code->co_exceptiontable));
  const uint8_t *end = at + PyBytes_GET_SIZE(code->co_exceptiontable);
  auto next = [&] {
    int value = 0;
    bool hasMore = true;
    while (hasMore && at < end) {
      hasMore = *at & 64;
      value = value << 6 | (*at++ & 63);
    }
    return value;
  };
  std::vector<Handler> handlers;
  while (at < end) {
    int begin = next(), length = next(), target = next(), depthAndFlag = next();
    // The exception is pushed, and before it the number of the instruction where the flag says so.
    handlers.push_back({begin, begin + length, target, (depthAndFlag >> 1) + (depthAndFlag & 1) + 1});
  }
  return handlers;
}

/// The change of the depth by an instruction.
int effectOf(int op, int argument, bool isJump) {
#ifdef PRECALL // of 3.11: its table takes the arguments of a call off there, and the interpreter in CALL
  if (op == PRECALL)
    return 0;
  if (op == CALL)
    return -1 - argument;
#endif
  return PyCompile_OpcodeStackEffectWithJump(op, op < HAVE_ARGUMENT ? 0 : argument, isJump);
}

/// One walk over the instructions.
class Walk {
public:
  Walk(PyCodeObject *code, PyObject *bytes)
      : bytes(bytes), depths(PyBytes_GET_SIZE(bytes) / 2, -1), handlers(handlersOf(code)) {
    bool isGenerator = code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
    add(0, isGenerator && PY_VERSION_HEX < 0x030d0000); // it starts with the None that is sent to it
    while (!pending.empty()) {
      auto [number, depth] = pending.back();
      pending.pop_back();
      follow(number, depth);
    }
  }
  std::vector<int16_t> take() { return std::move(depths); }

private:
  void add(int number, int depth) {
    if (number >= 0 && size_t(number) < depths.size() && depths[number] < 0)
      pending.emplace_back(number, depth);
  }

  /// Goes on from an instruction to the end, or to one that is known.
  void follow(int number, int depth) {
    static const Opcodes *opcodes = new Opcodes;
    int argument = 0;
    while (size_t(number) < depths.size() && depths[number] < 0) {
      const auto *code = reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(bytes)) + 2 * size_t(number);
      int op = code[0];
      argument = argument << 8 | code[1];
      depths[number] = int16_t(depth);
      for (const Handler &handler : handlers)
        if (handler.begin <= number && number < handler.end)
          add(handler.target, handler.depth);
      int after = number + 1;
      while (size_t(after) < depths.size() && PyBytes_AS_STRING(bytes)[2 * size_t(after)] == CACHE)
        ++after;
      if (opcodes->isJump[op])
        add(after + (opcodes->isBackward[op] ? -argument : argument), depth + effectOf(op, argument, true));
      if (opcodes->isEnd[op])
        return;
      depth += effectOf(op, argument, false);
      argument = op == EXTENDED_ARG ? argument : 0;
      number = after;
    }
  }

  PyObject *bytes;
  std::vector<int16_t> depths;
  std::vector<Handler> handlers;
  std::vector<std::pair<int, int>> pending;
};

} // namespace

std::vector<int16_t> stackDepths(PyCodeObject *code, PyObject *bytes) { return Walk(code, bytes).take(); }

} // namespace tess::python
