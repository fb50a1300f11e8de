"""What scripts share that let clients of others ask `nodewise serve`: a server of some models, and `nodewise run`."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np

HTTP, GRPC = 8440, 8441
TYPES = {
    "bool": "BOOL",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "float16": "FP16",
    "float": "FP32",
    "double": "FP64",
    "string": "BYTES",
}
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
MODELS = {
    "twice": "twice (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }",
    "text": "text (string[n] s) => (string[n] y) { y = Identity(s) }",
    "half": "half (float16[n] h) => (float16[n] y) { y = Identity(h) }",
    "table": "table (int64[n] i, float[r, c] t) => (float[n, c] y) { y = Gather(t, i) }",
    "types": "types ({}) => ({}) {{ {} }}".format(
        ", ".join(f"{kind}[n] x_{kind}" for kind in TYPES),
        ", ".join(f"{kind}[n] y_{kind}" for kind in TYPES),
        "\n".join(f"y_{kind} = Identity(x_{kind})" for kind in TYPES),
    ),
}
COMMAND = sys.argv[1:] or ["nodewise"]


def sample(kind):
    """Elements of a type, the least and the greatest of integers among them."""
    if kind == "string":
        return np.array(["a", "", "ü", "日本"], dtype=object)
    if kind == "bool":
        return np.array([True, False, False, True])
    dtype = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
    if dtype.kind == "f":
        return np.array([0.1, -2.5, 65504, 6e-8], dtype=dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 0, 1], dtype=dtype)


@contextlib.contextmanager
def served(repository, *options):
    """A server of a repository, which is ended afterwards."""
    ports = ["--http-port", str(HTTP), "--grpc-port", str(GRPC)]
    server = subprocess.Popen([*COMMAND, "serve", repository, *ports, "--log-level", "error", *options])
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{HTTP}/v2/health/ready"):
                    break
            except OSError:
                if server.poll() is not None:
                    sys.exit("the server has ended")
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def served_models():
    """A server of `MODELS`; gives the folder of its repository."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in MODELS.items():
            source = os.path.join(folder, name, "1", "model.onnx")
            os.makedirs(os.path.dirname(source))
            with open(f"{source}txt", "w", encoding="utf-8") as file:
                file.write(HEAD + text)
            subprocess.run([*COMMAND, "convert", f"{source}txt", source], check=True, stdout=subprocess.DEVNULL)
            os.remove(f"{source}txt")
        with served(folder):
            yield folder


def run(folder, model, feeds):
    """The outputs of `nodewise run` by name, as lists."""
    given = [f"--input={name}={json.dumps(array.tolist())}" for name, array in feeds.items()]
    path = os.path.join(folder, model, "1", "model.onnx")
    done = subprocess.run([*COMMAND, "run", path, *given, "--json"], check=True, capture_output=True)
    return {one["name"]: (one["dims"], one["data"]) for one in json.loads(done.stdout)["outputs"]}


def plain(array):
    """An array of a client as dims and a list."""
    data = [item.decode() if isinstance(item, bytes) else item for item in array.ravel().tolist()]
    return list(array.shape), data


class Checks:
    """Counts what holds, and prints what does not."""

    held = failed = 0

    def __call__(self, what, holds):
        if holds:
            self.held += 1
        else:
            self.failed += 1
            print("does not hold:", what, flush=True)

    def raises(self, what, kind, call, text):
        """That a call fails, and says so."""
        try:
            call()
            self(f"{what} is refused", False)
        except kind as error:
            self(f"{what}: {error}", text in str(error))

    def end(self):
        print(self.held, "hold,", self.failed, "do not")
        sys.exit(self.failed > 0)
