// Whole models at real size: Nodewise beside onnxruntime-web and onnxruntime-node, all alive in one process and asked
// in turn. The skeletons are read from ../shared/data/perf and filled into a folder, 2.7 GB for all.
//
//   node models/run.mjs [--models REGEX] [--threads N] [--seconds N] [--peers web,node] [--ir] [--filled FOLDER]
//                       [--precision fast|exact] [--dist FOLDER] [--json FILE]
//
// Prints, for each model and case: milliseconds of the fastest and the median run, create and first run, the ratio of
// the fastest runs, and the largest difference from onnxruntime-node as a share of its largest output.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { differenceOf, inTurn } from '../peers.mjs'
import { eachCase, OPTIONS, start, systemsOf } from './systems.mjs'

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

const systems = await systemsOf(options)
const rows = []
await eachCase(options, async (name, label, inputs, folder) => {
  rows.push(await measure(name, label, inputs, folder, systems))
  print(rows.at(-1))
})
printMeans(rows)
if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 2))
