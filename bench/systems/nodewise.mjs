// Nodewise, the built package of this repository. Outputs: `heap`, all tensors of the caller's are from
// session.allocate; `array`, inputs
// and output are the caller's arrays; `fresh`, the runtime makes the output; `freed`, it does, and each is given back
// before the next run.
import { answer, arrayFor, job, measure, read } from './measure.mjs'

const { InferenceSession, Tensor } = await import(new URL('../../dist/node/index.mjs', import.meta.url).href)
const { model, inputs, output, threads, ...options } = job()

const session = await InferenceSession.create(model, { threads })
const { name, type, dims } = output
const tensors = Object.fromEntries(inputs.map(input => [input.name, new Tensor(input.type, read(input), input.dims)]))
const into = (feeds, target) => measure(async () => (await session.run(feeds, { [name]: target }))[name].data, options)

const cells = {}
// Heap memory, preallocated outputs and threads came together; before, there are fresh outputs of one thread.
const canAllocate = typeof session.allocate === 'function'
if (canAllocate && type !== 'string') {
  const allocated = {}
  for (const input of inputs) {
    const tensor = (allocated[input.name] = await session.allocate(input.type, input.dims))
    tensor.data.set(tensors[input.name].data)
  }
  cells.heap = await into(allocated, await session.allocate(type, dims))
  cells.array = await into(tensors, new Tensor(type, arrayFor(output), dims))
}
if (canAllocate && type !== 'string') {
  let last
  cells.freed = await measure(async () => {
    if (last) session.free(last)
    last = (await session.run(tensors))[name]
    return last.data
  }, options)
}
if (canAllocate || threads === 1)
  cells.fresh = await measure(async () => (await session.run(tensors))[name].data, options)
answer(cells)
