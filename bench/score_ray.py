"""Rows a second of `nodewise score` inside Ray Data, beside the same model through onnxruntime in the same engine.

    python bench/score_ray.py [rows] [command of nodewise ...]    needs onnx, onnxruntime, pyarrow, ray

Two workers; `nothing` is Ray's own time for the table.
"""

import os
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
# Ray's workers import these too.
sys.path[:0] = [os.path.join(HERE, "..", "integrations"), HERE]
os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])

from score_model import COLUMNS, MAP, differences, make_model, predict  # noqa: E402

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
COMMAND = tuple(sys.argv[2:] or ["nodewise"])
BATCH = 65_536


def make_table(path):
    random = np.random.default_rng(1)
    columns = {name: random.standard_normal(ROWS).astype(np.float32) for name in COLUMNS}
    pq.write_table(pa.table(columns | {"id": np.arange(ROWS)}), path, row_group_size=BATCH)


class Runtime:
    """The model through onnxruntime, in the thread of the worker."""

    def __init__(self, model):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def __call__(self, table):
        label, lists = predict(self.session, table)
        return table.append_column("label", label).append_column("p", lists)


def tell(what, seconds):
    print(f"{what}: {seconds:.1f} s, {ROWS / seconds:,.0f} rows/s", flush=True)


def timed(what, run):
    start = time.time()
    result = run()
    tell(what, time.time() - start)
    return result


def same(ours, theirs):
    a, b = (table.sort_by("id") for table in (ours, theirs))
    print("rows", len(a), differences(a, b))


def with_ray(model, table):
    import ray

    from ray_data import Scorer

    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=512 << 20, log_to_driver=False)
    source = ray.data.read_parquet(table)
    common = {"batch_format": "pyarrow", "batch_size": BATCH, "concurrency": 2}

    def run(which, arguments):
        dataset = source.map_batches(which, fn_constructor_args=arguments, **common)
        return pa.concat_tables(ray.get(dataset.to_arrow_refs()))

    def pipe(table):
        return table

    pa.concat_tables(ray.get(source.map_batches(pipe, batch_format="pyarrow", batch_size=BATCH).to_arrow_refs()))
    ours = timed("nodewise", lambda: run(Scorer, [model, MAP, COMMAND]))
    theirs = timed("onnxruntime", lambda: run(Runtime, [model]))
    plain = source.map_batches(pipe, batch_format="pyarrow", batch_size=BATCH)
    timed("nothing", lambda: ray.get(plain.to_arrow_refs()))
    same(ours, theirs)
    ray.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model, table = (os.path.join(folder, name) for name in ("m.onnx", "t.parquet"))
        make_model(model)
        make_table(table)
        with_ray(model, table)
