// What the benches of whole models share: the options, and the systems.
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { importFile, node, web } from '../peers.mjs'
import { openvino } from './openvino.mjs'

/** Options that all of them have. */
export const OPTIONS = {
  models: { type: 'string', default: '.' },
  threads: { type: 'string', default: '1' },
  peers: { type: 'string', default: 'web,node' },
  of: { type: 'string', default: 'perf' },
  filled: { type: 'string' },
  data: { type: 'string', default: fileURLToPath(new URL('../../../shared/data', import.meta.url)) },
  dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) }
}

/** Nodewise: `Tensor`, and `open` a file. */
async function own({ dist, threads, precision }) {
  const { InferenceSession, Tensor } = await importFile(resolve(dist, 'node/index.mjs'))
  return { Tensor, open: path => InferenceSession.create(path, { threads: Number(threads), precision }) }
}

/** What makes a system, by its name, of the options of the command line. */
export const SYSTEMS = {
  nodewise: own,
  web: ({ threads }) => web(Number(threads)),
  node: ({ threads }) => node(Number(threads)),
  openvino: ({ threads }) => openvino(Number(threads))
}

/**
 * Ways to run a model: `open` a file, `run` what it gives, and for some `close` in the end.
 * @param {{dist: string, threads: string, precision?: string, ir?: boolean, peers: string}} options of the command line
 */
export async function systemsOf(options) {
  const nodewise = await own(options)
  const systems = { nodewise }
  if (options.ir)
    systems.ir = { ...nodewise, open: path => nodewise.open(path.replace(/\.onnx$/, '.ir.xml')), suffix: '.ir.xml' }
  for (const peer of options.peers.split(',')) if (peer !== '') systems[peer] = await SYSTEMS[peer](options)
  return systems
}

/**
 * Lets go of what earlier models have left: to free a gigabyte takes 100 ms, which would count as the start of the next
 * system. V8 collects when it hears of much memory outside its heap, which nobody touches here.
 */
function collectGarbage() {
  for (let i = 0; i < 3; i++) new ArrayBuffer(2 ** 26)
}

/**
 * Waits until no thread of the process has had work for 0.1 s, 10 s at most: the next system would have one core less.
 * Threads of V8 free memory, and optimize WebAssembly: a function of onnxruntime-web with a body of 490 KB takes 1.2 s.
 */
async function untilIdle() {
  for (let i = 0; i < 100; i++) {
    const before = process.cpuUsage()
    await setTimeout(100)
    const { user, system } = process.cpuUsage(before)
    if (user + system < 5000) return
  }
}

/** Opens a model in one system and runs it once. */
export async function start({ Tensor, open }, path, inputs) {
  collectGarbage()
  await untilIdle()
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)])
  )
  const begin = performance.now()
  const session = await open(path)
  const opened = performance.now()
  const output = Object.values(await session.run(feeds))[0].data
  return { session, feeds, output, create: opened - begin, first: performance.now() - opened, times: [] }
}
