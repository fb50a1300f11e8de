"""Asks a running `nodewise serve` with Triton's own clients, and compares with `nodewise run`.

    node bin/nodewise.js serve models/palette.onnx --http-port 8000 --grpc-port 8001 &
    python scripts/peers/serve.py palette models/palette.onnx [REST address] [gRPC address]

Every call that the clients have for what the protocol has is made: REST with JSON and with binary tensors, gRPC, both
also by their asynchronous forms, streams, shared errors. Needs tritonclient[all]; NODEWISE names the command.
"""

import asyncio
import json
import os
import queue
import subprocess
import sys

import numpy as np
import tritonclient.grpc as grpcclient
import tritonclient.grpc.aio as grpcaio
import tritonclient.http as httpclient
import tritonclient.http.aio as httpaio
from tritonclient.utils import InferenceServerException, np_to_triton_dtype, triton_to_np_dtype

NAME, MODEL = sys.argv[1:3]
HTTP = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1:8000"
GRPC = sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1:8001"
COMMAND = os.environ.get("NODEWISE", "node bin/nodewise.js").split()

calls = 0


def check(what, holds):
    global calls
    calls += 1
    if not holds:
        raise SystemExit(f"FAILS: {what}")


def feeds_for(metadata):
    """Small inputs for every input of the model: zeros, or for strings their own names."""
    feeds = {}
    for port in metadata["inputs"]:
        dims = [2 if dim < 0 else dim for dim in port["shape"]]
        kind = triton_to_np_dtype(port["datatype"])
        if kind == np.object_:
            feeds[port["name"]] = np.full(dims, "grün".encode(), dtype=np.object_)
        else:
            feeds[port["name"]] = np.zeros(dims, dtype=kind)
    return feeds


def expected(feeds):
    """What `nodewise run` answers."""
    values = []
    for name, array in feeds.items():
        flat = [item.decode() if isinstance(item, bytes) else item.item() for item in array.ravel()]
        kind = {"object": "string"}.get(array.dtype.name, array.dtype.name)
        literal = {"type": kind, "dims": list(array.shape), "data": flat}
        values += ["-i", f"{name}={json.dumps(literal)}"]
    done = subprocess.run([*COMMAND, "run", MODEL, *values, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return {one["name"]: one for one in json.loads(done.stdout)["outputs"]}


def same(result, wanted):
    for name, one in wanted.items():
        got = result.as_numpy(name)
        if list(got.shape) != one["dims"]:
            return False
        flat = [item.decode() if isinstance(item, bytes) else item for item in got.ravel().tolist()]
        if one["type"].startswith("float"):
            data = np.array([float(x) for x in one["data"]])
            if not np.allclose(np.array(flat, dtype=np.float64), data, rtol=1e-3, atol=1e-5, equal_nan=True):
                return False
        elif flat != one["data"]:
            return False
    return True


def inputs_of(client, feeds, **how):
    inputs = []
    for name, array in feeds.items():
        one = client.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
        one.set_data_from_numpy(array, **how)
        inputs.append(one)
    return inputs


def fails(call, *words):
    try:
        call()
    except InferenceServerException as error:
        return all(word in str(error) for word in words)
    return False


def rest(feeds, wanted):
    client = httpclient.InferenceServerClient(HTTP, concurrency=4)
    check("live", client.is_server_live())
    check("ready", client.is_server_ready())
    check("model ready", client.is_model_ready(NAME) and client.is_model_ready(NAME, "1"))
    check("server metadata", client.get_server_metadata()["name"] == "nodewise")
    check("model metadata", client.get_model_metadata(NAME)["name"] == NAME)
    check("model metadata by version", client.get_model_metadata(NAME, "1")["versions"] == ["1"])
    check("config", client.get_model_config(NAME)["name"] == NAME)
    check("index", any(one["name"] == NAME for one in client.get_model_repository_index()))
    outputs = lambda binary: [httpclient.InferRequestedOutput(name, binary_data=binary) for name in wanted]
    for binary_in in (True, False):
        for binary_out in (True, False):
            inputs = inputs_of(httpclient, feeds, binary_data=binary_in)
            result = client.infer(NAME, inputs, outputs=outputs(binary_out), request_id="7")
            check(f"infer, binary in {binary_in}, binary out {binary_out}", same(result, wanted))
            check("the id comes back", result.get_response()["id"] == "7")
    inputs = inputs_of(httpclient, feeds, binary_data=True)
    check("all outputs", same(client.infer(NAME, inputs), wanted))
    check("by version", same(client.infer(NAME, inputs, model_version="1"), wanted))
    for coding in ("gzip", "deflate"):
        result = client.infer(
            NAME, inputs, request_compression_algorithm=coding, response_compression_algorithm=coding
        )
        check(coding, same(result, wanted))
    handles = [client.async_infer(NAME, inputs) for _ in range(16)]
    check("async", all(same(handle.get_result(), wanted) for handle in handles))
    check("timeout", same(client.infer(NAME, inputs, timeout=10_000_000), wanted))
    body, length = httpclient.InferenceServerClient.generate_request_body(inputs)
    check("offline body", len(body) >= (length or 0))
    check("unknown model", fails(lambda: client.infer("absent", inputs), "absent"))
    check("unknown version", fails(lambda: client.infer(NAME, inputs, model_version="99"), "99"))
    check("missing input", fails(lambda: client.infer(NAME, []), "missing"))
    absent = httpclient.InferRequestedOutput("absent")
    check("unknown output", fails(lambda: client.infer(NAME, inputs, outputs=[absent]), "absent"))
    stats = client.get_inference_statistics(NAME)["model_stats"][0]
    check("statistics", stats["inference_count"] > 0 and stats["inference_stats"]["success"]["count"] > 0)
    check("all statistics", len(client.get_inference_statistics()["model_stats"]) > 0)
    check("no shared memory", client.get_system_shared_memory_status() == [])
    client.unregister_system_shared_memory()
    client.unload_model(NAME)
    check("unloaded", not client.is_model_ready(NAME))
    client.load_model(NAME)
    check("loaded again", client.is_model_ready(NAME) and same(client.infer(NAME, inputs), wanted))
    client.close()


def grpc(feeds, wanted):
    client = grpcclient.InferenceServerClient(GRPC)
    check("live", client.is_server_live())
    check("ready", client.is_server_ready())
    check("model ready", client.is_model_ready(NAME) and client.is_model_ready(NAME, "1"))
    check("server metadata", client.get_server_metadata().name == "nodewise")
    check("model metadata", client.get_model_metadata(NAME, as_json=True)["name"] == NAME)
    check("config", client.get_model_config(NAME).config.name == NAME)
    check("index", any(one.name == NAME and one.state == "READY" for one in client.get_model_repository_index().models))
    inputs = inputs_of(grpcclient, feeds)
    outputs = [grpcclient.InferRequestedOutput(name) for name in wanted]
    result = client.infer(NAME, inputs, outputs=outputs, request_id="8", client_timeout=10)
    check("infer", same(result, wanted) and result.get_response().id == "8")
    for coding in ("gzip", "deflate"):
        check(coding, same(client.infer(NAME, inputs, compression_algorithm=coding), wanted))
    answers = queue.Queue()
    for _ in range(16):
        client.async_infer(NAME, inputs, lambda result, error: answers.put((result, error)))
    for _ in range(16):
        result, error = answers.get(timeout=20)
        check("async", error is None and same(result, wanted))
    client.start_stream(lambda result, error: answers.put((result, error)))
    for i in range(16):
        client.async_stream_infer(NAME, inputs, request_id=str(i))
    client.async_stream_infer("absent", inputs)
    for i in range(16):
        result, error = answers.get(timeout=20)
        check("stream, in order", error is None and same(result, wanted) and result.get_response().id == str(i))
    result, error = answers.get(timeout=20)
    check("stream, an error", error is not None and "absent" in str(error))
    client.stop_stream()
    check("unknown model", fails(lambda: client.infer("absent", inputs), "NOT_FOUND", "absent"))
    check("missing input", fails(lambda: client.infer(NAME, []), "INVALID_ARGUMENT"))
    check("deadline", fails(lambda: client.infer(NAME, inputs, client_timeout=1e-5), "Deadline"))
    check("statistics", client.get_inference_statistics(NAME).model_stats[0].inference_count > 0)
    check("all statistics", len(client.get_inference_statistics().model_stats) > 0)
    client.unload_model(NAME)
    check("unloaded", fails(lambda: client.infer(NAME, inputs), "NOT_FOUND"))
    client.load_model(NAME)
    check("loaded again", same(client.infer(NAME, inputs), wanted))
    client.close()


async def asynchronous(feeds, wanted):
    async with httpaio.InferenceServerClient(HTTP) as client:
        check("aio REST live", await client.is_server_live())
        requests = (inputs_of(httpclient, feeds, binary_data=True) for _ in range(32))
        results = await asyncio.gather(*(client.infer(NAME, inputs) for inputs in requests))
        check("aio REST", all(same(result, wanted) for result in results))
    async with grpcaio.InferenceServerClient(GRPC) as client:
        check("aio gRPC live", await client.is_server_live())
        results = await asyncio.gather(*(client.infer(NAME, inputs_of(grpcclient, feeds)) for _ in range(32)))
        check("aio gRPC", all(same(result, wanted) for result in results))

        async def requests():
            for i in range(4):
                yield {"model_name": NAME, "inputs": inputs_of(grpcclient, feeds), "request_id": str(i)}

        async for result, error in client.stream_infer(requests()):
            check("aio stream", error is None and same(result, wanted))


def main():
    metadata = httpclient.InferenceServerClient(HTTP).get_model_metadata(NAME)
    feeds = feeds_for(metadata)
    wanted = expected(feeds)
    rest(feeds, wanted)
    grpc(feeds, wanted)
    asyncio.run(asynchronous(feeds, wanted))
    print(f"{NAME}: {calls} answers as expected")


main()
