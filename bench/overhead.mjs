// What a node costs when it has almost nothing to do: a long chain of Shape, Gather, Unsqueeze, Concat, Reshape over an input whose dims
// are open, so that nothing can be worked out before a run. node overhead.mjs [--links N] [--seconds N]
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeOnnx } from './onnx.mjs'
import { pathOf } from './systems.mjs'
import { measure } from './systems/measure.mjs'

const { values } = parseArgs({ options: { links: { type: 'string', default: '200' }, seconds: { type: 'string', default: '2' } } })
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
const model = join(folder, 'chain.onnx')
writeChain(model)
const data = Float32Array.of(1, 2, 3, 4, 5, 6)
const nodes = links * OPS.length

async function report(title, { InferenceSession, Tensor }, options) {
  const session = await InferenceSession.create(model, options)
  const feeds = { x0: new Tensor('float32', data, [2, 3]) }
  const { median, min } = await measure(async () => (await session.run(feeds))[`x${links}`].data, often)
  const nanoseconds = milliseconds => (1e6 * milliseconds / nodes).toFixed(0).padStart(7)
  console.log(`${title.padEnd(40)} ${nanoseconds(median)} ns a node, least ${nanoseconds(min)}`)
}

console.log(`${links} times ${OPS.join(', ')}: ${nodes} nodes`)
await report('Nodewise', await import(new URL('../dist/index.js', import.meta.url).href), { threads: 1 })
if (existsSync(pathOf('node_modules/onnxruntime-node'))) {
  // With its optimizer on, ONNX Runtime fuses each link into one Reshape.
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1 }
  const ort = await import('onnxruntime-node')
  await report('onnxruntime-node, no optimization', ort, { ...options, graphOptimizationLevel: 'disabled' })
  await report('onnxruntime-node, all optimizations', ort, { ...options, graphOptimizationLevel: 'all' })
}
process.exit(0)
