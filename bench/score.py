"""`nodewise score` beside onnxruntime and pyarrow: Parquet in, Parquet out, and killed and resumed.

    python bench/score.py [rows] [command of nodewise ...]    needs onnx, onnxruntime, pyarrow

Prints rows a second and the most memory of each, and whether the results are equal.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import onnxruntime
import pyarrow as pa
import pyarrow.parquet as pq
from score_model import MAP, differences, make_model, make_table, predict

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
COMMAND = sys.argv[2:] or ["nodewise"]
GROUP = 131_072
BATCH = 8192


def score_in_python(model, source, target):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    writer = None
    for batch in pq.ParquetFile(source).iter_batches(BATCH):
        label, lists = predict(session, batch)
        table = pa.table([*batch.columns, label, lists], names=[*batch.schema.names, "label", "p"])
        writer = writer or pq.ParquetWriter(target, table.schema)
        writer.write_table(table)
    writer.close()


def tell(what, start):
    seconds = time.time() - start
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{what}: {seconds:.1f} s, {ROWS / seconds:,.0f} rows/s, children at most {most:,.0f} MB", flush=True)


with tempfile.TemporaryDirectory() as folder:
    model, source, ours, theirs, resumed = (
        os.path.join(folder, name) for name in ("m.onnx", "in.parquet", "a.parquet", "b.parquet", "c.parquet")
    )
    make_model(model)
    make_table(source, ROWS, GROUP)
    score = [*COMMAND, "score", model, source, *MAP, "--batch", str(BATCH), "-o"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = time.time()
    subprocess.run([*score, ours], check=True, **quiet)
    tell("nodewise", start)
    whole = time.time() - start
    start = time.time()
    child = os.fork()
    if child == 0:
        score_in_python(model, source, theirs)
        os._exit(0)
    os.waitpid(child, 0)
    tell("onnxruntime and pyarrow", start)
    process = subprocess.Popen([*score, resumed], **quiet)
    time.sleep(whole / 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print("killed", "before its end" if not os.path.exists(resumed) else "too late", flush=True)
    subprocess.run([*score, resumed, "--resume"], check=True, **quiet)
    with open(ours, "rb") as a, open(resumed, "rb") as b:
        print("resumed: equal byte for byte", a.read() == b.read())
    print(differences(pq.read_table(ours), pq.read_table(theirs)))
