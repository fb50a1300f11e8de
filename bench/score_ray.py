"""Rows a second of `nodewise score` inside Ray Data, beside the same model through onnxruntime in the same engine.

    python bench/score_ray.py [rows] [command of nodewise ...]    needs onnx, onnxruntime, pyarrow, ray

Two workers; `nothing` is Ray's own time for the table with a function that does nothing, `the way alone` that of
`nodewise score` with a model that gives its input.
"""

import os
import sys
import tempfile

import pyarrow as pa

HERE = os.path.dirname(os.path.abspath(__file__))
# Ray's workers import these too.
sys.path[:0] = [os.path.join(HERE, "..", "integrations"), HERE]
os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])

from score_model import MAP, identity_beside, make_model, make_table, open_session, predict, same, timed  # noqa: E402

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
COMMAND = tuple(sys.argv[2:] or ["nodewise"])
BATCH = 65_536


class Runtime:
    """The model through onnxruntime, in the thread of the worker."""

    def __init__(self, model):
        self.session = open_session(model)

    def __call__(self, table):
        label, lists = predict(self.session, table)
        return table.append_column("label", label).append_column("p", lists)


class Nothing:
    """What Ray itself does for a table."""

    def __call__(self, table):
        return table


def with_ray(model, table):
    import ray

    from ray_data import Scorer

    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=512 << 20, log_to_driver=False)
    source = ray.data.read_parquet(table)
    common = {"batch_format": "pyarrow", "batch_size": BATCH, "concurrency": 2}

    def run(which, *arguments):
        dataset = source.map_batches(which, fn_constructor_args=arguments, **common)
        return pa.concat_tables(ray.get(dataset.to_arrow_refs()))

    run(Nothing)
    timed("nothing", ROWS, lambda: run(Nothing))
    timed("the way alone", ROWS, lambda: run(Scorer, identity_beside(model), MAP, COMMAND))
    ours = timed("nodewise", ROWS, lambda: run(Scorer, model, MAP, COMMAND))
    theirs = timed("onnxruntime", ROWS, lambda: run(Runtime, model))
    same(ours, theirs)
    ray.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model, table = (os.path.join(folder, name) for name in ("m.onnx", "t.parquet"))
        make_model(model)
        make_table(table, ROWS, BATCH)
        with_ray(model, table)
