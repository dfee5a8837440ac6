"""Event files for TensorBoard, written by tensorboardX (the extra "tensorboard").

>>> import tessera as ts
>>> from tessera.utils.tensorboard import SummaryWriter
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
...     for step in range(3):
...         writer.add_scalar("loss", ts.tensor(1.0) / (step + 1), step)
"""

from .._extras import importing
from ..tensor import Tensor

with importing("tensorboard", "tensorboardX", "'tessera[tensorboard]' or tensorboardX"):
    import tensorboardX
    from tensorboardX.proto.attr_value_pb2 import AttrValue
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.proto.graph_pb2 import GraphDef
    from tensorboardX.proto.node_def_pb2 import NodeDef
    from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboardX.proto.versions_pb2 import VersionDef

__all__ = ["SummaryWriter", "SummaryWriterExtend"]

_PRODUCER = 22  # version of TensorFlow's graphs, as MegEngine writes


def _plain(value):
    """`value` with an array in the place of each tensor."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value


def _takes_tensors(name):
    """The method `name` of tensorboardX's writer, for tensors as well."""

    def _method(self, *args, **kwargs):
        args, kwargs = _plain(args), _plain(kwargs)
        return getattr(super(SummaryWriter, self), name)(*args, **kwargs)

    _method.__name__, _method.__qualname__ = name, f"SummaryWriter.{name}"
    _method.__doc__ = f"As tensorboardX.SummaryWriter.{name}, whose arguments may hold tensors."
    return _method


class SummaryWriter(tensorboardX.SummaryWriter):
    """tensorboardX's writer, whose methods take tensors, too.

    Args:
        logdir: the folder, made where it is missing; runs/TIME_HOST without one
        others: as tensorboardX.SummaryWriter

    Methods:
        add_scalar(tag, value, global_step): number or tensor of one element
        add_scalars(tag, {name: value}, global_step): several curves of one chart
        add_histogram(tag, values, global_step, bins="tensorflow"): number[*D]
        add_image(tag, image, global_step, dataformats="CHW"): uint8, or floats from 0 to 1
        add_images(tag, images, global_step, dataformats="NCHW"): a batch of these
        add_text(tag, text, global_step): a text in Markdown, or a list of them as rows
        add_node_raw, add_graph_by_node_raw_list: a graph, node by node
        add_figure, add_pr_curve, add_embedding, flush: as tensorboardX's
        close(): writes what its thread has not written yet, as the end of a `with` and of the
            program do

    Raises:
        KeyError: a node that is changed must have been added
        what tensorboardX raises for shapes that do not fit
    """

    add_scalar = _takes_tensors("add_scalar")
    add_scalars = _takes_tensors("add_scalars")
    add_histogram = _takes_tensors("add_histogram")
    add_image = _takes_tensors("add_image")
    add_images = _takes_tensors("add_images")
    add_pr_curve = _takes_tensors("add_pr_curve")
    add_embedding = _takes_tensors("add_embedding")

    def __init__(self, logdir=None, *args, **kwargs):
        super().__init__(logdir, *args, **kwargs)
        self._nodes = {}  # by the name that they were added with

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text in Markdown; of a list each item is a row of a table.

        >>> from tessera.utils.tensorboard import SummaryWriter
        >>> writer = SummaryWriter(write_to_disk=False)
        >>> writer.add_text("notes", ["first", "second"], 0)
        """
        if not isinstance(text_string, str):
            rows = [str(each).replace("\n", " ").replace("|", "\\|") for each in text_string]
            text_string = "\n".join(["| |", "|---|", *(f"| {row} |" for row in rows)])
        super().add_text(tag, text_string, global_step, walltime)

    def add_node_raw(self, name, op="UnSpecified", input=(), outputshape=None, dtype=None,
                     attributes=None):  # fmt: skip
        """A node of the graph that `add_graph_by_node_raw_list` writes.

        `input` names the nodes whose results it reads, `outputshape` is the shape of its result,
        `dtype` the name of its dtype; `attributes` are texts by name.

        >>> from tessera.utils.tensorboard import SummaryWriter
        >>> writer = SummaryWriter(write_to_disk=False)
        >>> writer.add_node_raw("x", "Input", outputshape=[2, 3], dtype="float32")
        >>> writer.add_node_raw("y", "exp", input=["x"])
        >>> writer.add_graph_by_node_raw_list()
        """
        inputs = [input] if isinstance(input, str) else list(input)
        texts = {key: str(value) for key, value in (attributes or {}).items()}
        self._nodes[name] = [name, op, inputs, outputshape, dtype, texts]

    def add_node_raw_name_suffix(self, name, suffix):
        """Appends `suffix` to the name of a node, wherever it stands: a search finds it by that.

        >>> from tessera.utils.tensorboard import SummaryWriter
        >>> writer = SummaryWriter(write_to_disk=False)
        >>> writer.add_node_raw("x")
        >>> writer.add_node_raw_name_suffix("x", "_slow")
        """
        changed = self._node("add_node_raw_name_suffix", name)
        old, changed[0] = changed[0], changed[0] + suffix
        for node in self._nodes.values():
            node[2] = [changed[0] if each == old else each for each in node[2]]

    def add_node_raw_attributes(self, name, attributes):
        """Adds texts, by name, to a node.

        >>> from tessera.utils.tensorboard import SummaryWriter
        >>> writer = SummaryWriter(write_to_disk=False)
        >>> writer.add_node_raw("x")
        >>> writer.add_node_raw_attributes("x", {"time": "3 ms"})
        """
        texts = self._node("add_node_raw_attributes", name)[-1]
        texts.update((key, str(value)) for key, value in attributes.items())

    def _node(self, what, name):
        if name not in self._nodes:
            raise KeyError(f"{what}: name must be one of {list(self._nodes)}, got {name!r}")
        return self._nodes[name]

    def add_graph_by_node_raw_list(self):
        """Writes the graph of all nodes added so far. See `add_node_raw`."""
        graph = GraphDef(
            node=[_node_def(*node) for node in self._nodes.values()],
            versions=VersionDef(producer=_PRODUCER),
        )
        self._get_file_writer().add_event(Event(graph_def=graph.SerializeToString()))


SummaryWriterExtend = SummaryWriter  # MegEngine's name


def _node_def(name, op, inputs, shape, dtype, texts):
    attributes = {key: AttrValue(s=text.encode()) for key, text in texts.items()}
    if dtype is not None:
        attributes["dtype"] = AttrValue(s=str(dtype).encode())
    if shape is not None:
        sizes = [TensorShapeProto.Dim(size=size) for size in shape]
        shapes = AttrValue.ListValue(shape=[TensorShapeProto(dim=sizes)])
        attributes["_output_shapes"] = AttrValue(list=shapes)
    return NodeDef(name=name, op=op, input=inputs, attr=attributes)
