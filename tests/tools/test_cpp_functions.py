from tools.lint import cpp_functions


def found(text):
    return list(cpp_functions.functions(text))


def test_a_signature_may_take_lines():
    text = "namespace a {\ntemplate <typename T>\nint f(T x,\n      int y) {\n  return 1;\n}\n}"
    assert found(text) == [("f", 2, 5)]


def test_methods_count_and_classes_do_not():
    text = "struct S : B {\n  int g() const {\n    return 1;\n  }\n  int a = 1;\n};\nenum E { A };"
    assert found(text) == [("g", 2, 3)]


def test_an_inner_lambda_belongs_to_its_function():
    assert found("void f() {\n  auto g = [](int x) {\n    return x;\n  };\n}") == [("f", 1, 5)]


def test_braces_in_literals_and_comments_open_nothing():
    text = """void f() { // }}}
  g("}", '{', R"x(}}} " )x"); /* }
  } */
}
void h() {}"""
    assert found(text) == [("f", 1, 4), ("h", 5, 1)]


def test_tables_are_no_functions():
    assert found("int table[] = {1, 2};\nconst Names names[n(3)] = {\n  {1},\n};") == []


def test_braces_of_member_initialisers_are_not_the_body():
    assert found("S::S(int a) : a{a}, b{1}, c(2) {\n  d = 1;\n}") == [("S::S", 1, 3)]


def test_a_switch_table_counts_one_line_a_case():
    cases = "".join(f"  case {i}:\n    return {i};\n" for i in range(40))
    assert found("int f(int x) {\n  switch (x) {\n" + cases + "  }\n}") == [("f", 1, 44)]


def test_directives_are_skipped():
    assert found("#define F(x) \\\n  void x() {\nvoid g() {\n}\n") == [("g", 3, 2)]


def test_lines_of_code_are_no_blank_lines_and_no_comments():
    text = 'int a; // b\n\n  // c\n/* d\n  e */ int f;\n/* g */\nauto h = "// i";\n#define J\n'
    assert cpp_functions.code_lines(text) == 4
