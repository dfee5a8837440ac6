"""Reports of what quantization changed of a model, layer by layer."""

from dataclasses import dataclass

import numpy as np

from . import picture


@dataclass(frozen=True)
class LayerReport:
    """One layer: ratios of signal to quantization noise in decibels, and its scale.

    `sqnr` compares its results in the quantized model with those in the float one, on the samples;
    `own_sqnr` is that of the layer alone, whose operands are those of the float model. `scale` and
    `zero_point` are those of its result; None where that is float32.
    """

    name: str
    kind: str
    sqnr: float
    own_sqnr: float
    scale: float | None = None
    zero_point: int | None = None


@dataclass(frozen=True)
class QuantizationReport:
    """Layers in the order of their calls, and those that stay float32, with the reason.

    Its text is a table; `svg` is a picture of it, which notebooks show.

    >>> from tessera.quantization import LayerReport, QuantizationReport
    >>> report = QuantizationReport((LayerReport("fc", "linear", 40.0, 41.5, 0.1),), ())
    >>> print(report)
    layer  kind    SQNR (dB)  own SQNR (dB)  scale
    fc     linear       40.0           41.5  0.1
    """

    layers: tuple[LayerReport, ...]
    kept_float: tuple[tuple[str, str], ...]

    def costliest(self, count=None):
        """The layers from that with the least `own_sqnr` on, at most `count`.

        >>> from tessera.quantization import LayerReport, QuantizationReport
        >>> rows = LayerReport("a", "conv2d", 40.0, 41.5), LayerReport("b", "conv2d", 30.0, 30.5)
        >>> [each.name for each in QuantizationReport(rows, ()).costliest()]
        ['b', 'a']
        """
        return sorted(self.layers, key=lambda each: each.own_sqnr)[:count]

    def __str__(self):
        rows = [("layer", "kind", "SQNR (dB)", "own SQNR (dB)", "scale")]
        for each in self.layers:
            scale = "" if each.scale is None else f"{each.scale:.6g}"
            rows.append((each.name, each.kind, _text(each.sqnr), _text(each.own_sqnr), scale))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        form = "{:{}}  {:{}}  {:>{}}  {:>{}}  {:{}}"
        pairs = [zip(row, widths, strict=True) for row in rows]
        lines = [form.format(*(item for pair in row for item in pair)).rstrip() for row in pairs]
        lines += [f"{name}: float32 ({reason})" for name, reason in self.kept_float]
        return "\n".join(lines)

    def __repr__(self):
        return str(self)

    @property
    def svg(self):
        """A picture: a bar for the noise of each layer, and one for that of the layer alone."""
        return picture.svg_of(self.layers)

    @property
    def html(self):
        """A page with the picture and the table."""
        return picture.page_of(self.svg, str(self))

    def _repr_html_(self):
        return self.svg


def _text(decibels):
    return f"{decibels:.1f}" if np.isfinite(decibels) else str(decibels)
