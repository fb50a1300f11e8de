"""
OpenVINO, as openvino.mjs asks it: a question as JSON a line on standard input, its answer on standard output.

open {path, threads}; run {inputs: {name: {type, dims, file}}} answers with milliseconds, the inputs are kept for runs
that give none; output {file} writes the first output as float64.
"""
import json
import sys
import time

import numpy as np
import openvino as ov


class Asked:
    def open(self, path, threads):
        config = {'PERFORMANCE_HINT': 'LATENCY', 'NUM_STREAMS': 1, 'INFERENCE_NUM_THREADS': threads}
        self.request = ov.Core().compile_model(path, 'CPU', config).create_infer_request()
        return {}

    def run(self, inputs=None):
        for name, value in (inputs or {}).items():
            array = np.fromfile(value['file'], value['type']).reshape(value['dims'])
            self.request.set_tensor(name, ov.Tensor(array))
        start = time.perf_counter()
        self.request.infer()
        return {'milliseconds': (time.perf_counter() - start) * 1000}

    def output(self, file):
        self.request.get_output_tensor(0).data.astype(np.float64).tofile(file)
        return {}


def main():
    asked = Asked()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(asked, question.pop('do'))(**question)
        except Exception as error:
            answer = {'error': str(error).strip().splitlines()[-1]}
        print(json.dumps(answer), flush=True)


main()
