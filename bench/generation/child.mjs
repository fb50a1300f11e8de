// One system generates with the model of model.mjs: node child.mjs SYSTEM JOB, where the job is
// `{ model, layers, shared, prompt, tokens, threads, how }` as JSON. `how` the caches are held:
// - `grow`: what a run gives is fed to the next one
// - `room`: so, as views of a cache that has room from the start, which the next run extends in place (Nodewise)
import { readFileSync } from 'node:fs'
import { HEAD } from './model.mjs'

const [, , system, text] = process.argv
const { model, layers, shared, prompt, tokens, threads, how } = JSON.parse(text)

const OPEN = {
  async nodewise() {
    const { InferenceSession, Tensor } = await import(new URL('../../dist/node/index.mjs', import.meta.url).href)
    return { Tensor, session: await InferenceSession.create(model, { threads }) }
  },
  async 'ort-node'() {
    const { InferenceSession, Tensor } = await import('onnxruntime-node')
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1 }
    return { Tensor, session: await InferenceSession.create(model, options) }
  },
  async 'ort-web'() {
    const { env, InferenceSession, Tensor } = await import('onnxruntime-web')
    env.wasm.numThreads = threads
    return { Tensor, session: await InferenceSession.create(readFileSync(model), { executionProviders: ['wasm'] }) }
  }
}

/** Most bytes that the process has held, on Linux; of mapped files, too. */
const peakMemory = () => 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? NaN)

const start = performance.now()
const { session, Tensor } = await OPEN[system]()
const opened = performance.now() - start
const room = how === 'room' ? prompt.length + tokens : 0
let caches = Object.fromEntries(
  Array.from({ length: 2 * layers }, (_, i) => [
    `past_key_values.${i >> 1}.${i % 2 === 0 ? 'key' : 'value'}`,
    new Tensor('float32', new Float32Array(shared * room * HEAD), [1, shared, room, HEAD])
  ])
)
let seen = 0

/** Reads tokens behind those before; the most likely one that follows. */
async function read(ids) {
  seen += ids.length
  const feeds = {
    ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
    lengths: new Tensor('int32', Int32Array.of(seen - 1), [1]),
    total: new Tensor('int32', Int32Array.of(seen), []),
    ...caches
  }
  const results = how === 'room' ? await session.run(feeds, { views: true }) : await session.run(feeds)
  caches = Object.fromEntries(
    Object.keys(caches).map(name => [name, results[name.replace('past_key_values', 'present')]])
  )
  const { data, dims } = results.logits
  let best = data.length - dims[2]
  for (let i = best; i < data.length; i++) if (data[i] > data[best]) best = i
  return best - (data.length - dims[2])
}

const times = []
const found = [await read(prompt)]
const first = performance.now() - start - opened
for (let i = 1; i < tokens; i++) {
  const before = performance.now()
  found.push(await read([found.at(-1)]))
  times.push(performance.now() - before)
}
times.sort((a, b) => a - b)
const median = times[times.length >> 1]
console.log(JSON.stringify({ opened, first, median, least: times[0], memory: peakMemory(), found: found.slice(0, 8) }))
process.exit(0)
