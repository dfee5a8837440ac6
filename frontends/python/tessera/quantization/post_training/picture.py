"""Pictures of reports, as SVG and HTML."""

from html import escape

import numpy as np

_ROW, _LEFT, _WIDTH, _TOP = 22, 190, 420, 34
_COLORS = {"whole": "#4c78a8", "own": "#f58518"}


def svg_of(layers):
    """Bars of `noise / signal` in percent of amplitude, layer by layer, on a logarithmic axis.

    >>> from tessera.quantization import LayerReport
    >>> from tessera.quantization.post_training.picture import svg_of
    >>> svg_of([LayerReport("fc", "linear", 40.0, 46.0)]).count("<rect")
    4
    """
    shares = [_share(each.sqnr) for each in layers] + [_share(each.own_sqnr) for each in layers]
    low, high = _ends(shares)
    height = _TOP + _ROW * len(layers) + 30
    parts = [_head(height), *_legend(), *_grid(low, high, _TOP + _ROW * len(layers))]
    for number, each in enumerate(layers):
        parts += _rows(each, _TOP + _ROW * number, low, high)
    return "\n".join([*parts, "</svg>"]) + "\n"


def page_of(svg, table):
    """A page of HTML that needs no other file."""
    style = "body{font-family:sans-serif;margin:2em}"
    return (
        f'<!doctype html>\n<meta charset="utf-8">\n<title>Quantization</title>\n'
        f"<style>{style}</style>\n{svg}<pre>{escape(table)}</pre>\n"
    )


def _share(decibels):
    """Amplitude of the noise, as a share of that of the signal, in percent."""
    return float(100 * 10 ** (-np.clip(decibels, -20.0, 120.0) / 20))


def _ends(shares):
    """Powers of ten around all shares."""
    logs = np.log10(shares) if shares else np.zeros(1)
    low, high = int(np.floor(logs.min())), int(np.ceil(logs.max()))
    return low, max(high, low + 1)


def _place(share, low, high):
    return _LEFT + _WIDTH * float(np.clip((np.log10(share) - low) / (high - low), 0.0, 1.0))


def _head(height):
    width = _LEFT + _WIDTH + 70
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="Quantization noise of each layer">'
    )


def _legend():
    rows = (("whole", "in the quantized model", _LEFT), ("own", "of the layer alone", _LEFT + 170))
    for kind, text, x in rows:
        yield f'<rect x="{x}" y="8" width="10" height="10" fill="{_COLORS[kind]}"/>'
        yield f'<text x="{x + 15}" y="17">{text}</text>'


def _grid(low, high, bottom):
    for power in range(low, high + 1):
        x = _place(10.0**power, low, high)
        yield f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="#ccc"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0**power:g} %</text>'


def _rows(layer, y, low, high):
    name = layer.name if len(layer.name) <= 26 else "…" + layer.name[-25:]
    yield f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
    for kind, decibels, top in (("whole", layer.sqnr, y + 2), ("own", layer.own_sqnr, y + 10)):
        end = _place(_share(decibels), low, high)
        yield (
            f'<rect x="{_LEFT}" y="{top}" width="{max(end - _LEFT, 1):.1f}" height="7" '
            f'fill="{_COLORS[kind]}"/>'
        )
    place = max(_place(_share(each), low, high) for each in (layer.sqnr, layer.own_sqnr))
    yield f'<text x="{place + 5:.1f}" y="{y + 13}" fill="#555">{layer.sqnr:.1f} dB</text>'
