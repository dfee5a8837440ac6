"""The list of what a folder of golden files holds."""

import hashlib


def check_sums(folder):
    """Its files are those that SHA256SUMS lists, with the bytes that they had."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in (line.split() for line in lines)}
    there = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert there == set(listed) and len(listed) == len(lines)
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
