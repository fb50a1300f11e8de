"""
peer.py PACKAGE MODEL INDICES: looks rows up with onnxruntime or openvino and prints the checksum of the result.

Writes the peak memory of the process in bytes to file 3, as peak.cjs does.
"""
import hashlib
import os
import re
import resource
import sys

import numpy as np


def look_up(package, model, indices):
    if package == 'onnxruntime':
        import onnxruntime
        session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
        return session.run(None, {'indices': indices})[0]
    import openvino
    return openvino.Core().compile_model(model, 'CPU')([indices])[0]


def peak():
    try:
        with open('/proc/self/status', encoding='ascii') as status:
            return int(re.search(r'VmHWM:\s*(\d+)', status.read())[1]) * 1024
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == 'darwin' else peak * 1024


package, model, indices = sys.argv[1:]
output = np.ascontiguousarray(look_up(package, model, np.fromfile(indices, np.int64)))
print(hashlib.sha1(output.tobytes()).hexdigest())
os.write(3, str(peak()).encode())
