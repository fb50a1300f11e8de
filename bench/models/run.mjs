// Whole models: Nodewise beside onnxruntime-web, onnxruntime-node and OpenVINO, all alive and asked in turn.
//
//   node models/run.mjs [--of perf,zoo,examples] [--models REGEX] [--threads N] [--seconds N] [--ir]
//                       [--peers web,node,openvino] [--filled FOLDER] [--precision fast|exact] [--dist FOLDER]
//                       [--data FOLDER] [--json FILE]
//
// `perf`: the skeletons of ../shared/data/perf at real size, filled into a folder, 2.7 GB for all; `zoo`: the small
// models of the zoos there; `examples`: the trained ones that the examples install. OpenVINO is that of the python in
// PYTHON.
//
// Prints, for each model and case: milliseconds of the fastest and the median run, create and first run (the files have
// been read before, so that no system alone finds them in no cache), the ratio of the fastest runs, and the largest
// difference from onnxruntime-node as a share of its largest output.
import { existsSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { differenceOf, inTurn } from '../peers.mjs'
import { eachCase, readFiles } from './cases.mjs'
import { OPTIONS, start, systemsOf } from './systems.mjs'

const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    seconds: { type: 'string', default: '2' },
    ir: { type: 'boolean', default: false },
    precision: { type: 'string', default: 'fast' },
    json: { type: 'string' }
  }
})
const threads = Number(options.threads)

const PEERS = ['web', 'node', 'openvino']
const digits = milliseconds => (milliseconds < 100 ? milliseconds.toPrecision(3) : milliseconds.toFixed(0))
const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]

async function measure(name, label, inputs, path, systems) {
  const started = {}
  readFiles(path)
  for (const [system, way] of Object.entries(systems)) {
    if (way.suffix && !existsSync(path.replace(/\.onnx$/, way.suffix))) continue
    try {
      started[system] = await start(way, path, inputs)
    } catch (error) {
      console.error(`${name} in ${system}: ${error.message}`)
    }
  }
  const length = { seconds: Number(options.seconds), rounds: 3, threads }
  await inTurn(Object.values(started), length, ({ times }, milliseconds) => times.push(milliseconds))
  const row = { model: name, case: label }
  const reference = (started.node ?? started.web ?? started.openvino)?.output
  for (const [system, { session, create, first, times, output }] of Object.entries(started)) {
    row[system] = { minimum: Math.min(...times), median: median(times), create, first }
    if (reference) row[system].difference = differenceOf(output, reference)
    await session.release?.()
  }
  return row
}

function print(row) {
  const cells = [`${row.model} ${row.case}`.padEnd(28)]
  for (const system of ['nodewise', 'ir', ...PEERS]) {
    const cell = row[system]
    if (cell === undefined) continue
    const [minimum, middle, create, first] = [cell.minimum, cell.median, cell.create, cell.first].map(digits)
    cells.push(`${system} ${minimum} (${middle}; ${create} + ${first})`)
  }
  for (const peer of PEERS)
    if (row[peer] && row.nodewise) cells.push(`/${peer} ${(row.nodewise.minimum / row[peer].minimum).toFixed(2)}`)
  if (row.ir && row.nodewise) cells.push(`ir/onnx ${(row.ir.minimum / row.nodewise.minimum).toFixed(2)}`)
  if (row.nodewise?.difference !== undefined) cells.push(`error ${row.nodewise.difference.toExponential(1)}`)
  console.log(cells.join('  '))
}

function printMeans(rows) {
  for (const peer of PEERS) {
    const ratios = rows.filter(row => row[peer] && row.nodewise).map(row => row.nodewise.minimum / row[peer].minimum)
    if (ratios.length === 0) continue
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
    console.log(`of ${peer}: geometric mean ${mean.toFixed(3)}, worst ${Math.max(...ratios).toFixed(2)}`)
  }
}

const systems = await systemsOf(options)
const rows = []
await eachCase(options, async (name, label, inputs, path) => {
  rows.push(await measure(name, label, inputs, path, systems))
  print(rows.at(-1))
})
for (const { close } of Object.values(systems)) close?.()
printMeans(rows)
if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 2))
