// What a node costs when it has almost nothing to do: a long chain of Shape, Gather, Unsqueeze, Concat, Reshape over an
// input whose dims
// are open, so that nothing can be worked out before a run; Nodewise spares all but Reshape from the third run on. And
// what a call costs: a Gather of one element of four, its output fresh and given.
// node overhead.mjs [--links N] [--seconds N]
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeOnnx } from './onnx.mjs'
import { pathOf } from './systems.mjs'
import { measure } from './systems/measure.mjs'

const { values } = parseArgs({
  options: { links: { type: 'string', default: '200' }, seconds: { type: 'string', default: '2' } }
})
const links = Number(values.links)
const OPS = ['Shape', 'Gather', 'Unsqueeze', 'Concat', 'Reshape']
const folder = mkdtempSync(join(tmpdir(), 'nodewise-overhead-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const int64 = (name, dims, value) => ({ name, type: 'int64', dims, bytes: Buffer.from(BigInt64Array.of(value).buffer) })

/** Each link reshapes to [first dim, -1]: the shape that the value has already, so that links can follow each other. */
function writeChain(path) {
  const link = i => [
    { op: 'Shape', inputs: [`x${i}`], outputs: [`shape${i}`] },
    { op: 'Gather', inputs: [`shape${i}`, 'zero'], outputs: [`first${i}`], attributes: { axis: 0 } },
    { op: 'Unsqueeze', inputs: [`first${i}`, 'axes'], outputs: [`list${i}`] },
    { op: 'Concat', inputs: [`list${i}`, 'rest'], outputs: [`target${i}`], attributes: { axis: 0 } },
    { op: 'Reshape', inputs: [`x${i}`, `target${i}`], outputs: [`x${i + 1}`] }
  ]
  writeOnnx(path, {
    inputs: [{ name: 'x0', type: 'float32', dims: ['n', 'm'] }],
    outputs: [{ name: `x${links}`, type: 'float32', dims: ['n', 'k'] }],
    initializers: [int64('zero', [], 0n), int64('axes', [1], 0n), int64('rest', [1], -1n)],
    nodes: Array.from({ length: links }, (_, i) => link(i)).flat()
  })
}

const often = { repeats: 15, seconds: Number(values.seconds) }
const chain = join(folder, 'chain.onnx')
writeChain(chain)
const one = join(folder, 'one.onnx')
writeOnnx(one, {
  inputs: [{ name: 'index', type: 'int64', dims: [] }],
  outputs: [{ name: 'element', type: 'float32', dims: [] }],
  initializers: [{ name: 'table', type: 'float32', dims: [4], bytes: Buffer.from(Float32Array.of(1, 2, 3, 4).buffer) }],
  nodes: [{ op: 'Gather', inputs: ['table', 'index'], outputs: ['element'] }]
})
const data = Float32Array.of(1, 2, 3, 4, 5, 6)
const nodes = links * OPS.length

const nanoseconds = milliseconds => (1e6 * milliseconds).toFixed(0).padStart(7)
const print = (title, what, { median, min }, times = 1) =>
  console.log(`${title.padEnd(40)} ${nanoseconds(median / times)} ns ${what}, least ${nanoseconds(min / times)}`)

async function report(title, { InferenceSession, Tensor }, options) {
  const long = await InferenceSession.create(chain, options)
  const x0 = new Tensor('float32', data, [2, 3])
  print(title, 'a node', await measure(async () => (await long.run({ x0 }))[`x${links}`].data, often), nodes)
  const short = await InferenceSession.create(one, options)
  const feeds = { index: new Tensor('int64', BigInt64Array.of(2n), []) }
  const target = { element: new Tensor('float32', new Float32Array(1), []) }
  for (const [how, fetches] of [
    ['fresh', undefined],
    ['given', target]
  ]) {
    print(title, `a call, ${how}`, await measure(async () => (await short.run(feeds, fetches)).element.data, often))
  }
}

console.log(`${links} times ${OPS.join(', ')}: ${nodes} nodes`)
await report('Nodewise', await import(new URL('../dist/node/index.mjs', import.meta.url).href), { threads: 1 })
if (existsSync(pathOf('node_modules/onnxruntime-node'))) {
  // With its optimizer on, ONNX Runtime fuses each link into one Reshape.
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1 }
  const ort = await import('onnxruntime-node')
  await report('onnxruntime-node, no optimization', ort, { ...options, graphOptimizationLevel: 'disabled' })
  await report('onnxruntime-node, all optimizations', ort, { ...options, graphOptimizationLevel: 'all' })
}
process.exit(0)
