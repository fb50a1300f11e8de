// ONNX Runtime's native package for Node, CPU provider.
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { answer, arrayFor, job, measure, read } from './measure.mjs'

const { model, inputs, output, threads, ...options } = job()
const session = await InferenceSession.create(model, {
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  executionMode: 'sequential'
})
const { name, type, dims } = output
const feeds = Object.fromEntries(inputs.map(input => [input.name, new Tensor(input.type, read(input), input.dims)]))

const cells = { fresh: await measure(async () => (await session.run(feeds))[name].data, options) }
// An output of strings is always fresh: one that is given stays empty.
if (type !== 'string') {
  const fetches = { [name]: new Tensor(type, arrayFor(output), dims) }
  cells.array = await measure(async () => {
    await session.run(feeds, fetches)
    return fetches[name].data
  }, options)
}
answer(cells)
