// Whole models at real size: Nodewise beside onnxruntime-web and onnxruntime-node, all alive in one process and asked
// in turn. The skeletons are read from ../shared/data/perf and filled into a folder, 2.7 GB for all.
//
//   node models/run.mjs [--models REGEX] [--threads N] [--seconds N] [--peers web,node] [--ir] [--filled FOLDER]
//                       [--precision fast|exact] [--dist FOLDER] [--json FILE]
//
// Prints, for each model and case: milliseconds of the fastest and the median run, create and first run, the ratio of
// the fastest runs, and the largest difference from onnxruntime-node as a share of its largest output.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: '.' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '2' },
    peers: { type: 'string', default: 'web,node' },
    ir: { type: 'boolean', default: false },
    filled: { type: 'string' },
    data: { type: 'string', default: fileURLToPath(new URL('../../../shared/data/perf', import.meta.url)) },
    precision: { type: 'string', default: 'fast' },
    dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
    json: { type: 'string' }
  }
})
const threads = Number(options.threads)
const require = createRequire(import.meta.url)
const importFile = path => import(pathToFileURL(path).href)
const { casesOf, fillModel, namesOf, specOf } = await importFile(join(options.data, 'fill.mjs'))

/** A way to run a model: `open` a file, `run` what it gives. */
async function systemsOf() {
  const { InferenceSession, Tensor } = await importFile(resolve(options.dist, 'node/index.mjs'))
  const own = { Tensor, open: path => InferenceSession.create(path, { threads, precision: options.precision }) }
  const systems = { nodewise: own }
  if (options.ir) systems.ir = { ...own, open: path => own.open(path.replace(/\.onnx$/, '.ir.xml')), suffix: '.ir.xml' }
  const peers = options.peers.split(',')
  if (peers.includes('web')) systems.web = await web()
  if (peers.includes('node')) systems.node = node()
  return systems
}

async function web() {
  const ort = await importFile(require.resolve('onnxruntime-web'))
  ort.env.wasm.numThreads = threads
  ort.env.logLevel = 'error'
  return {
    Tensor: ort.Tensor,
    open: path => {
      const weights = path.replace(/\.onnx$/, '.bin')
      const externalData = existsSync(weights)
        ? [{ path: weights.slice(weights.lastIndexOf('/') + 1), data: readFileSync(weights) }]
        : []
      return ort.InferenceSession.create(readFileSync(path), { executionProviders: ['wasm'], externalData })
    }
  }
}

function node() {
  const ort = require('onnxruntime-node')
  const settings = { intraOpNumThreads: threads, interOpNumThreads: 1 }
  return { Tensor: ort.Tensor, open: path => ort.InferenceSession.create(path, settings) }
}

/** Opens a model in one system and runs it once. */
async function start({ Tensor, open }, path, inputs) {
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, { type, data, dims }]) => [name, new Tensor(type, data, dims)])
  )
  const begin = performance.now()
  const session = await open(path)
  const opened = performance.now()
  const output = Object.values(await session.run(feeds))[0].data
  return { session, feeds, output, create: opened - begin, first: performance.now() - opened, times: [] }
}

/** Runs all systems in turn, so that what else the machine does meets all of them. */
async function sample(started) {
  const list = Object.values(started)
  const end = performance.now() + Number(options.seconds) * 1000 * list.length
  for (let round = 0; round < 3 || performance.now() < end; round++) {
    for (const { session, feeds, times } of list) {
      const begin = performance.now()
      await session.run(feeds)
      times.push(performance.now() - begin)
    }
  }
}

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]

/** Largest difference as a share of the largest magnitude. */
function differenceOf(output, reference) {
  let worst = 0
  let largest = 0
  for (let i = 0; i < reference.length; i++) {
    worst = Math.max(worst, Math.abs(Number(output[i]) - Number(reference[i])))
    largest = Math.max(largest, Math.abs(Number(reference[i])))
  }
  return worst / largest
}

async function measure(name, label, inputs, folder, systems) {
  const path = join(folder, `${name}.onnx`)
  const started = {}
  for (const [system, way] of Object.entries(systems)) {
    if (way.suffix && !existsSync(join(folder, `${name}${way.suffix}`))) continue
    try {
      started[system] = await start(way, path, inputs)
    } catch (error) {
      console.error(`${name} in ${system}: ${error.message}`)
    }
  }
  await sample(started)
  const row = { model: name, case: label }
  const reference = (started.node ?? started.web)?.output
  for (const [system, { session, create, first, times, output }] of Object.entries(started)) {
    row[system] = { minimum: Math.min(...times), median: median(times), create, first }
    if (reference) row[system].difference = differenceOf(output, reference)
    await session.release?.()
  }
  return row
}

function print(row) {
  const cells = [`${row.model} ${row.case}`.padEnd(28)]
  for (const system of ['nodewise', 'ir', 'web', 'node']) {
    const cell = row[system]
    if (cell === undefined) continue
    const [minimum, middle, create, first] = [cell.minimum, cell.median, cell.create, cell.first].map(t => t.toFixed(1))
    cells.push(`${system} ${minimum} (${middle}; ${create} + ${first})`)
  }
  for (const peer of ['web', 'node'])
    if (row[peer] && row.nodewise) cells.push(`/${peer} ${(row.nodewise.minimum / row[peer].minimum).toFixed(2)}`)
  if (row.ir && row.nodewise) cells.push(`ir/onnx ${(row.ir.minimum / row.nodewise.minimum).toFixed(2)}`)
  if (row.nodewise?.difference !== undefined) cells.push(`error ${row.nodewise.difference.toExponential(1)}`)
  console.log(cells.join('  '))
}

function printMeans(rows) {
  for (const peer of ['web', 'node']) {
    const ratios = rows.filter(row => row[peer] && row.nodewise).map(row => row.nodewise.minimum / row[peer].minimum)
    if (ratios.length === 0) continue
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
    console.log(`of ${peer}: geometric mean ${mean.toFixed(3)}, worst ${Math.max(...ratios).toFixed(2)}`)
  }
}

const folder = options.filled ?? mkdtempSync(join(tmpdir(), 'nodewise-models-'))
try {
  const systems = await systemsOf()
  const rows = []
  for (const name of namesOf().filter(candidate => new RegExp(options.models).test(candidate))) {
    if (!existsSync(join(folder, `${name}.onnx`))) fillModel(folder, name)
    for (const [label, inputs] of Object.entries(casesOf(specOf(name)))) {
      rows.push(await measure(name, label, inputs, folder, systems))
      print(rows.at(-1))
    }
  }
  printMeans(rows)
  if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 2))
} finally {
  if (options.filled === undefined) rmSync(folder, { recursive: true, force: true })
}
