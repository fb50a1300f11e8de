"""Runs `nodewise score` over the partitions of a Spark DataFrame.

    scored = frame.mapInArrow(scorer("model.onnx", ["--map", "X=a,b,c,d"]), schema)

`schema` is that of the result: the columns of the frame, then the outputs of the model. Every executor needs Node, the
packages nodewise and nodewise-score, and the model under the same path. Lists become arrays, whole numbers without a
sign the next larger type of Spark.
"""

import subprocess
import threading

import pyarrow as pa


def scorer(model, arguments=(), command=("nodewise",)):
    """A function for `DataFrame.mapInArrow`; one process of `command` serves each partition."""

    arrow = ["--from-format", "arrow-stream", "--to-format", "arrow-stream"]
    return lambda batches: piped([*command, "score", model, "-", *arrow, *arguments], batches)


def piped(command, batches):
    """Batches through a process that reads and writes streams of Arrow."""
    first = next(batches, None)
    if first is None:
        return
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    failures = []

    def feed():
        # A process that ends early closes the pipe; what it says is raised below.
        try:
            with process.stdin, pa.ipc.new_stream(process.stdin, first.schema) as writer:
                writer.write_batch(first)
                for batch in batches:
                    writer.write_batch(batch)
        except BrokenPipeError:
            pass
        except Exception as error:
            failures.append(error)
            process.kill()

    messages = []
    threads = [
        threading.Thread(target=feed, daemon=True),
        threading.Thread(target=lambda: messages.append(process.stderr.read()), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield from read(process.stdout)
    finally:
        process.stdout.close()
        code = process.wait()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    if code != 0:
        raise RuntimeError(b"".join(messages).decode())


def read(stream):
    """The batches of an Arrow stream; nothing where a process that failed wrote none."""
    try:
        reader = pa.ipc.open_stream(stream)
    except pa.ArrowInvalid:
        return
    types = [spark_type(kind) for kind in reader.schema.types]
    for batch in reader:
        columns = [column.cast(kind) for column, kind in zip(batch.columns, types)]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def spark_type(kind):
    """What Spark has in the place of lists of a fixed size, of whole numbers without a sign and of halves."""
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind):
        return pa.list_(spark_type(kind.value_type))
    return TYPES.get(kind, kind)


TYPES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
}
