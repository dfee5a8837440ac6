"""Limits of the machine, by limits.cpp, once a process."""

import functools
import json
import os
import subprocess

import peers


@functools.cache
def measured():
    """Multiply-adds a second by dtype and bytes read a second; empty without the program."""
    program = os.environ.get("TESS_LIMITS")
    if not program:
        return {}
    command = [program, str(peers.THREADS)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def seconds(network, dtype=None):
    """The least time of a call of a Network; None where nobody has counted, or without figures."""
    rates = measured()
    rate, read = rates.get(dtype or network.dtype), rates.get("read")
    if not rate or not network.multiply_adds:
        return None
    return max(network.multiply_adds / rate, network.bytes_read / read)


def integer_seconds(network):
    """As `seconds`, of multiply-adds of bytes; None where the processor has no instruction."""
    return seconds(network, "int8")


def reading_seconds(network):
    """The least time in which the memory that a call of a Network reads is read, or None."""
    read = measured().get("read")
    return network.bytes_read / read if read and network.bytes_read else None


def described():
    """A line of text."""
    rates = measured()
    if not rates:
        return "limits: not measured"
    adds = ", ".join(f"{rates[each] / 1e9:.0f} G {each}" for each in rates if each != "read")
    return f"limits: {adds} multiply-adds/s; {rates['read'] / 1e9:.1f} GB/s read"
