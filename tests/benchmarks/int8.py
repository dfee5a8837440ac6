"""Quantized networks beside peers, in turns in one run: `tools/dev bench int8 --peers`.

Layers of bytes come from one file, which Tessera, ONNX Runtime and OpenVINO read; "by
quantize_model" is Tessera's own quantization of the float network. Decoders have weights of 8 or 4
bits and are measured beside plain reading of weights, scales and cache, too.
"""

import functools
from pathlib import Path

import limits
import numpy as np
from compiled import named, timed
from peers import catalog

SHARES = {"int8": 0.85, "int4 by int8": 0.75, "int4": 0.55}  # of the bandwidth of memory, wanted


@functools.cache
def has_vnni():
    """Whether the processor adds up products of bytes exactly in one instruction."""
    words = set(Path("/proc/cpuinfo").read_text().split())
    return bool(words & {"avx512_vnni", "avx_vnni"})


def typical_error(ours, theirs):
    """Root of the mean squared difference, as a part of the standard deviation of `ours`."""
    return np.sqrt(np.square(ours - theirs).mean()) / ours.std()


# Sums in the middle of a step are rounded up or down, and more so where 16 bits saturate.
AGREE = 0.1, typical_error


def _note():
    """Reason why outputs may differ, or nothing."""
    return "" if has_vnni() else "ONNX Runtime's sums of two products saturate without VNNI"


def integers(title, network, **options):
    """The Row of a file of bytes."""
    row = timed(title, "integers", network, AGREE, limits.integer_seconds, **options)
    row.note = _note()
    return row


def own_integers(title, network, **options):
    """The Row of Tessera's own quantization."""
    return timed(title, "own_integers", network, None, limits.integer_seconds, **options)


def decoding(title, network, **options):
    """The Row of a token of a decoder, with what it reads a second."""
    row = timed(title, "weight_only", network, AGREE, limits.reading_seconds, **options)
    row.share = SHARES[network.weights]
    if row.value:
        row.note = f"{network.bytes_read / row.value / 1e6:.1f} GB/s"
    return row


BENCHMARKS = {
    **named("int8_", catalog.INTEGERS, integers),
    **named("int8_", catalog.OWN_INTEGERS, own_integers),
    **named("int8_", catalog.WEIGHT_ONLY, decoding),
}
