"""Runs `nodewise score` over the blocks of a Ray dataset.

    scored = dataset.map_batches(
        Scorer,
        fn_constructor_args=["model.onnx", ["--map", "X=a,b,c,d"]],
        batch_format="pyarrow",
        batch_size=65536,
        concurrency=2,
    )

Every worker needs Node, the packages nodewise and nodewise-score, and the model under the same path.
"""

import io
import subprocess

import pyarrow as pa


class Scorer:
    """A class for `Dataset.map_batches`: a table in, the table with the outputs of the model out."""

    def __init__(self, model, arguments=(), command=("nodewise",)):
        arrow = ["--from-format", "arrow-stream", "--to-format", "arrow-stream"]
        self.command = [*command, "score", model, "-", *arrow, *arguments]

    def __call__(self, table):
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        done = subprocess.run(self.command, input=sink.getvalue(), capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return pa.ipc.open_stream(done.stdout).read_all()
