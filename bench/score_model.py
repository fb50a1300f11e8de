"""What score.py, score_ray.py and score_spark.py measure with: models, tables, and how results are told apart."""

import os
import time

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
from onnx import TensorProto, helper, numpy_helper

COLUMNS = "abcd"
MAP = ["--map", "X=" + ",".join(COLUMNS)]


def make_model(path):
    """Writes a small classifier, and `identity.onnx` beside it, which gives its input: what is left is the way."""
    random = np.random.default_rng(0)
    weights = [random.standard_normal(shape).astype(np.float32) for shape in ((4, 16), (16, 3))]
    nodes = [
        helper.make_node("MatMul", ["X", "w0"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "w1"], ["z"]),
        helper.make_node("Softmax", ["z"], ["p"], axis=1),
        helper.make_node("ArgMax", ["z"], ["label"], axis=1, keepdims=0),
    ]
    outputs = [
        helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]),
        helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 3]),
    ]
    initializers = [numpy_helper.from_array(value, f"w{i}") for i, value in enumerate(weights)]
    save_model(path, nodes, outputs, initializers)
    same = helper.make_tensor_value_info("same", TensorProto.FLOAT, ["n", 4])
    save_model(identity_beside(path), [helper.make_node("Identity", ["X"], ["same"])], [same])


def identity_beside(path):
    return os.path.join(os.path.dirname(path), "identity.onnx")


def save_model(path, nodes, outputs, initializers=()):
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph(nodes, "m", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def make_table(path, rows, group):
    """Writes a table of numbers and an id, a row group after the other."""
    random = np.random.default_rng(1)
    schema = pa.schema([(name, pa.float32()) for name in COLUMNS] + [("id", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, group):
            count = min(group, rows - start)
            columns = [random.standard_normal(count).astype(np.float32) for _ in COLUMNS]
            writer.write_table(pa.table([*columns, np.arange(start, start + count)], schema=schema))


def open_session(model):
    """The model in onnxruntime, in the thread of its caller."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


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


def timed(what, rows, run):
    """Runs, and prints how long that took."""
    start = time.time()
    result = run()
    seconds = time.time() - start
    print(f"{what}: {seconds:.1f} s, {rows / seconds:,.0f} rows/s", flush=True)
    return result


def same(ours, theirs):
    """Prints whether tables that engines have put into any order hold the same."""
    a, b = (table.sort_by("id") for table in (ours, theirs))
    inputs = all(a[name].combine_chunks().equals(b[name].combine_chunks()) for name in ["id", *COLUMNS])
    print("rows", len(a), "of", len(b), "inputs equal", inputs, differences(a, b))
