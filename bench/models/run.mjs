// Whole models at real size: Nodewise beside onnxruntime-web and onnxruntime-node, all alive in one process and asked
// in turn. The skeletons are read from ../shared/data/perf and filled into a folder, 2.7 GB for all.
//
//   node models/run.mjs [--models REGEX] [--threads N] [--seconds N] [--peers web,node] [--ir] [--filled FOLDER]
//                       [--precision fast|exact] [--dist FOLDER] [--json FILE]
//
// Prints, for each model and case: milliseconds of the fastest and the median run, create and first run, the ratio of
// the fastest runs, and the largest difference from onnxruntime-node as a share of its largest output.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { differenceOf, importFile, inTurn, node, web } from '../peers.mjs'

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
const { casesOf, fillModel, namesOf, specOf } = await importFile(join(options.data, 'fill.mjs'))

/** A way to run a model: `open` a file, `run` what it gives. */
async function systemsOf() {
  const { InferenceSession, Tensor } = await importFile(resolve(options.dist, 'node/index.mjs'))
  const own = { Tensor, open: path => InferenceSession.create(path, { threads, precision: options.precision }) }
  const systems = { nodewise: own }
  if (options.ir) systems.ir = { ...own, open: path => own.open(path.replace(/\.onnx$/, '.ir.xml')), suffix: '.ir.xml' }
  const peers = options.peers.split(',')
  if (peers.includes('web')) systems.web = await web(threads)
  if (peers.includes('node')) systems.node = node(threads)
  return systems
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

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]

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
  const length = { seconds: Number(options.seconds), rounds: 3, threads }
  await inTurn(Object.values(started), length, ({ times }, milliseconds) => times.push(milliseconds))
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
