// What the benches of whole models share: the systems, and the models of ../shared/data/perf, filled into a folder.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { importFile, node, web } from '../peers.mjs'

/** Options that all of them have. */
export const OPTIONS = {
  models: { type: 'string', default: '.' },
  threads: { type: 'string', default: '1' },
  peers: { type: 'string', default: 'web,node' },
  filled: { type: 'string' },
  data: { type: 'string', default: fileURLToPath(new URL('../../../shared/data/perf', import.meta.url)) },
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
  node: ({ threads }) => node(Number(threads))
}

/**
 * Ways to run a model: `open` a file, `run` what it gives.
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
async function collectGarbage() {
  for (let i = 0; i < 3; i++) new ArrayBuffer(2 ** 26)
  await setTimeout(100)
}

/** Opens a model in one system and runs it once. */
export async function start({ Tensor, open }, path, inputs) {
  await collectGarbage()
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)])
  )
  const begin = performance.now()
  const session = await open(path)
  const opened = performance.now()
  const output = Object.values(await session.run(feeds))[0].data
  return { session, feeds, output, create: opened - begin, first: performance.now() - opened, times: [] }
}

/**
 * Calls `use(name, label, inputs, folder)` for each case of each model, which lies in `filled` or in a folder that goes
 * afterwards.
 * @param {{data: string, filled?: string, models: string}} options of the command line
 */
export async function eachCase({ data, filled, models }, use) {
  const { casesOf, fillModel, namesOf, specOf } = await importFile(join(data, 'fill.mjs'))
  const folder = filled ?? mkdtempSync(join(tmpdir(), 'nodewise-models-'))
  try {
    for (const name of namesOf().filter(candidate => new RegExp(models).test(candidate))) {
      if (!existsSync(join(folder, `${name}.onnx`))) fillModel(folder, name)
      for (const [label, inputs] of Object.entries(casesOf(specOf(name)))) await use(name, label, inputs, folder)
    }
  } finally {
    if (filled === undefined) rmSync(folder, { recursive: true, force: true })
  }
}
