"""Finds the public declarations of a C++ header, and which have a comment: no compiler needed."""

import re
from dataclasses import dataclass, field

from tools.lint import cpp_functions

_ACCESS = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", re.DOTALL)
_TYPE = re.compile(r"(?:typedef )?(class|struct|union|enum)\b(?: class| struct)? ?(\w*)")
_NAMESPACE = re.compile(r"(?:inline )?namespace ?([\w:]*)$")
_ALIAS = re.compile(r"using (\w+) =|typedef .*?(\w+)$")
# A return type, then a name; `bool (*f)(int)` is a variable.
_FUNCTION = re.compile(r"[\w:\]>][\w:\s&*\]>]*[\s&*](\w+) ?\((?! ?\*)")
_SPECIALISATION = re.compile(r"\s*template\s*<\s*>")


@dataclass
class Declaration:
    kind: str  # class, enum, alias, function
    name: str
    line: int
    documented: bool


@dataclass
class Scope:
    """A namespace or class; `name` is a class's."""

    name: str = ""
    hidden: bool = False
    is_public: bool = True
    end: int = 0  # the line on which the run of declarations so far ends; 0: there is none
    run_documented: bool = False


@dataclass
class Comments:
    """Lines by number: `whole` hold nothing but a comment, `trailing` end in one."""

    whole: set = field(default_factory=set)
    trailing: set = field(default_factory=set)


def comments_of(text):
    found, lines = Comments(), text.splitlines()
    for first, last in cpp_functions.comment_lines(text):
        for number in range(first, last + 1):
            is_whole = number > first or lines[number - 1].lstrip().startswith(("//", "/*"))
            (found.whole if is_whole else found.trailing).add(number)
    return found


def without_templates(head):
    """`std::function<void(int)> f` without what stands between `<` and `>`."""
    before = None
    while before != head:
        before, head = head, re.sub(r"<[^<>]*>", "", head)
    return head


def tidy(head):
    """One line without template arguments and attributes."""
    text = " ".join(without_templates(_ATTRIBUTE.sub(" ", head)).split())
    return re.sub(r"^(template )+", "", text)


def is_specialisation(head):
    """`template <> struct A<int>`: what it declares is documented where the template is."""
    return bool(_SPECIALISATION.match(head))


def function_of(head, class_name):
    """The name of the function that a head declares; none: it declares no function that counts."""
    signature = head.split("(")[0]
    match = _FUNCTION.match(head)
    if not match or "=" in signature or match.group(1) == class_name:
        return None
    if re.search(r"\b(operator|friend|static_assert|return)\b", signature):
        return None
    after = head[match.end() :]
    if re.search(r"\b(override|final)\b|= ?(default|delete)$", after):
        return None
    return match.group(1)


def what(head, class_name, has_body):
    """(kind, name) of a head; none: nothing that counts, as a forward declaration or a variable."""
    text = tidy(head)
    if is_specialisation(head) or text.startswith("friend "):
        return None
    if match := _ALIAS.match(text):
        return "alias", match.group(1) or match.group(2)
    if (match := _TYPE.match(text)) and (has_body or "(" not in text):
        kind = "enum" if match.group(1) == "enum" else "class"
        return (kind, match.group(2)) if has_body and match.group(2) else None
    name = function_of(text, class_name)
    return ("function", name) if name else None


class Reader:
    """Goes through the text once; `found` gets what counts, in order."""

    def __init__(self, text):
        self.comments = comments_of(text)
        self.text = cpp_functions.strip_noise(text)
        self.found = []

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def read(self, at, scope):
        """The members of the scope that begins at `at`; where it ends."""
        start = at
        while at < len(self.text) and self.text[at] != "}":
            char = self.text[at]
            if char == "(":
                at = cpp_functions.matching_brace(self.text, at, "()")
            elif char == ";":
                self.note(start, at, at, scope, has_body=False)
                start = at + 1
            elif char == "{":
                at, start = self.read_braces(start, at, scope)
            at += 1
        return at

    def strip_access(self, start, end, scope):
        while match := _ACCESS.match(self.text, start, end):
            scope.is_public = match.group(1) == "public"
            start, scope.end = match.end(), 0
        return start

    def read_braces(self, start, at, scope):
        """(where the braces end, where the next declaration starts)"""
        start = self.strip_access(start, at, scope)
        head = tidy(self.text[start:at])
        if head.startswith("extern") and "(" not in head and "=" not in head:
            inner = scope
        elif match := _NAMESPACE.match(head):
            parts = match.group(1).split("::")
            inner = Scope(hidden=scope.hidden or "detail" in parts or parts == [""])
        elif (match := _TYPE.match(head)) and match.group(1) != "enum" and not head.endswith("="):
            self.note(start, at, cpp_functions.matching_brace(self.text, at), scope, has_body=True)
            hidden = scope.hidden or not scope.is_public or is_specialisation(self.text[start:at])
            inner = Scope(match.group(2), hidden, match.group(1) != "class")
        else:
            return self.skip_braces(start, at, head, scope)
        end = self.read(at + 1, inner)
        return end, end + 1

    def skip_braces(self, start, at, head, scope):
        is_enum = _TYPE.match(head)
        if is_enum or ("(" in head and "=" not in head.split("(")[0]):
            end = cpp_functions.body_end(self.text, at)
            self.note(start, at, end, scope, has_body=True)
            return end, end + 1
        return cpp_functions.matching_brace(self.text, at), start

    def note(self, start, head_end, end, scope, has_body):
        """Counts the declaration, and goes on with the run of declarations that it belongs to."""
        start = self.strip_access(start, head_end, scope)
        head = self.text[start:head_end]
        if not head.strip():
            return
        first = self.line(start + len(head) - len(head.lstrip()))
        last, last_of_head = self.line(end), self.line(head_end)
        if first - 1 in self.comments.whole:
            scope.run_documented = True
        elif scope.end != first - 1:
            scope.run_documented = False
        counted = what(head, scope.name, has_body)
        if counted and scope.is_public and not scope.hidden:
            beside = not self.comments.trailing.isdisjoint({first, last_of_head, last})
            self.found.append(Declaration(*counted, first, scope.run_documented or beside))
        # A definition over several lines ends a run: its comment is its own.
        scope.end = 0 if has_body and last > last_of_head else last


def declarations(text):
    """The public declarations of a header, in order. What a macro declares is not seen."""
    reader, at = Reader(text), 0
    while at < len(reader.text):
        at = reader.read(at, Scope()) + 1
    return reader.found
