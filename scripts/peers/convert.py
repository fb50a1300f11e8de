"""Runs what `nodewise convert` writes in the other dialect in the runtime of that dialect.

    python scripts/peers/convert.py <folder of data> <folder of the bundled command> <kind of cases> [regex]

`zoo` is written as IR and run by OpenVINO; `openvino-zoo` and `openvino-op` are written as ONNX, held against
onnx.checker with full_check, and run by ONNX Runtime. Outputs are compared with the recorded ones. A case is `equal`,
`refused` (the command names the nodes that cannot be said), `unsupported` (the model is valid and runs equal here, and
the runtime has no kernel for it), or `wrong`. Needs Node and `pip install onnx onnxruntime openvino`.
"""

import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnx.numpy_helper

data, command, kind = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
wanted = re.compile(sys.argv[4] if len(sys.argv) > 4 else "")
to_ir = kind not in ("openvino-zoo", "openvino-op", "openvino-op2")
work = Path(tempfile.mkdtemp(prefix="nodewise-convert-"))
commands = subprocess.Popen(
    ["node", Path(__file__).with_name("commands.mjs"), command],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)

# What ONNX Runtime and OpenVINO say where they have no kernel for a valid model.
NO_KERNEL = re.compile(
    r"NOT_IMPLEMENTED|Could not find an implementation|is not a registered function|Type Error: Type '.*' of input"
    r"|No corresponding Numpy type|is under development|No Op registered|not supported|unsupported|Cannot create"
    r"|not implemented",
    re.IGNORECASE,
)

NEXT = "/next"


def nodewise(*arguments):
    commands.stdin.write(json.dumps([str(item) for item in arguments]) + "\n")
    commands.stdin.flush()
    return json.loads(commands.stdout.readline())


def stored(path, element):
    """A recorded tensor; types that NumPy lacks are bit patterns."""
    if path.suffix == ".npy":
        return numpy.load(path)
    if element.HasField("sequence_type"):
        raise NotImplementedError("sequences")
    return onnx.numpy_helper.to_array(onnx.load_tensor(path))


def recorded(folder, model):
    """Inputs and outputs of a data set, in order."""
    result = []
    for side, ports in (("input", model and model.graph.input), ("output", model and model.graph.output)):
        tensors = []
        for i in range(10_000):
            path = next((p for p in (folder / f"{side}_{i}.npy", folder / f"{side}_{i}.pb") if p.exists()), None)
            if path is None:
                break
            tensors.append(stored(path, ports[i].type if ports else None))
        result.append(tensors)
    return result


class Onnx:
    """A model in ONNX Runtime, without its optimizations."""

    def __init__(self, path):
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        onnx.checker.check_model(str(path), full_check=True)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.types = [port.type.tensor_type.elem_type for port in onnx.load(path, load_external_data=False).graph.input]
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.value = onnxruntime.OrtValue
        # Variables of the model: their outputs are called after their inputs, which have the first values as defaults.
        self.states = {}

    def run(self, inputs):
        feeds = dict(self.states)
        for port, element, given in zip(self.session.get_inputs(), self.types, inputs):
            own = onnx.helper.tensor_dtype_to_np_dtype(element)
            if own == given.dtype or own == numpy.object_ or element == onnx.TensorProto.STRING:
                feeds[port.name] = self.value.ortvalue_from_numpy(given)
            else:
                feeds[port.name] = self.value.ortvalue_from_numpy_with_onnx_type(given, element)
        names = [port.name for port in self.session.get_outputs()]
        results = dict(zip(names, self.session.run_with_ort_values(names, feeds)))
        states = {name: name.removesuffix(NEXT) for name in names if name.endswith(NEXT)}
        self.states = {own: results.pop(name) for name, own in states.items()}
        return [bits(value) for value in results.values()]


def bits(value):
    array = value.numpy()
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" else array


EXACT = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}


class OpenVino:
    """A model in OpenVINO's CPU plugin, computing in float32; compressed weights round activations by default."""

    def __init__(self, path):
        import openvino

        self.openvino = openvino
        try:
            self.request = openvino.Core().compile_model(path, "CPU", EXACT)
        except RuntimeError as error:
            # With a precision given the plugin does not compile some models with If (2026.4).
            if "m_element_type.is_static" not in str(error):
                raise
            self.request = openvino.Core().compile_model(path, "CPU", {"DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"})

    def run(self, inputs):
        # OpenVINO takes no arrays that are read-only, as those of protobuf may be.
        feeds = dict(enumerate(map(numpy.array, inputs)))
        return [numpy.array(value) for value in self.request(feeds).values()]


def differs(got, expected, row, name):
    """How an output differs from the recorded one, or None."""
    if got.shape != expected.shape:
        return f"{name} has dims {got.shape} instead of {expected.shape}"
    if got.dtype.kind in "OUS" or expected.dtype.kind in "OUS":
        return None if (got.astype(str) == expected.astype(str)).all() else f"{name} has other strings"
    raw = (row.get("raw_bits") or {}).get(name)
    if raw is not None:
        got, expected = decoded(got, raw), decoded(expected, raw)
    if got.dtype != expected.dtype:
        return f"{name} has type {got.dtype} instead of {expected.dtype}"
    if row.get("compare") == "type-dims":
        return None
    wide = numpy.float64 if got.dtype.kind in "fV" else got.dtype
    atol, rtol = row.get("atol", 1e-5), row.get("rtol", 1e-3)
    if to_ir and got.dtype == numpy.float64:
        # OpenVINO's CPU plugin has no float64: it computes in float32.
        atol, rtol = max(atol, 1e-6), max(rtol, 1e-6)
    if numpy.allclose(got.astype(wide), expected.astype(wide), rtol, atol, equal_nan=True):
        return None
    return f"{name} has other values"


def decoded(array, name):
    if name == "bf16" and array.dtype == numpy.uint16:
        return (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array.astype(numpy.float32) if name == "bf16" else array


def judge(row):
    name = row["name"]
    source = data / kind / name / ("model.onnx" if to_ir else "model.xml")
    folder = work / name
    folder.mkdir(parents=True)
    target = folder / ("model.xml" if to_ir else "model.onnx")
    done = nodewise("convert", source, target, "--json")
    if done["code"] != 0:
        error = json.loads(done["stdout"])["error"]
        named = error["code"] == "unsupported-op" and (error.get("details") or {}).get("nodes")
        return ("refused" if named else "wrong"), error["message"]
    sets = sorted(source.parent.glob("test_data_set_*"))
    for one in sets:
        shutil.copytree(one, folder / one.name)
    try:
        model = OpenVino(target) if to_ir else Onnx(target)
        proto = onnx.load(source, load_external_data=False) if to_ir else None
        for one in sets:
            if not (source.parent / "stateful.txt").exists():
                model.states = {}
            inputs, outputs = recorded(one, proto)
            for i, (got, expected) in enumerate(zip(model.run(inputs), outputs, strict=True)):
                message = differs(got, expected, row, f"output_{i}")
                if message:
                    return "wrong", message + here(folder, row)
        return "equal", ""
    except Exception as error:  # Runtimes throw whatever they like.
        message = " ".join(str(error).split())[:400]
        agrees = here(folder, row)
        isValid = NO_KERNEL.search(message) and not isinstance(error, onnx.checker.ValidationError)
        kind = "unsupported" if isValid and "equal" in agrees else "wrong"
        return kind, f"{type(error).__name__}: {message}{agrees}"


def here(folder, row):
    """What Nodewise itself makes of the converted model."""
    (folder.parent / "index.json").write_text(json.dumps([row]))
    tolerance = ["--rtol", row.get("rtol", 1e-3), "--atol", row.get("atol", 1e-5)]
    command_line = ["node", Path(command, "nodewise.js"), "test", folder, "--jobs", "1", *tolerance, "--json"]
    done = subprocess.run([str(item) for item in command_line], capture_output=True, text=True)
    if done.returncode == 0:
        return " (Nodewise: equal)"
    answer = json.loads(done.stdout)
    cases = answer.get("cases") or [answer["error"]]
    return f" (Nodewise: {cases[0]['message']})"


def main():
    rows = [row for row in json.loads((data / kind / "index.json").read_text()) if wanted.search(row["name"])]
    # Cases of errors have no outputs to compare with.
    rows = [row for row in rows if not (data / kind / row["name"] / "expect.json").exists()]
    counts = collections.Counter()
    for row in rows:
        verdict, message = judge(row)
        counts[verdict] += 1
        if verdict != "equal":
            print(f"{verdict}: {row['name']}: {message}", flush=True)
        shutil.rmtree(work / row["name"], ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)
    print(f"{kind}: {dict(counts)} of {len(rows)}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
