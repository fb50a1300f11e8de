// Decision trees beside onnxruntime-node, both with one thread: trees of one depth whose splits send random rows either
// way. node trees.mjs [--trees N] [--depth N] [--features N] [--rows N,N…] [--seconds N]
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomSource } from './content.mjs'
import { writeOnnx } from './onnx.mjs'
import { pathOf } from './systems.mjs'
import { measure } from './systems/measure.mjs'

const option = value => ({ type: 'string', default: `${value}` })
const { values } = parseArgs({
  options: {
    trees: option(1000),
    depth: option(8),
    features: option(28),
    rows: option('1,10,100,10000'),
    seconds: option(1)
  }
})
const [trees, depth, features] = [values.trees, values.depth, values.features].map(Number)
const folder = mkdtempSync(join(tmpdir(), 'nodewise-trees-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const random = randomSource(1)
/** A random number from 0 to below 1. */
const unit = () => (random() >>> 0) / 2 ** 32

/** A regressor: in each tree node i leads to 2i + 1 and 2i + 2; the last level are leaves. */
function writeTrees(path) {
  const tests = 2 ** depth - 1
  const nodes = 2 * tests + 1
  const each = (count, of) =>
    Array.from({ length: trees }, (_, tree) => Array.from({ length: count }, (_, i) => of(i, tree)))
  const list = (count, of) => each(count, of).flat()
  const floats = (count, of) => Float32Array.from(list(count, of))
  const attributes = {
    n_targets: 1,
    nodes_treeids: list(nodes, (_, tree) => tree),
    nodes_nodeids: list(nodes, i => i),
    nodes_modes: list(nodes, i => (i < tests ? 'BRANCH_LEQ' : 'LEAF')),
    nodes_featureids: list(nodes, i => (i < tests ? Math.floor(unit() * features) : 0)),
    nodes_values: floats(nodes, i => (i < tests ? unit() : 0)),
    nodes_truenodeids: list(nodes, i => (i < tests ? 2 * i + 1 : 0)),
    nodes_falsenodeids: list(nodes, i => (i < tests ? 2 * i + 2 : 0)),
    target_treeids: list(tests + 1, (_, tree) => tree),
    target_nodeids: list(tests + 1, i => tests + i),
    target_ids: list(tests + 1, () => 0),
    target_weights: floats(tests + 1, () => unit() - 0.5)
  }
  writeOnnx(path, {
    inputs: [{ name: 'x', type: 'float32', dims: ['n', features] }],
    outputs: [{ name: 'y', type: 'float32', dims: ['n', 1] }],
    nodes: [{ op: 'TreeEnsembleRegressor', domain: 'ai.onnx.ml', inputs: ['x'], outputs: ['y'], attributes }]
  })
}

const model = join(folder, 'trees.onnx')
writeTrees(model)
const rowCounts = values.rows.split(',').map(Number)
const data = Float32Array.from({ length: Math.max(...rowCounts) * features }, unit)

/** Milliseconds to open the model, and of a run with each number of rows; the predictions of the last. */
async function timesOf({ InferenceSession, Tensor }, options) {
  const start = performance.now()
  const session = await InferenceSession.create(model, options)
  const opening = performance.now() - start
  const runs = []
  let last
  for (const rows of rowCounts) {
    const feeds = { x: new Tensor('float32', data.slice(0, rows * features), [rows, features]) }
    const run = async () => (last = (await session.run(feeds)).y.data)
    runs.push(await measure(run, { repeats: 5, seconds: Number(values.seconds) }))
  }
  return { opening, runs, last }
}

const own = await timesOf(await import(new URL('../dist/node/index.mjs', import.meta.url).href), { threads: 1 })
const peer = existsSync(pathOf('node_modules/onnxruntime-node'))
  ? await timesOf(await import('onnxruntime-node'), { intraOpNumThreads: 1, interOpNumThreads: 1 })
  : undefined

console.log(`${trees} trees of depth ${depth}, ${features} features; milliseconds: least (median)`)
console.log(`open: Nodewise ${own.opening.toFixed(0)}${peer ? `, ONNX Runtime ${peer.opening.toFixed(0)}` : ''}`)
const shown = ({ min, median }) => `${min.toFixed(3)} (${median.toFixed(3)})`
rowCounts.forEach((rows, i) => {
  const beside = peer
    ? `, ONNX Runtime ${shown(peer.runs[i])}: ratio ${(own.runs[i].min / peer.runs[i].min).toFixed(2)}`
    : ''
  console.log(`${rows} rows: Nodewise ${shown(own.runs[i])}${beside}`)
})
if (peer) {
  const worst = own.last.reduce((most, value, i) => Math.max(most, Math.abs(value - peer.last[i])), 0)
  console.log(`predictions differ by up to ${worst.toExponential(1)}`)
}
process.exit(0)
