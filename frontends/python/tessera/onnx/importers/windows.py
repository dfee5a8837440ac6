"""Windows along the spatial axes: their borders by ONNX's attributes, and their parts."""

import itertools

from ..._core import ops as _ops


class Windows:
    """The attributes of a node about windows, for `count` spatial axes of sizes `sizes`."""

    def __init__(self, node, sizes, kernel):
        count = len(kernel)
        self.sizes, self.kernel = list(sizes), list(kernel)
        self.strides = list(node["strides"] or [1] * count)
        self.dilations = list(node["dilations"] or [1] * count)
        self.ceil = bool(node["ceil_mode"])
        self.spans = [d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel, strict=True)]
        self.low, self.high = self._borders(node, count)

    def _borders(self, node, count):
        mode = node["auto_pad"] or "NOTSET"
        pads = list(node["pads"] or [0] * (2 * count))
        if mode == "NOTSET":
            return pads[:count], pads[count:]
        if mode == "VALID":
            return [0] * count, [0] * count
        low, high = [], []
        for size, span, stride in zip(self.sizes, self.spans, self.strides, strict=True):
            wanted = -(-size // stride)
            total = max(0, (wanted - 1) * stride + span - size)
            small = total // 2
            low.append(small if mode == "SAME_UPPER" else total - small)
            high.append(total - low[-1])
        return low, high

    def is_even(self):
        """Whether both ends of each axis have the same border."""
        return self.low == self.high

    def counts(self):
        """How many windows there are along each axis; with ceil_mode one may stand over the end,
        but none begins behind the input and its lower border.
        """
        found = []
        axes = zip(self.sizes, self.low, self.high, self.spans, self.strides, strict=True)
        for size, low, high, span, stride in axes:
            room = size + low + high - span
            number = (-(-room // stride) if self.ceil else room // stride) + 1
            if self.ceil and (number - 1) * stride >= size + low:
                number -= 1
            found.append(number)
        return found

    def places(self):
        """Every place of a window as indices along the axes."""
        return itertools.product(*(range(size) for size in self.kernel))

    def parts(self, x, value):
        """For each place of a window the elements that stand there, [N, C, *counts]; borders have
        `value`.
        """
        counts = self.counts()
        x = self.padded(x, value)
        for place in self.places():
            starts, stops, steps = [0, 0], list(x.shape[:2]), [1, 1]
            axes = zip(place, self.dilations, self.strides, counts, strict=True)
            for index, dilation, stride, count in axes:
                starts.append(index * dilation)
                stops.append(index * dilation + (count - 1) * stride + 1)
                steps.append(stride)
            yield _ops.slice(x, starts, stops, steps)

    def padded(self, x, value):
        """x with its borders, and what windows over the end need besides."""
        high = []
        axes = zip(
            self.counts(), self.sizes, self.low, self.spans, self.strides, self.high, strict=True
        )
        for count, size, low, span, stride, own in axes:
            high.append(max(own, (count - 1) * stride + span - size - low))
        low = [0, 0, *self.low]
        return _ops.pad(x, low, [0, 0, *high], value) if any(low) or any(high) else x
