// Single operators of float32: Nodewise beside onnxruntime-web and onnxruntime-node, all alive in one process and asked
// in turn.
//
//   node operators/run.mjs [--rows REGEX] [--threads N] [--seconds N] [--dist FOLDER] [--json FILE]
//
// Prints, for each row, GFLOP/s (or GB/s that have to be read and written) of the fastest run of each system, the
// ratios of the fastest runs, and the largest difference from onnxruntime-node as a share of its largest output.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { writeOnnx } from '../onnx.mjs'
import { feedsOf, ROWS } from './rows.mjs'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '.' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '0.5' },
    dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
    json: { type: 'string' }
  }
})
const threads = Number(options.threads)
const require = createRequire(import.meta.url)
const importFile = path => import(pathToFileURL(path).href)

/** A way to run a model: `Tensor`, and `open` a file. */
async function systemsOf() {
  const { InferenceSession, Tensor } = await importFile(resolve(options.dist, 'node/index.mjs'))
  const web = await importFile(require.resolve('onnxruntime-web'))
  web.env.wasm.numThreads = threads
  web.env.logLevel = 'error'
  const node = require('onnxruntime-node')
  return {
    nodewise: { Tensor, open: path => InferenceSession.create(path, { threads }) },
    web: {
      Tensor: web.Tensor,
      open: path => web.InferenceSession.create(readFileSync(path), { executionProviders: ['wasm'] })
    },
    node: {
      Tensor: node.Tensor,
      open: path => node.InferenceSession.create(path, { intraOpNumThreads: threads, interOpNumThreads: 1 })
    }
  }
}

function write(path, { inputs, constants, nodes, out }) {
  writeOnnx(path, {
    inputs: Object.entries(inputs).map(([name, dims]) => ({ name, type: 'float32', dims })),
    outputs: [{ name: 'y', type: 'float32', dims: out }],
    initializers: constants,
    nodes
  })
}

/** Opens the model of a row in each system and runs it, in turn, for the time that was asked for. */
async function measure(row, path, systems) {
  write(path, row)
  const started = {}
  for (const [name, { Tensor, open }] of Object.entries(systems)) {
    const given = Object.entries(feedsOf(row)).map(([key, { dims, data }]) => [key, new Tensor('float32', data, dims)])
    const feeds = Object.fromEntries(given)
    const session = await open(path)
    started[name] = { session, feeds, output: (await session.run(feeds)).y.data, fastest: Infinity }
  }
  const list = Object.values(started)
  const end = performance.now() + Number(options.seconds) * 1000 * list.length
  for (let round = 0; round < 5 || performance.now() < end; round++) {
    for (const system of list) {
      const begin = performance.now()
      await system.session.run(system.feeds)
      system.fastest = Math.min(system.fastest, performance.now() - begin)
    }
  }
  for (const { session } of list) await session.release?.()
  return started
}

function differenceOf(output, reference) {
  let worst = 0
  let largest = 0
  for (let i = 0; i < reference.length; i++) {
    worst = Math.max(worst, Math.abs(output[i] - reference[i]))
    largest = Math.max(largest, Math.abs(reference[i]))
  }
  return worst / largest
}

const rate = ({ flops, bytes }, milliseconds) => (flops ?? bytes) / milliseconds / 1e6

function print(row, { nodewise, web, node }) {
  const cells = [nodewise, web, node].map(({ fastest }) => rate(row, fastest).toPrecision(3).padStart(8))
  const ratios = [web, node].map(peer => (nodewise.fastest / peer.fastest).toFixed(2).padStart(6))
  const error = differenceOf(nodewise.output, node.output).toExponential(1)
  console.log([row.name.padEnd(46), row.flops ? 'GFLOP/s' : 'GB/s   ', ...cells, ...ratios, error].join('  '))
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-operators-'))
try {
  const systems = await systemsOf()
  const measured = []
  const titles = ['Nodewise', 'web', 'node'].map(title => title.padStart(8))
  console.log([' '.repeat(46), '       ', ...titles, 'of web', 'of node', 'error'].join('  '))
  for (const row of ROWS.filter(({ name }) => new RegExp(options.rows).test(name))) {
    const started = await measure(row, join(folder, 'row.onnx'), systems)
    print(row, started)
    const times = Object.entries(started).map(([name, { fastest }]) => [name, fastest])
    measured.push({ name: row.name, flops: row.flops, bytes: row.bytes, ...Object.fromEntries(times) })
  }
  const mean = peer =>
    Math.exp(measured.reduce((sum, cell) => sum + Math.log(cell.nodewise / cell[peer]), 0) / measured.length)
  console.log(`geometric means: ${mean('web').toFixed(2)} of onnxruntime-web, ${mean('node').toFixed(2)} of node`)
  if (options.json) writeFileSync(options.json, JSON.stringify(measured, null, 2))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
