"""Holds the text format of ONNX against the package onnx.

    python scripts/peers/onnx_text.py <folder of cases> <folder of the bundled command>

Every model.onnx below the folder is printed here and parsed there, and printed there and parsed here. In both
directions the model that comes out is compared with what onnx itself parses from the same text. Needs onnx 1.23 and
Node.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import onnx
import onnx.parser
import onnx.printer

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2]
work = pathlib.Path(tempfile.mkdtemp(prefix="nodewise-text-"))


commands = subprocess.Popen(
    ["node", pathlib.Path(__file__).with_name("commands.mjs"), command],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def convert(source, target):
    """Why the model could not be converted, or None."""
    commands.stdin.write(json.dumps(["convert", str(source), str(target)]) + "\n")
    commands.stdin.flush()
    done = json.loads(commands.stdout.readline())
    return None if done["code"] == 0 else done["stderr"].strip()


def stripped(model):
    """What both sides agree to be one model: onnx.parser sets fields that are empty, and packs no lists."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for graph in graphs_of(copy):
        for node in graph.node:
            for field in ("domain", "overload", "name"):
                if getattr(node, field) == "":
                    node.ClearField(field)
            for attribute in node.attribute:
                if attribute.HasField("t") and attribute.t.name == "":
                    attribute.t.ClearField("name")
    return copy


def graphs_of(model):
    pending = [model.graph, *model.functions]
    while pending:
        graph = pending.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                pending.extend([attribute.g] if attribute.HasField("g") else [])
                pending.extend(attribute.graphs)


problems = {"ours there": [], "theirs here": [], "theirs there": []}
models = sorted(folder.rglob("model.onnx"))
for path in models:
    ours = work / "ours.onnxtxt"
    failed = convert(path, ours)
    try:
        if failed:
            raise ValueError(failed)
        onnx.parser.parse_model(ours.read_text(errors="surrogateescape"))
    except Exception as error:  # noqa: BLE001
        problems["ours there"].append((path, str(error)))
    theirs = work / "theirs.onnxtxt"
    text = onnx.printer.to_text(onnx.load(path))
    theirs.write_text(text, errors="surrogateescape")
    try:
        expected = onnx.parser.parse_model(text)
    except Exception:  # noqa: BLE001
        problems["theirs there"].append((path, "onnx does not parse what it prints"))
        expected = None
    back = work / "back.onnx"
    failed = convert(theirs, back)
    if failed:
        problems["theirs here"].append((path, failed))
    elif expected is not None and stripped(expected) != stripped(onnx.load(back)):
        problems["theirs here"].append((path, "another model than onnx parses"))

commands.stdin.close()
for what, found in problems.items():
    print(f"{what}: {len(models) - len(found)} of {len(models)}")
    for path, why in found:
        print(f"  {path.parent.name}: {why[:300]}")
sys.exit(1 if problems["ours there"] or problems["theirs here"] else 0)
