"""Lint: includes between the rooms of a folder follow arrows/rooms.toml, which has no circle."""

import graphlib
import re

from tools.lint import sources

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def room_of(path):
    """Folder and room of a source: ("eager", "stack"); the room of a folder's own files is ""."""
    folder, *rooms, _ = path.split("/")
    return folder, rooms[0] if rooms else ""


def check_file(name, text, table):
    folder, room = room_of(name)
    if not room:
        return
    if room not in table[folder]:
        yield f"rooms: arrows/rooms.toml must list every room, got none for {name}"
        return
    for path in _INCLUDE.findall(text):
        if "/" not in path or (other := room_of(path))[0] != folder or other[1] == room:
            continue
        if other[1] not in table[folder][room]:
            arrow = f"{folder}/{room} -> {folder}/{other[1]}"
            yield f"rooms: {name} must include along an arrow of arrows/rooms.toml, got {arrow}"


def check_circles(table):
    for folder, rooms in table.items():
        try:
            graphlib.TopologicalSorter(rooms).prepare()
        except graphlib.CycleError as error:
            circle = " -> ".join(error.args[1])
            yield f"rooms: the rooms of {folder} must have no circle, got {circle}"


def check(texts, table):
    """`texts`: sources by name."""
    messages = list(check_circles(table))
    for name, text in texts.items():
        if name.split("/")[0] in table:
            messages += check_file(name, text, table)
    return messages


if __name__ == "__main__":
    names = sources.select(sources.git_files(), ["*.h", "*.cpp"])
    texts = {name: sources.read(name) for name in names}
    sources.report(check(texts, sources.read_table("arrows/rooms.toml")))
