// Single operators of float32: Nodewise beside onnxruntime-web and onnxruntime-node, all alive in one process and asked
// in turn.
//
//   node operators/run.mjs [--rows REGEX] [--threads N] [--seconds N] [--dist FOLDER] [--json FILE]
//
// Prints, for each row, GFLOP/s (or GB/s that have to be read and written) of the fastest run of each system, the
// ratios of the fastest runs, and the largest difference from onnxruntime-node as a share of its largest output.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeOnnx } from '../onnx.mjs'
import { differenceOf, importFile, inTurn, node, web } from '../peers.mjs'
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

/** A way to run a model: `Tensor`, and `open` a file. */
async function systemsOf() {
  const { InferenceSession, Tensor } = await importFile(resolve(options.dist, 'node/index.mjs'))
  return {
    nodewise: { Tensor, open: path => InferenceSession.create(path, { threads }) },
    web: await web(threads),
    node: node(threads)
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
  await inTurn(list, { seconds: Number(options.seconds), rounds: 5, threads }, (system, milliseconds) => {
    system.fastest = Math.min(system.fastest, milliseconds)
  })
  for (const { session } of list) await session.release?.()
  return started
}

const rate = ({ flops, bytes }, milliseconds) => (flops ?? bytes) / milliseconds / 1e6

function print(row, started) {
  const { nodewise } = started
  const peers = [started.web, started.node]
  const cells = [nodewise, ...peers].map(({ fastest }) => rate(row, fastest).toPrecision(3).padStart(8))
  const ratios = peers.map(peer => (nodewise.fastest / peer.fastest).toFixed(2).padStart(6))
  const error = differenceOf(nodewise.output, started.node.output).toExponential(1)
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
