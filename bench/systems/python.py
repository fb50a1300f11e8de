"""
Peers that are Python packages: python.py SYSTEM JOB, with SYSTEM ort-py, openvino or numpy. Timing as in measure.mjs.

Each system yields (mode, run) or (mode, run, where): run makes one run and returns the output, unless `where` does
that.
"""
import hashlib
import json
import sys
import time
from math import ceil

import numpy as np

SAMPLE = 0.2  # ms: shorter runs are timed many at once
TYPES = {'float32': np.float32, 'float16': np.float16, 'uint8': np.uint8, 'int32': np.int32, 'int64': np.int64}


def read(value):
    if value['type'] == 'string':
        with open(value['file'], encoding='utf-8') as file:
            return np.array(json.load(file), dtype=object).reshape(value['dims'])
    return np.fromfile(value['file'], TYPES[value['type']]).reshape(value['dims'])


def checksum(output):
    if output.dtype.kind in 'OUST':
        texts = json.dumps([str(item) for item in output.ravel().tolist()], ensure_ascii=False, separators=(',', ':'))
        return hashlib.sha1(texts.encode()).hexdigest()
    return hashlib.sha1(np.ascontiguousarray(output).tobytes()).hexdigest()


def measure(run, repeats, seconds):
    now = time.perf_counter
    runs, start = 0, now()
    while runs < 3 or now() - start < seconds:
        run()
        runs += 1
    batch = ceil(SAMPLE / ((now() - start) * 1000 / runs))
    times, begun, output = [], now(), None
    while len(times) < repeats or now() - begun < seconds:
        start = now()
        for _ in range(batch):
            output = run()
        times.append((now() - start) * 1000 / batch)
    times.sort()
    middle = len(times) // 2
    median = times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2
    return {'median': median, 'min': times[0], 'samples': len(times)}, output


def ort_py(job):
    """ONNX Runtime: `array` binds inputs and output once (io binding), `fresh` feeds arrays and gets new ones."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = job['threads'], 1
    session = ort.InferenceSession(job['model'], options, providers=['CPUExecutionProvider'])
    feeds = {value['name']: read(value) for value in job['inputs']}
    yield 'fresh', lambda: session.run(None, feeds)[0]
    if job['output']['type'] == 'string':
        return
    output = ort.OrtValue.ortvalue_from_shape_and_type(job['output']['dims'], TYPES[job['output']['type']], 'cpu')
    given = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    binding = session.io_binding()
    for name, value in given.items():
        binding.bind_ortvalue_input(name, value)
    binding.bind_ortvalue_output(job['output']['name'], output)
    yield 'array', lambda: session.run_with_iobinding(binding), output.numpy


def openvino(job):
    """OpenVINO's CPU plugin, latency hint.

    `array` sets the request's tensors once, `fresh` calls the compiled model with arrays.
    """
    import openvino as ov
    config = {'PERFORMANCE_HINT': 'LATENCY', 'NUM_STREAMS': 1, 'INFERENCE_NUM_THREADS': job['threads']}
    compiled = ov.Core().compile_model(job['model'], 'CPU', config)
    arrays = [read(value).astype(str) if value['type'] == 'string' else read(value) for value in job['inputs']]
    yield 'fresh', lambda: compiled(arrays)[0]
    if job['output']['type'] == 'string':
        return
    request = compiled.create_infer_request()
    for at, array in enumerate(arrays):
        request.set_input_tensor(at, ov.Tensor(array, shared_memory=True))
    output = np.empty(job['output']['dims'], TYPES[job['output']['type']])
    request.set_output_tensor(0, ov.Tensor(output, shared_memory=True))
    yield 'array', request.infer, lambda: output


def numpy(job):
    """NumPy, one thread.

    `out=` goes with mode 'clip' (no check of the indices), because NumPy buffers the output in mode 'raise'.
    """
    table, ids = read(job['table']), read(job['indices'])
    op, axis, batch = job['op'], job['axis'], job['batchDims']
    first = [np.arange(ids.shape[0])[:, None]] if batch == 1 else []
    if op == 'GatherElements':
        yield 'fresh', lambda: np.take_along_axis(table, ids, axis)
    elif op == 'GatherND':
        yield 'fresh', lambda: table[(*first, *np.moveaxis(ids, -1, 0))]
    elif op == 'Gather' and batch == 1:
        yield 'fresh', lambda: table[(*first, ids)]
    elif op == 'Gather':
        yield 'fresh', lambda: np.take(table, ids, axis)
        output = np.empty(job['output']['dims'], table.dtype)
        yield 'array', lambda: np.take(table, ids, axis, out=output, mode='clip')


SYSTEMS = {'ort-py': ort_py, 'openvino': openvino, 'numpy': numpy}


def main():
    job = json.loads(sys.argv[2])
    cells = {}
    for mode, run, *where in SYSTEMS[sys.argv[1]](job):
        cell, output = measure(run, job['repeats'], job['seconds'])
        cells[mode] = {**cell, 'checksum': checksum(np.asarray(where[0]() if where else output))}
    print(json.dumps(cells))


if __name__ == '__main__':
    main()
