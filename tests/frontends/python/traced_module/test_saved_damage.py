"""Files of traced modules that nobody wrote: each is refused by name, or loads and does nothing."""

import re

import numpy as np
import pytest
from tessera.traced_module.traced_module import load_records

from tests.frontends.python.traced_module.records import (
    changed,
    net_of_every_record,
    of_kind,
    saved,
    written,
)

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def refused(change, message):
    with pytest.raises(ValueError, match=message):
        changed(net_of_every_record(), change)


def expr_of(rows, **fields):
    """The first expression with these fields."""
    return next(each for each in of_kind(rows, "expr") if fields.items() <= each.items())


def test_records_that_nobody_changed():
    traced = net_of_every_record()
    loaded = changed(traced, lambda rows: None)
    assert saved(loaded) == saved(traced) and str(loaded.graph) == str(traced.graph)


# Versions and names.


def test_a_newer_version():
    def change(rows):
        rows[0][1]["version"] = 2

    refused(change, "^load: the version of a traced module must be at most 1, got 2$")


def test_a_newer_version_of_a_name():
    def change(rows):
        next(e for e in of_kind(rows, "name") if e["name"] == "module.Linear")["version"] = 2

    refused(change, "^load: version of module.Linear must be 1 to 1, got 2$")


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("functional.elemwise.exp", "functional.elemwise.no"),
        ("functional.elemwise.exp", "os.system"),
        ("functional.elemwise.exp", "builtins.eval"),
        ("functional.elemwise.exp", "traced_module.functions.custom_gradient"),
        ("functional.elemwise.exp", "serialization.checkpoint.load"),
        ("functional.elemwise.exp", "module.module.__call__"),
        ("module.Linear", "module.Module"),
        ("module.Linear", "module.linear._Product"),
    ],
)
def test_names_that_nothing_knows(known, name):
    def change(rows):
        next(each for each in of_kind(rows, "name") if each["name"] == known)["name"] = name

    refused(change, f"^load: functions and classes must be known to this version, got '{name}'$")


def test_a_class_is_no_function():
    def change(rows):
        names = [each["name"] for each in of_kind(rows, "name")]
        expr_of(rows, kind=3)["name"] = names.index("module.Linear")

    refused(change, "^load: a name must be of what is called, got 'module.Linear' of kind 2$")


def test_an_unknown_operator_and_method():
    def change(rows):
        for each in of_kind(rows, "name"):
            if each.get("kind") == 1 and each["name"] == "sum":
                each["name"] = "__reduce_ex__"

    refused(change, "^load: expression .* must call what this version knows, with arguments for "
            "it, got the method '__reduce_ex__'$")  # fmt: skip


def test_a_subscript_without_a_key():
    def change(rows):
        names = [each["name"] for each in of_kind(rows, "name")]
        del expr_of(rows, kind=2, name=names.index("__getitem__"))["args"][1:]

    refused(change, "got the method '__getitem__'$")


# Nodes.


def test_a_cycle():
    """An expression reads a node that a later one makes."""

    def change(rows):
        exprs = [(i, each) for i, (kind, each) in enumerate(rows) if kind == "expr"]
        first = next(each for _, each in exprs if each.get("kind") == 3)
        first["args"] = [{"node": 1_000}]

    refused(change, "^load: a traced module must be as save wrote it, got IndexError")


def test_a_node_of_another_graph():
    def change(rows):
        graph = next(
            i for i, (k, each) in enumerate(rows) if k == "graph" and each["name"] == "Inner"
        )
        inner = next(each for k, each in rows[graph:] if k == "expr")
        inner["args"] = [{"node": 1}]

    refused(change, r"^load: a node must be of the graph that reads it or of one around, got "
            r"Net\.\[x\] in Net\.inner$")  # fmt: skip


def test_a_node_of_a_body():
    """A node that a branch makes is not there behind it."""

    def change(rows):
        number = 0  # of nodes before the first body
        for kind, each in rows:
            if kind == "graph" and not each.get("owner"):
                break
            number += len(each.get("inputs", ())) + str(each).count("'made': {")
        tree = next(each for each in of_kind(rows, "return") if "dict" in each["tree"])
        tree["tree"] = {"node": number}

    refused(change, "^load: a node must be of the graph that reads it or of one around, got ")


@pytest.mark.parametrize("name", ["", "1a", "a b", "class", "a;import os", "self"])
def test_names_of_nodes(name):
    def change(rows):
        expr_of(rows, kind=3)["result"]["made"]["name"] = name

    refused(change, f"^load: names in a graph must be identifiers that differ, got {name!r}")


def test_numbers_twice():
    def change(rows):
        expr_of(rows, kind=3)["result"]["made"]["id"] = 0

    refused(change, "^load: numbers of nodes must differ, got 0 again$")

    def change_expr(rows):
        expr_of(rows, kind=3)["id"] = 0

    refused(change_expr, "^load: numbers of expressions must differ, got 0 again$")


# Text that would become code.


@pytest.mark.parametrize(
    "path", ["x.__class__", "linear.a[__import__('os')]", "a;b", "items.7", ""]
)
def test_paths_of_attributes(path):
    def change(rows):
        expr_of(rows, text="linear")["text"] = path

    refused(change, "^load: attributes in a graph must be those of its modules, got ")


@pytest.mark.parametrize("name", ["__dict__", "shape;import os", "_numbers", "nothing"])
def test_attributes_of_tensors(name):
    def change(rows):
        expr_of(rows, text="shape")["text"] = name

    refused(change, f"got the attribute {re.escape(repr(name))}$")


@pytest.mark.parametrize("path", ["a.b;c", "__class__", "items.x", "linear.x y"])
def test_paths_that_are_set(path):
    def change(rows):
        expr_of(rows, kind=1)["text"] = path

    refused(change, "^load: attributes in a graph must be those of its modules, got ")


def test_names_of_arguments():
    def change(rows):
        expr_of(rows, kind=3)["kwargs"] = [{"name": "a=os, b", "value": {"none": True}}]

    refused(change, "^load: named arguments must be identifiers, got 'a=os, b'$")

    def change_parameters(rows):
        graph = next(each for each in of_kind(rows, "graph") if each["name"] == "Net")
        graph["parameters"][0]["name"] = "x=print()"

    refused(change_parameters, "^load: parameters must be identifiers, got ")


def test_the_input_of_the_module():
    def change(rows):
        graph = next(each for each in of_kind(rows, "graph") if each["name"] == "Net")
        graph["parameters"][1]["name"] = "self"

    wanted = r"^load: a graph of a module must have an input for it, and others none, got "
    refused(change, wanted)

    def change_inputs(rows):
        graph = next(each for each in of_kind(rows, "graph") if each["name"] == "Net")
        graph["inputs"][0]["node"]["kind"] = 0

    refused(
        change_inputs, "^load: a graph of a module must have an input for it, and others none, "
    )


def test_names_of_bodies():
    def change(rows):
        next(each for each in of_kind(rows, "graph") if not each.get("owner"))["name"] = "f(): ..."

    refused(change, "^load: names in a graph must be identifiers that differ, got ")


def test_contexts():
    def change(rows):
        expr_of(rows, kind=3)["modes"] = [{"name": "open"}]

    refused(
        change, r"^load: contexts around calls must be among \['autocast', 'no_grad'\], got 'open"
    )

    def change_arguments(rows):
        value = {"tuple": {}}
        expr_of(rows, kind=3)["modes"] = [{"name": "autocast", "arguments": [value]}]

    refused(change_arguments, "^load: arguments of contexts must be bool or text, got ")


# Modules.


@pytest.mark.parametrize("name", ["__class__", "_graphs", "_forward_hooks"])
def test_attributes_of_modules(name):
    def change(rows):
        of_kind(rows, "attributes")[0]["entries"].append({"name": name, "value": {"none": True}})

    refused(change, f"^load: attributes of modules must be values, got '{name}' for ")


def test_a_module_without_an_attribute():
    def change(rows):
        entries = of_kind(rows, "attributes")[0]["entries"]
        entries[:] = [each for each in entries if each["name"] != "_class_name"]

    refused(change, "^load: a module must have the attribute _class_name, got None for traced_")


def test_attributes_twice():
    refused(
        lambda rows: rows[:-1] + [each for each in rows if each[0] == "attributes"] + rows[-1:],
        "^load: a module must have its attributes once, got 0 again$",
    )


def test_the_first_module():
    rows = [
        ("header", {"version": 1}),
        ("name", {"kind": 2, "name": "module.ReLU", "version": 1}),
        ("module", {}),
        ("attributes", {"entries": _plain_entries()}),
        ("end", {}),
    ]
    with pytest.raises(
        ValueError, match="^load: the first module must be a TracedModule, got ReLU$"
    ):
        load_records(written(rows), [])
    with pytest.raises(
        ValueError, match="^load: a traced module must be as save wrote it, got Ind"
    ):
        load_records(written([rows[0], rows[-1]]), [])


def _plain_entries():
    return [
        {"name": "name", "value": {"none": True}},
        {"name": "training", "value": {"boolean": True}},
        {"name": "_scope", "value": {"text": "x"}},
    ]


def test_the_order_of_records():
    refused(lambda rows: rows[1:], "must be a header, records and an end, got name behind None$")
    refused(lambda rows: rows + rows[-1:], "got end behind end$")
    refused(
        lambda rows: rows[:-1], "^load: a traced module must be whole, got its end behind return$"
    )
    refused(
        lambda rows: rows[:1], "^load: a traced module must be whole, got its end behind header$"
    )


def test_a_graph_of_a_module_that_has_none():
    def change(rows):
        next(each for each in of_kind(rows, "graph") if each["name"] == "Inner")["owner"] = 3

    refused(change, "^load: a graph must be of a module that is read already, got Net.inner$")


def test_a_variant_that_is_not_there():
    def change(rows):
        for each in of_kind(rows, "expr"):
            if each.get("kind") == 2 and each["result"].get("made", {}).get("name") == "inner_out":
                each["variant"] = 3

    refused(
        change, "^load: a call must be of a graph that the module has, got number 3 of Net.inner$"
    )


def test_an_enumerator_of_another_class():
    def change(rows):
        entry = {"name": "extra", "value": {"enumerator": {"name": 0, "rest": {"text": "A"}}}}
        of_kind(rows, "attributes")[0]["entries"].append(entry)

    refused(change, "^load: a class of values must be named, got 'traced_module.TracedModule'$")


def test_a_value_of_an_unknown_kind():
    def change(rows):
        of_kind(rows, "attributes")[0]["entries"].append({"name": "extra", "value": {}})

    refused(change, "^load: a value must be of a kind that this version knows, got another$")

    def change_place(rows):
        entry = {"name": "extra", "value": {"made": {"id": 999, "name": "x"}}}
        of_kind(rows, "attributes")[0]["entries"].append(entry)

    refused(change_place, "^load: values must be where they are known, got a made elsewhere$")
