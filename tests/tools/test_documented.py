import pytest

from tools.lint import cpp_declarations, documented, sources


def found(text):
    """{name: documented} of a header's declarations."""
    return {one.name: one.documented for one in cpp_declarations.declarations(text)}


WHOLE = """#pragma once
namespace tess {
class Forward;
using tess::other;
constexpr int kLimit = int64_t(1) << 59;
extern thread_local Counts counts;
using Sizes = std::vector<int>;
enum class Kind : uint8_t { A, B };
TESS_RULE(sum);
template <typename T> struct Box {
  Box() = default;
  explicit Box(const T &value) : value{value}, other{1} {}
  ~Box();
  operator bool() const;
  bool operator==(const Box &) const = default;
  friend class Forward;
  [[nodiscard]] const T &get() const { return value; }
  void log(raw_ostream &os) const override;
  virtual void visit() = 0;
  static Box of(llvm::ArrayRef<int> sizes = {}, const Options &options = {});
  std::function<void(const std::string &)> remark;
  bool (*isLive)(uint32_t);
  union {
    int i;
    float f;
  };
  T value{};
};
template <> struct Box<int> {
  int get();
};
template <typename T> T Box<T>::get() const { return 1; }
bool isOne(int x) { return x == 1; }
}
"""


def test_what_counts():
    assert list(found(WHOLE)) == ["Sizes", "Kind", "Box", "get", "visit", "of", "isOne"]
    assert not any(found(WHOLE).values())


def test_what_is_not_public_does_not_count():
    text = """namespace tess {
namespace { int a(); }
namespace detail { struct B { int c(); }; }
class D {
  int e();
  struct F { int g(); };
public:
  int h();
protected:
  int i();
public:
  int j();
private:
  int k();
};
struct L { private: int m(); };
} // namespace tess
namespace tess::detail { int n(); }
namespace tess { int o(); }
"""
    assert list(found(text)) == ["D", "h", "j", "L", "o"]


@pytest.mark.parametrize(
    "text",
    [
        "/// Says it.\nint f();\n",
        "// Says it.\nint f();\n",
        "/* Says\n   it. */\nint f();\n",
        "int f(); // says it\n",
        "int f() { return 1; } // says it\n",
        "int f(int x,\n      int y); // says it\n",
        "struct f { // says it\n  int x;\n};\n",
        "/// Says it.\ntemplate <typename T>\nint f(T x);\n",
    ],
)
def test_a_comment_documents(text):
    assert found(text) == {"f": True}


@pytest.mark.parametrize(
    "text",
    [
        "int f();\n",
        "// Says something else.\n\nint f();\n",
        'int x = g("// no comment"); int f();\n',
        "int f() {\n  return 1; // says why\n}\n",
        "int f();\n// Too late.\n",
    ],
)
def test_no_comment_documents(text):
    assert found(text) == {"f": False}


def test_a_comment_documents_a_run():
    text = "/// A.\nint a();\nint b();\n\nint c();\n/// D.\nint d(int x,\n      int y);\nint e();\n"
    assert found(text) == {"a": True, "b": True, "c": False, "d": True, "e": True}


def test_a_body_of_several_lines_ends_a_run():
    text = (
        "/// A.\nstruct A {\n  int x;\n};\nint b();\n/// C.\nint c() {\n  return 1;\n}\nint d();\n"
    )
    assert found(text) == {"A": True, "b": False, "c": True, "d": False}


def test_an_access_label_ends_a_run():
    text = "/// A.\nstruct A {\n  /// B.\n  int b();\npublic:\n  int c();\n};\n"
    assert found(text) == {"A": True, "b": True, "c": False}


def test_a_comment_beside_documents_its_own_line_only():
    assert found("int a(); // says it\nint b();\n") == {"a": True, "b": False}


TABLE = {"sum": 75, "folder": 50, "folders": ["a", "b/c"]}


@pytest.fixture
def measure(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def run(**texts):
        names = {"a": "a/A.h", "c": "b/c/deep/C.h", "source": "a/A.cpp", "other": "b/B.h"}
        for key, text in texts.items():
            path = tmp_path / names[key]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return documented.measure([names[key] for key in texts], TABLE["folders"])

    return run


def test_headers_of_the_folders_are_measured(measure):
    shares = measure(
        a="int f(); // 1\nint g();\n", c="int h(); // 1\n", source="int i();\n", other="int j();\n"
    )
    assert documented.figures(shares) == [
        "a: 50.0 % (1 of 2)",
        "b/c: 100.0 % (1 of 1)",
        "sum: 66.7 % (2 of 3)",
    ]


def test_too_few_comments_fail(measure):
    says = "of its public declarations"
    few = measure(a="int f(); // 1\nint g();\n", c="int h(); // 1\n")
    assert list(documented.check(few, TABLE)) == [
        f"documented: sum must have a comment on at least 75 % {says}, got 66.7 % (2 of 3), "
        "the first without one a/A.h:2: g"
    ]
    none = measure(a="\nint f();\n", c="int g(); // 1\nint h(); // 2\nint i(); // 3\n")
    assert list(documented.check(none, TABLE)) == [
        f"documented: a must have a comment on at least 50 % {says}, got 0.0 % (0 of 1), "
        "the first without one a/A.h:2: f"
    ]


def test_enough_comments_pass(measure):
    enough = measure(a="int f(); // 1\nint g();\n", c="int h(); // 1\nint i(); // 2\n")
    assert list(documented.check(enough, TABLE)) == []


def test_a_folder_without_headers_fails(measure):
    (message,) = documented.check(measure(a="int f(); // 1\n"), TABLE)
    assert message.endswith(
        "got 0.0 % (0 of 0), the first without one none: there are no declarations"
    )
