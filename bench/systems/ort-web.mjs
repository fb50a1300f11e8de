// ONNX Runtime's WebAssembly build. Its outputs are always fresh: an array given for one is returned unfilled.
import { readFileSync } from 'node:fs'
import { env, InferenceSession, Tensor } from 'onnxruntime-web'
import { answer, job, measure, read } from './measure.mjs'

const { model, inputs, output, threads, ...options } = job()
env.wasm.numThreads = threads
const session = await InferenceSession.create(readFileSync(model), { executionProviders: ['wasm'] })
const feeds = Object.fromEntries(inputs.map(input => [input.name, new Tensor(input.type, read(input), input.dims)]))
answer({ fresh: await measure(async () => (await session.run(feeds))[output.name].data, options) })
