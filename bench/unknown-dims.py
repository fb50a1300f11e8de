# How many dims of every node output shape inference leaves open: ONNX's own and ONNX Runtime's symbolic one.
# Run by unknown-dims.mjs.
# Needs Python packages onnx, onnxruntime and sympy.
# python bench/unknown-dims.py FOLDER MODEL...
# Writes each model without its declared shapes to FOLDER/0.onnx, FOLDER/1.onnx ..., which is what is measured, and
# prints JSON.
import json
import os
import re
import sys

import onnx
import onnxruntime
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

# Not the functions of an expression such as floor(t/5).
NAME = re.compile(r"[^\W\d][\w.]*(?![\w.(])")


def strip(graph, is_main=True):
    """Takes out what the file says of shapes, but for the inputs of the model."""
    del graph.value_info[:]
    for output in graph.output if is_main else []:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for attribute in node.attribute:
            for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                strip(body, False)


def open_dims(type_proto, names):
    """Dims that are neither a number nor an expression of names which dims of inputs have; None without a shape."""
    tensor = type_proto.tensor_type
    if not type_proto.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return sum(not is_known(dim, names) for dim in tensor.shape.dim)


def is_known(dim, names):
    if dim.HasField("dim_value"):
        return True
    # Tools give names of their own to what they do not know.
    parts = NAME.findall(dim.dim_param)
    return dim.dim_param in names or (dim.dim_param != "" and all(name in names for name in parts))


def measure(model, names, infer):
    try:
        graph = infer(model).graph
    except Exception as error:  # of whatever kind: it is what the table says
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    types = {value.name: value.type for value in [*graph.value_info, *graph.output]}
    outputs = [name for node in model.graph.node for name in node.output if name]
    return {"open": {name: open_dims(types[name], names) if name in types else None for name in outputs}}


def look(path, target):
    model = onnx.load(path)
    strip(model.graph)
    onnx.save(model, target)
    names = {dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    return {
        "onnx": measure(model, names, lambda given: onnx.shape_inference.infer_shapes(given, data_prop=True)),
        "ort": measure(model, names, lambda given: SymbolicShapeInference.infer_shapes(given, auto_merge=True)),
    }


folder, *paths = sys.argv[1:]
print(json.dumps({
    "versions": {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__},
    "models": [look(path, os.path.join(folder, f"{i}.onnx")) for i, path in enumerate(paths)],
}))
