"""What score.py and score_ray.py measure with: a small classifier, and how its results are told apart."""

import numpy as np
import onnx
import pyarrow as pa
from onnx import TensorProto, helper, numpy_helper

COLUMNS = "abcd"
MAP = ["--map", "X=" + ",".join(COLUMNS)]


def make_model(path):
    random = np.random.default_rng(0)
    weights = [random.standard_normal(shape).astype(np.float32) for shape in ((4, 16), (16, 3))]
    nodes = [
        helper.make_node("MatMul", ["X", "w0"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "w1"], ["z"]),
        helper.make_node("Softmax", ["z"], ["p"], axis=1),
        helper.make_node("ArgMax", ["z"], ["label"], axis=1, keepdims=0),
    ]
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", 4])]
    outputs = [
        helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]),
        helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 3]),
    ]
    initializers = [numpy_helper.from_array(value, f"w{i}") for i, value in enumerate(weights)]
    graph = helper.make_graph(nodes, "m", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def predict(session, rows):
    """Labels and probabilities of rows, by onnxruntime."""
    x = np.stack([rows.column(name).to_numpy(zero_copy_only=False) for name in COLUMNS], 1)
    label, p = session.run(["label", "p"], {"X": x})
    return pa.array(label), pa.ListArray.from_arrays(np.arange(len(p) + 1, dtype=np.int32) * 3, p.ravel())


def differences(ours, theirs):
    """Whether labels are equal, and the greatest difference of probabilities."""
    labels = ours["label"].combine_chunks().equals(theirs["label"].combine_chunks())
    p, q = (np.asarray(pa.concat_arrays(table["p"].chunks).flatten()) for table in (ours, theirs))
    return f"labels equal {labels} greatest difference of p {float(abs(p - q).max())}"
