"""Cases of conformance through REST and gRPC: what tritonclient gets from `nodewise serve` has the expected bytes.

    python packages/serve/scripts/gather_cases.py FOLDER [command of nodewise ...]    needs onnx, tritonclient[all]

FOLDER has folders of cases and an `index.json` beside them, a list of `{"name", "expect": "values" | "error: …"}`. A case
that expects an error is refused when it is loaded, or when it is asked.
"""

import collections
import glob
import hashlib
import json
import os
import shutil
import struct
import sys
import tempfile

FOLDER = sys.argv.pop(1)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tritonclient.grpc as over_grpc  # noqa: E402
import tritonclient.http as over_http  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from served import GRPC, HTTP, served  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402


def cases():
    """Names and folders of cases that have tensors, and whether each gives values."""
    for index in sorted(glob.glob(f"{FOLDER}/**/index.json", recursive=True)):
        folder = os.path.dirname(index)
        with open(index, encoding="utf-8") as file:
            for case in json.load(file):
                path = os.path.join(folder, case["name"])
                if os.path.isdir(f"{path}/test_data_set_0"):
                    yield f"{os.path.basename(folder)}-{case['name']}", path, case.get("expect", "values") == "values"


def tensor_bytes(path):
    """The bytes and dims of a tensor in a file; nothing where there is none."""
    if os.path.exists(f"{path}.npy"):
        array = np.load(f"{path}.npy")
    elif os.path.exists(f"{path}.pb"):
        with open(f"{path}.pb", "rb") as file:
            tensor = onnx.TensorProto.FromString(file.read())
        array = numpy_helper.to_array(tensor)
    else:
        return None
    if array.dtype.kind in "OUS":
        texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel()]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts), array.shape
    return np.ascontiguousarray(array).tobytes(), array.shape


def is_expected(got, path):
    """Whether bytes are those of a file, or have the digest that stands for one that is too big."""
    if not os.path.exists(f"{path}.json"):
        return got == tensor_bytes(path)[0]
    with open(f"{path}.json", encoding="utf-8") as file:
        return hashlib.sha256(got).hexdigest() == json.load(file)["sha256"]


def ask_http(client, model, inputs, outputs):
    tensors = []
    for (name, datatype), (data, shape) in inputs:
        tensor = over_http.InferInput(name, list(shape), datatype)
        # As set_data_from_numpy does, for types that NumPy lacks too.
        tensor._raw_data, tensor._data = data, None
        tensor._parameters["binary_data_size"] = len(data)
        tensors.append(tensor)
    answer = client.infer(model, tensors, outputs=[over_http.InferRequestedOutput(name) for name in outputs])
    sizes = [one["parameters"]["binary_data_size"] for one in answer.get_response()["outputs"]]
    ends = np.cumsum(sizes)
    return [bytes(answer._buffer[end - size : end]) for size, end in zip(sizes, ends)]


def ask_grpc(client, model, inputs, outputs):
    tensors = []
    for (name, datatype), (data, shape) in inputs:
        tensor = over_grpc.InferInput(name, list(shape), datatype)
        tensor._raw_content = data
        tensors.append(tensor)
    answer = client.infer(model, tensors, outputs=[over_grpc.InferRequestedOutput(name) for name in outputs])
    return list(answer.get_response().raw_output_contents)


def tried(clients, model, path, has_values):
    """What is wrong with the answers to a case; nothing where they are as they should be."""
    http, _ = clients
    try:
        http.load_model(model)
    except InferenceServerException as error:
        return f"it is not loaded: {error}" if has_values else None
    metadata = http.get_model_metadata(model)
    data = os.path.join(path, "test_data_set_0")
    ports = [(one["name"], one["datatype"]) for one in metadata["inputs"]]
    given = [(port, tensor_bytes(f"{data}/input_{i}")) for i, port in enumerate(ports)]
    inputs = [(port, tensor) for port, tensor in given if tensor is not None]
    outputs = [one["name"] for one in metadata["outputs"]]
    wrong = []
    for ask, client in zip((ask_http, ask_grpc), clients):
        try:
            got = ask(client, model, inputs, outputs)
        except InferenceServerException as error:
            if has_values:
                wrong.append(f"{ask.__name__}: {error}")
            continue
        if not has_values:
            wrong.append(f"{ask.__name__}: answered")
        elif not all(is_expected(one, f"{data}/output_{i}") for i, one in enumerate(got)):
            wrong.append(f"{ask.__name__}: other bytes")
    http.unload_model(model)
    return "; ".join(wrong) or None


def main():
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as repository:
        every = list(cases())
        for model, path, _ in every:
            files = [file for file in glob.glob(f"{path}/*") if os.path.isfile(file)]
            os.makedirs(f"{repository}/{model}/1")
            for file in files:
                shutil.copy(file, f"{repository}/{model}/1")
        with served(repository, "--load", "none", "--instances", "1", "--watch", "0"):
            clients = (
                over_http.InferenceServerClient(f"127.0.0.1:{HTTP}", connection_timeout=120, network_timeout=120),
                over_grpc.InferenceServerClient(f"127.0.0.1:{GRPC}"),
            )
            for model, path, has_values in every:
                wrong = tried(clients, model, path, has_values)
                found[f"{'values' if has_values else 'errors'} {'wrong' if wrong else 'right'}"] += 1
                if wrong:
                    print(model, wrong, flush=True)
    print(dict(found))
    sys.exit(any("wrong" in kind for kind in found))


main()
