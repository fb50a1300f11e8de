"""Rows a second of `nodewise score` inside Spark, beside the same model through onnxruntime in the same engine.

    python bench/score_spark.py [rows] [command of nodewise ...]    needs onnx, onnxruntime, pyarrow, pyspark, Java

A local cluster of two executors; `nothing` is Spark's own time for the table with a function that does nothing, `the
way alone` that of `nodewise score` with a model that gives its input. At last an executor is killed while it scores,
and what comes is held against the rest. Linux.
"""

import os
import signal
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "integrations"), HERE]
# Executors import these too.
os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])
os.environ["PYSPARK_PYTHON"] = sys.executable

import pyarrow as pa  # noqa: E402
from score_model import MAP, identity_beside, make_model, make_table, open_session, predict, same, timed  # noqa: E402

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
COMMAND = tuple(sys.argv[2:] or ["nodewise"])
GROUP = 65_536
PARTITIONS = 8
SETTINGS = {
    "spark.executor.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
TABLE = "a float, b float, c float, d float, id long"
SCORED = f"{TABLE}, label long, p array<float>"


def runtime(model):
    """The model through onnxruntime, in the process of each partition."""

    def score(batches):
        session = open_session(model)
        for batch in batches:
            columns = [*batch.columns, *predict(session, batch)]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, "label", "p"])

    return score


def nothing(batches):
    """What Spark itself does for a table."""
    yield from batches


def text_of(path):
    """What a file of /proc says; nothing where the process is over."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def executor_above(process):
    """The executor that has started a process, if one has."""
    while process > 1:
        if b"CoarseGrainedExecutorBackend" in text_of(f"/proc/{process}/cmdline"):
            return process
        process = int(text_of(f"/proc/{process}/stat").rpartition(b")")[2].split()[1] or 0)
    return None


def kill_an_executor(model):
    """Waits for a process that scores, and kills the executor that has started it."""
    while True:
        time.sleep(0.05)
        for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
            arguments = text_of(f"/proc/{process}/cmdline").split(b"\0")
            executor = executor_above(process) if {b"score", model.encode()} <= set(arguments) else None
            if executor:
                time.sleep(0.5)
                os.kill(executor, signal.SIGKILL)
                print("killed an executor", flush=True)
                return


def with_spark(model, table):
    from pyspark.sql import SparkSession

    from spark import scorer

    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    frame = spark.read.parquet(table).repartition(PARTITIONS)

    def run(function, schema=SCORED):
        return frame.mapInArrow(function, schema).toArrow()

    ours = scorer(model, MAP, COMMAND)
    run(nothing, TABLE)
    timed("nothing", ROWS, lambda: run(nothing, TABLE))
    alone = scorer(identity_beside(model), MAP, COMMAND)
    timed("the way alone", ROWS, lambda: run(alone, f"{TABLE}, same array<float>"))
    scored = timed("nodewise", ROWS, lambda: run(ours))
    theirs = timed("onnxruntime", ROWS, lambda: run(runtime(model)))
    same(scored, theirs)
    killer = threading.Thread(target=kill_an_executor, args=[model], daemon=True)
    killer.start()
    again = timed("nodewise, an executor killed", ROWS, lambda: run(ours))
    killer.join(1)
    if killer.is_alive():
        print("it was over before an executor was killed")
    same(again, theirs)
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model, table = (os.path.join(folder, name) for name in ("m.onnx", "t.parquet"))
        make_model(model)
        make_table(table, ROWS, GROUP)
        with_spark(model, table)
