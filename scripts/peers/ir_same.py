"""Says whether OpenVINO reads the same models from two folders of IR files.

    python scripts/peers/ir_same.py <folder> <folder that `nodewise convert` wrote>

Each .xml of the second folder is compared with that of the same path in the first: OpenVINO reads both, writes both,
and the two must be equal, .xml and .bin, but for the numbers in names that OpenVINO makes up. A file that OpenVINO does
not read must fail in the same way. Needs `pip install openvino`.
"""

import re
import sys
import tempfile
from pathlib import Path

import openvino

MADE_UP_NAME = re.compile(r'name="([A-Za-z]+)_\d+"')


def written_again(core, path, folder):
    xml, weights = Path(folder, "model.xml"), Path(folder, "model.bin")
    try:
        openvino.serialize(core.read_model(path), xml, weights)
    except RuntimeError as error:
        lines = [line for line in str(error).splitlines() if line]
        return "error", re.sub(r"\S*\.(xml|bin)|_\d+", "", lines[-1])
    return MADE_UP_NAME.sub(r'name="\1"', xml.read_text()), weights.read_bytes()


def main(before, after):
    core = openvino.Core()
    equal = unreadable = 0
    files = sorted(Path(after).rglob("*.xml"))
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            name = path.relative_to(after)
            first, second = (written_again(core, Path(root, name), folder) for root in (before, after))
            if first == second:
                equal += 1
                unreadable += first[0] == "error"
            else:
                print("differs:", name)
    print(f"{equal} of {len(files)} are equal, {unreadable} of these are not read")
    return 0 if equal == len(files) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
