"""utils.tensorboard, read back by TensorBoard's own reader."""

import subprocess
import sys

import numpy as np
import pytest
import tessera
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tessera.utils.tensorboard import SummaryWriter, SummaryWriterExtend

from tests.support.helper import run_without


def read(folder):
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0, "images": 0})
    return events.Reload()


def test_scalars(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(5):
            writer.add_scalar("loss", tessera.tensor(2.0) ** -step, step, walltime=100.0 + step)
        writer.add_scalar("number", 3)
        writer.add_scalar("one_element", scalar_value=tessera.tensor([7]))
    events = read(tmp_path)
    got = [(event.step, event.value, event.wall_time) for event in events.Scalars("loss")]
    assert got == [(step, 2.0**-step, 100.0 + step) for step in range(5)]
    assert [events.Scalars(tag)[0].value for tag in ("number", "one_element")] == [3, 7]


def test_scalars_of_one_chart(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("accuracy", {"train": tessera.tensor(0.5), "test": 0.25}, 3)
    (event,) = read(tmp_path / "accuracy" / "train").Scalars("accuracy")
    assert (event.step, event.value) == (3, 0.5)
    assert read(tmp_path / "accuracy" / "test").Scalars("accuracy")[0].value == 0.25


def test_a_histogram(tmp_path):
    values = tessera.random.normal(size=(1000,))
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", values, 2)
    (event,) = read(tmp_path).Histograms("weights")
    histogram, array = event.histogram_value, values.numpy().astype("float64")
    assert event.step == 2 and histogram.num == sum(histogram.bucket) == 1000
    assert histogram.min == array.min() and histogram.max == array.max()
    assert np.isclose(histogram.sum, array.sum()) and np.isclose(
        histogram.sum_squares, (array**2).sum()
    )
    edges = [-np.inf, *histogram.bucket_limit]
    assert histogram.bucket == [
        ((array > low) & (array <= high)).sum() for low, high in zip(edges, edges[1:], strict=False)
    ]


def test_images(tmp_path):
    import cv2

    image = np.arange(4 * 5 * 3, dtype="uint8").reshape(4, 5, 3)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("hwc", tessera.tensor(image), 1, dataformats="HWC")
        writer.add_image("floats", tessera.functional.ones((3, 2, 2)))
        writer.add_images("batch", tessera.functional.zeros((2, 3, 2, 2)))
    events = read(tmp_path)
    (event,) = events.Images("hwc")
    decoded = cv2.imdecode(np.frombuffer(event.encoded_image_string, "uint8"), cv2.IMREAD_COLOR)
    assert (event.step, event.height, event.width) == (1, 4, 5)
    assert np.array_equal(decoded[..., ::-1], image)
    (event,) = events.Images("floats")
    decoded = cv2.imdecode(np.frombuffer(event.encoded_image_string, "uint8"), cv2.IMREAD_COLOR)
    assert (decoded == 255).all() and events.Images("batch")


def test_texts(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("one", "*hello*", 4)
        writer.add_text("rows", ["a", "b|c"])
    events = read(tmp_path)
    (event,) = events.Tensors("one/text_summary")
    assert event.step == 4 and event.tensor_proto.string_val == [b"*hello*"]
    (event,) = events.Tensors("rows/text_summary")
    assert event.tensor_proto.string_val == [b"| |\n|---|\n| a |\n| b\\|c |"]


def test_a_graph(tmp_path):
    with SummaryWriterExtend(tmp_path) as writer:
        writer.add_node_raw("x", "Input", outputshape=[2, 3], dtype="float32")
        writer.add_node_raw("y", "exp", input="x", attributes={"bytes": 24})
        writer.add_node_raw("z", "add", input=["x", "y"])
        writer.add_node_raw_attributes("y", {"time": "3 ms"})
        writer.add_node_raw_name_suffix("y", "_slow")
        writer.add_graph_by_node_raw_list()
        with pytest.raises(KeyError, match=r"name must be one of \['x', 'y', 'z'\], got 'w'"):
            writer.add_node_raw_attributes("w", {})
    graph = GraphDef.FromString(read(tmp_path).Graph().SerializeToString())
    x, y, z = graph.node
    assert [(n.name, n.op, list(n.input)) for n in graph.node] == [
        ("x", "Input", []),
        ("y_slow", "exp", ["x"]),
        ("z", "add", ["x", "y_slow"]),
    ]
    assert [size.size for size in x.attr["_output_shapes"].list.shape[0].dim] == [2, 3]
    assert x.attr["dtype"].s == b"float32" and not z.attr
    assert (y.attr["bytes"].s, y.attr["time"].s) == (b"24", b"3 ms")


def test_a_run_that_fails_loses_nothing(tmp_path):
    code = (
        "import sys, tessera\nfrom tessera.utils.tensorboard import SummaryWriter\n"
        "writer = SummaryWriter(sys.argv[1])\nwriter.add_scalar('loss', tessera.tensor(1.5), 9)\n"
        "1 / 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, timeout=60)
    assert done.returncode == 1
    assert [event.value for event in read(tmp_path).Scalars("loss")] == [1.5]


def test_without_tensorboardx():
    code = "try:\n    import tessera.utils.tensorboard\nexcept ImportError as error: print(error)\n"
    done = run_without("tensorboardX", code)
    assert done.stdout.startswith(
        "tensorboard: tensorboardX must be installed (pip install 'tessera[tensorboard]' or "
    )
