"""Peers of bench/checking.mjs.

Reads jobs from stdin, a JSON object a line, and answers each with a JSON list of milliseconds.
"""

import json
import sys
import time

import onnx
import openvino

core = openvino.Core()

PEERS = {
    "read_model": core.read_model,
    "check_model(path)": lambda path: onnx.checker.check_model(path, full_check=True),
    "check_model(proto)": lambda proto: onnx.checker.check_model(proto, full_check=True),
    "load": onnx.load,
}

print(json.dumps({"onnx": onnx.__version__, "openvino": openvino.__version__}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    call = PEERS[job["peer"]]
    argument = onnx.load(job["path"]) if job["peer"] == "check_model(proto)" else job["path"]
    times = []
    for _ in range(job["runs"]):
        start = time.perf_counter()
        result = call(argument)
        times.append((time.perf_counter() - start) * 1000)
        del result
    print(json.dumps(times), flush=True)
