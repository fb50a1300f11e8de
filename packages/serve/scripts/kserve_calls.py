"""Every call of KServe's Python client that the protocol has, over REST and gRPC, against `nodewise serve`.

    python packages/serve/scripts/kserve_calls.py [command of nodewise ...]    needs kserve

Answers are held against `nodewise run`.
"""

import asyncio

import numpy as np
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
from kserve.protocol.infer_type import RequestedOutput
from served import GRPC, HTTP, TYPES, Checks, plain, run, sample, served_models

check = Checks()
BASE = f"http://127.0.0.1:{HTTP}"
X = np.arange(6, dtype=np.float32).reshape(2, 3)
FEEDS = {
    "twice": {"x": X},
    "text": {"s": sample("string")},
    "table": {"i": np.array([2, 0, -1]), "t": np.arange(12, dtype=np.float32).reshape(3, 4) / 7},
    "types": {f"x_{kind}": sample(kind) for kind in TYPES},
}


def request_of(model, binary, feeds=None, outputs=None):
    inputs = []
    for name, array in (feeds or FEEDS[model]).items():
        datatype = TYPES.get(name[2:]) or {"i": "INT64", "f": "FP32", "O": "BYTES"}[array.dtype.kind]
        # Its client takes strings as bytes.
        array = np.array([text.encode() for text in array], dtype=object) if datatype == "BYTES" else array
        one = InferInput(name, list(array.shape), datatype)
        one.set_data_from_numpy(array, binary_data=binary)
        inputs.append(one)
    return InferRequest(model_name=model, infer_inputs=inputs, request_outputs=outputs, request_id="7")


def equal(answer, expected):
    got = {one.name: plain(one.as_numpy()) for one in answer.outputs}
    return got == {name: (dims, data) for name, (dims, data) in expected.items()}


async def refused(what, call, text):
    try:
        await call
        check(f"{what} is refused", False)
    except Exception as error:
        check(f"{what}: {error!r}", text in repr(error))


async def over_rest(expected):
    client = InferenceRESTClient(RESTConfig(protocol="v2", retries=1, verify=False))
    check("REST: live", await client.is_server_live(BASE) and await client.is_server_ready(BASE))
    check("REST: model ready", await client.is_model_ready(BASE, "twice"))
    for model, outputs in expected.items():
        # It has no JSON of floats of 16 bits.
        for binary in (True,) if model == "types" else (False, True):
            wanted = [RequestedOutput(name, {"binary_data": binary}) for name in outputs]
            answer = await client.infer(BASE, request_of(model, binary, outputs=wanted), model_name=model)
            check(f"REST: {model} binary {binary}", equal(answer, outputs) and answer.id == "7")
    answer = await client.infer(BASE, request_of("twice", False), model_name="twice")
    check("REST: all outputs", equal(answer, expected["twice"]) and answer.model_name == "twice")
    many = [client.infer(BASE, request_of("table", True), model_name="table") for _ in range(20)]
    check("REST: 20 at once", all(equal(one, expected["table"]) for one in await asyncio.gather(*many)))
    await refused("REST: no model", client.infer(BASE, request_of("twice", True), model_name="none"), "404")
    await refused("REST: dims", client.infer(BASE, request_of("twice", True, {"x": X[:, :2]}), model_name="twice"), "400")
    await client.close()


async def over_grpc(expected):
    client = InferenceGRPCClient(url=f"127.0.0.1:{GRPC}")
    check("gRPC: live", await client.is_server_live() and await client.is_server_ready())
    check("gRPC: model ready", await client.is_model_ready("twice"))
    for model, outputs in expected.items():
        answer = await client.infer(request_of(model, True))
        check(f"gRPC: {model}", equal(answer, outputs) and answer.id == "7")
    typed = InferRequest("twice", [InferInput("x", [2, 3], "FP32", data=X.ravel().tolist())])
    check("gRPC: typed contents", equal(await client.infer(typed), expected["twice"]))
    many = await asyncio.gather(*[client.infer(request_of("table", True)) for _ in range(20)])
    check("gRPC: 20 at once", all(equal(one, expected["table"]) for one in many))
    nameless = InferRequest("none", [InferInput("x", [2, 3], "FP32", data=X.ravel().tolist())])
    await refused("gRPC: no model", client.infer(nameless), "no model")
    await refused("gRPC: dims", client.infer(request_of("twice", True, {"x": X[:, :2]})), "INVALID_ARGUMENT")
    await client.close()


async def main(expected):
    await over_rest(expected)
    await over_grpc(expected)


with served_models() as folder:
    asyncio.run(main({model: run(folder, model, feeds) for model, feeds in FEEDS.items()}))
check.end()
