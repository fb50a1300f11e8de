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
import tempfile

import pyarrow as pa


class Scorer:
    """A class for `Dataset.map_batches`: a table in, the table with the outputs of the model out.

    One process of `command` serves a worker, as long as its tables have the same columns.
    """

    def __init__(self, model, arguments=(), command=("nodewise",)):
        arrow = ["--from-format", "arrow-stream", "--to-format", "arrow-stream"]
        self.command = [*command, "score", model, "-", *arrow, *arguments]
        self.process = None

    def __call__(self, table):
        if table.num_rows == 0:
            return self.alone(table)
        if self.process is None or self.writer_schema != table.schema:
            self.start(table.schema)
        # The command answers each batch with one, so that no batch waits for another.
        batches = [batch for batch in table.combine_chunks().to_batches() if batch.num_rows > 0]
        scored = []
        try:
            for batch in batches:
                self.writer.write_batch(batch)
                self.process.stdin.flush()
                self.reader = self.reader or pa.ipc.open_stream(self.process.stdout)
                scored.append(self.reader.read_next_batch())
        except (BrokenPipeError, pa.ArrowInvalid, StopIteration):
            self.process.wait()
            self.process = None
            self.errors.seek(0)
            raise RuntimeError(self.errors.read().decode()) from None
        return pa.Table.from_batches(scored)

    def start(self, schema):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
        self.errors = tempfile.TemporaryFile()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=self.errors)
        self.writer_schema = schema
        self.writer = pa.ipc.new_stream(self.process.stdin, schema)
        self.reader = None

    def alone(self, table):
        """A process for a table without rows, whose answer is known when the stream ends."""
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        done = subprocess.run(self.command, input=sink.getvalue(), capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return pa.ipc.open_stream(done.stdout).read_all()
