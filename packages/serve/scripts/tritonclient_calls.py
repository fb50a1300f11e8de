"""Every call of tritonclient that the protocol has, over HTTP and gRPC, against `nodewise serve`.

    python packages/serve/scripts/tritonclient_calls.py [command of nodewise ...]    needs tritonclient[all]

Answers are held against `nodewise run`. What Triton has beside the protocol (shared memory, traces, settings of its
log) is refused in words.
"""

import asyncio
import queue

import numpy as np
import tritonclient.grpc as over_grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as over_http
import tritonclient.http.aio as http_aio
from served import GRPC, HTTP, TYPES, Checks, plain, run, sample, served_models
from tritonclient.utils import InferenceServerException

check = Checks()
X = np.arange(6, dtype=np.float32).reshape(2, 3)
FEEDS = {
    "twice": {"x": X},
    "table": {"i": np.array([2, 0, -1]), "t": np.arange(12, dtype=np.float32).reshape(3, 4) / 7},
    "types": {f"x_{kind}": sample(kind) for kind in TYPES},
}


def inputs_of(client, model, feeds=None, **how):
    """Inputs as one of the clients has them."""
    made = []
    for name, array in (feeds or FEEDS[model]).items():
        datatype = TYPES.get(name[2:]) or ("INT64" if array.dtype.kind == "i" else "FP32")
        one = client.InferInput(name, list(array.shape), datatype)
        one.set_data_from_numpy(array, **how)
        made.append(one)
    return made


def equal(answer, expected):
    return all(plain(answer.as_numpy(name)) == (dims, data) for name, (dims, data) in expected.items())


def same_calls(name, module, client, expected):
    """What both clients have."""
    check(f"{name}: live", client.is_server_live() and client.is_server_ready())
    check(f"{name}: model ready", client.is_model_ready("twice") and client.is_model_ready("twice", "1"))
    as_json = {} if module is over_http else {"as_json": True}
    check(f"{name}: server", client.get_server_metadata(**as_json)["name"] == "nodewise")
    metadata = client.get_model_metadata("table", **as_json)
    check(f"{name}: metadata", [one["name"] for one in metadata["inputs"]] == ["i", "t"])
    config = client.get_model_config("twice", **as_json)
    check(f"{name}: config", config.get("config", config)["name"] == "twice")
    index = client.get_model_repository_index(**as_json)
    listed = index if isinstance(index, list) else index["models"]
    check(f"{name}: index", {one["name"] for one in listed} >= set(expected))
    client.unload_model("half")
    check(f"{name}: unloaded", not ready(client, "half"))
    client.load_model("half")
    check(f"{name}: loaded", ready(client, "half"))
    for model, outputs in expected.items():
        answer = client.infer(model, inputs_of(module, model), request_id="7", timeout=10_000_000)
        check(f"{name}: {model} as nodewise run", equal(answer, outputs))
        check(f"{name}: {model} by its id", id_of(answer) == "7")
    asked = [module.InferRequestedOutput("y", class_count=2)]
    classes = client.infer("twice", inputs_of(module, "twice"), model_version="1", outputs=asked)
    check(f"{name}: classes", plain(classes.as_numpy("y")) == ([2, 2], ["4:2", "2:1", "10:2", "8:1"]))
    statistics = client.get_inference_statistics("twice", **as_json)
    check(f"{name}: statistics", int(statistics["model_stats"][0]["inference_count"]) > 0)
    refusals(name, module, client)


def ready(client, model):
    try:
        return client.is_model_ready(model)
    except InferenceServerException:
        return False


def id_of(answer):
    response = answer.get_response()
    return response["id"] if isinstance(response, dict) else response.id


def refusals(name, module, client):
    """Errors in words."""
    # The protocol's gRPC form says what a server lacks by a status.
    no_memory = "shared memory" if module is over_http else "UNIMPLEMENTED"
    wrong = {"x": X.astype(np.float32)[:, :2]}
    for what, call, text in (
        ("a model that is not there", lambda: client.infer("none", inputs_of(module, "twice")), "no model"),
        ("a missing input", lambda: client.infer("twice", []), "missing"),
        ("dims that do not fit", lambda: client.infer("twice", inputs_of(module, "twice", wrong)), "x"),
        ("a version that is not there", lambda: client.get_model_metadata("twice", "9"), "version"),
        ("shared memory", lambda: client.register_system_shared_memory("a", "/a", 8), no_memory),
        ("a model that cannot be loaded", lambda: client.load_model("none"), "no model"),
    ):
        check.raises(f"{name}: {what}", InferenceServerException, call, text)


def http_calls(client, expected):
    """What HTTP has alone: JSON, compression."""
    check("no shared memory", client.get_system_shared_memory_status() == [])
    check("no shared memory of GPUs", client.get_cuda_shared_memory_status() == [])
    for model in ("twice", "table"):
        feeds = inputs_of(over_http, model, binary_data=False)
        asked = [over_http.InferRequestedOutput("y", binary_data=False)]
        check(f"JSON: {model}", equal(client.infer(model, feeds, outputs=asked), expected[model]))
    strings = {name: array for name, array in FEEDS["types"].items() if name != "x_float16"}
    feeds = inputs_of(over_http, "types", strings, binary_data=False)
    feeds += inputs_of(over_http, "types", {"x_float16": FEEDS["types"]["x_float16"]})
    names = [name for name in expected["types"] if name != "y_float16"]
    asked = [over_http.InferRequestedOutput(name, binary_data=False) for name in names]
    answer = client.infer("types", feeds, outputs=asked)
    check("JSON: all types", equal(answer, {name: expected["types"][name] for name in names}))
    for coding in ("gzip", "deflate"):
        how = {"request_compression_algorithm": coding, "response_compression_algorithm": coding}
        check(coding, equal(client.infer("types", inputs_of(over_http, "types"), **how), expected["types"]))
    many = [client.async_infer("table", inputs_of(over_http, "table")) for _ in range(20)]
    check("20 at once", all(equal(one.get_result(), expected["table"]) for one in many))


def grpc_calls(client, expected):
    """What gRPC has alone: callbacks, streams, compression."""
    for coding in ("gzip", "deflate"):
        answer = client.infer("types", inputs_of(over_grpc, "types"), compression_algorithm=coding)
        check(f"gRPC: {coding}", equal(answer, expected["types"]))
    answers = queue.Queue()

    def heard(result, error):
        answers.put((result, error))

    for _ in range(20):
        client.async_infer("table", inputs_of(over_grpc, "table"), callback=heard)
    check("gRPC: 20 at once", all(equal(answers.get(timeout=30)[0], expected["table"]) for _ in range(20)))
    client.start_stream(heard)
    for number in range(5):
        client.async_stream_infer("twice", inputs_of(over_grpc, "twice"), request_id=str(number))
    client.async_stream_infer("none", inputs_of(over_grpc, "twice"))
    got = [answers.get(timeout=30) for _ in range(6)]
    client.stop_stream()
    check("gRPC: a stream", [result.get_response().id for result, _ in got[:5]] == list("01234"))
    check("gRPC: a stream's answers", all(equal(result, expected["twice"]) for result, _ in got[:5]))
    check("gRPC: a stream's error", "no model" in str(got[5][1]))


async def asyncio_calls(expected):
    """The clients of asyncio."""
    for name, module, kind, port in (("http", over_http, http_aio, HTTP), ("grpc", over_grpc, grpc_aio, GRPC)):
        async with kind.InferenceServerClient(f"127.0.0.1:{port}") as client:
            check(f"aio {name}: live", await client.is_server_live() and await client.is_model_ready("twice"))
            await client.unload_model("half")
            await client.load_model("half")
            check(f"aio {name}: loaded", await client.is_model_ready("half"))
            check(f"aio {name}: metadata", await client.get_model_metadata("twice") is not None)
            check(f"aio {name}: statistics", await client.get_inference_statistics() is not None)
            many = [client.infer("types", inputs_of(module, "types")) for _ in range(50)]
            answers = await asyncio.gather(*many)
            check(f"aio {name}: 50 at once", all(equal(answer, expected["types"]) for answer in answers))
            if kind is grpc_aio:
                check("aio grpc: a stream", await streamed(client) == list("0123"))


async def streamed(client):
    async def requests():
        for number in range(4):
            yield {"model_name": "twice", "inputs": inputs_of(over_grpc, "twice"), "request_id": str(number)}

    return [result.get_response().id async for result, _ in client.stream_infer(requests())]


with served_models() as folder:
    expected = {model: run(folder, model, feeds) for model, feeds in FEEDS.items()}
    with over_http.InferenceServerClient(f"127.0.0.1:{HTTP}", concurrency=8) as client:
        same_calls("HTTP", over_http, client, expected)
        http_calls(client, expected)
    with over_grpc.InferenceServerClient(f"127.0.0.1:{GRPC}") as client:
        same_calls("gRPC", over_grpc, client, expected)
        grpc_calls(client, expected)
    asyncio.run(asyncio_calls(expected))
check.end()
