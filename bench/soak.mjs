// Long runs of one process: memory does not grow, and sessions side by side do not disturb each other.
// node --expose-gc --single-threaded-gc soak.mjs [--small RUNS] [--mid RUNS] [--threads N]
// The threads of the collector take some 8 MB once, at any time, which would count as growth.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { elements, indices } from './content.mjs'
import { writeOnnx } from './onnx.mjs'

const { InferenceSession, Tensor } = await import(new URL('../dist/node/index.mjs', import.meta.url).href)
const option = fallback => ({ type: 'string', default: String(fallback) })
const { values } = parseArgs({ options: { small: option(100_000), mid: option(1000), threads: option(2) } })
const threads = Number(values.threads)
/** How much of itself the resident set may grow by after warming up. */
const GROWTH = 0.05
const SESSIONS = 16

if (!globalThis.gc) throw new Error('run node with --expose-gc, or the garbage that is left counts as growth')
const folder = mkdtempSync(join(tmpdir(), 'nodewise-soak-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(130))

/** A Gather of rows from a table of its own, with the rows that it is to give. */
async function gatherRows(name, { rows, columns, lookedUp, seed }) {
  const bytes = elements('float32', rows * columns, seed)
  const path = join(folder, `${name}.onnx`)
  writeOnnx(path, {
    inputs: [{ name: 'indices', type: 'int64', dims: ['n'] }],
    outputs: [{ name: 'output', type: 'float32', dims: ['n', columns] }],
    initializers: [{ name: 'data', type: 'float32', dims: [rows, columns], bytes }],
    nodes: [{ op: 'Gather', inputs: ['data', 'indices'], outputs: ['output'] }]
  })
  const session = await InferenceSession.create(path, { threads })
  const ids = new BigInt64Array(indices('int64', lookedUp, rows, seed + 1).buffer)
  const expected = Buffer.concat(
    Array.from(ids, id => bytes.subarray(Number(id) * columns * 4, (Number(id) + 1) * columns * 4))
  )
  const feeds = { indices: new Tensor('int64', ids, [lookedUp]) }
  const run = async () => (await session.run(feeds)).output.data
  const isRight = data => expected.equals(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  return { session, run, isRight }
}

/** The resident set in MB when garbage is gone; the collector may need a few turns to hand memory back. */
async function residentSet() {
  for (let i = 0; i < 5; i++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return process.memoryUsage().rss / 1e6
}

let failed = false
function verdict(text, holds) {
  console.log(`${holds ? 'ok    ' : 'FAILED'}  ${text}`)
  failed ||= !holds
}

async function holdsMemory(name, runs, shape) {
  const { session, run, isRight } = await gatherRows(name, shape)
  const many = async times => {
    let output
    for (let i = 0; i < times; i++) output = await run()
    return output
  }
  // The allocator of the system settles after some hundred outputs.
  await many(Math.ceil(runs / 4))
  const before = await residentSet()
  // No output is kept while memory is measured: one that lies at the end of what the system gave keeps all of it.
  const right = isRight(await many(runs))
  const after = await residentSet()
  const growth = after / before - 1
  const memory =
    `${before.toFixed(1)} MB after warming up, ` + `${after.toFixed(1)} MB at the end (${(100 * growth).toFixed(1)} %)`
  verdict(`${runs} runs of a ${name} model: ${memory}${right ? '' : '; WRONG output'}`, right && growth <= GROWTH)
  await session.release()
}

/** Sessions of different models and sizes run at once; also many runs of one session at once. */
async function keepApart() {
  const shapes = Array.from({ length: SESSIONS }, (_, i) => ({
    rows: 1000 + 37 * i,
    columns: 16 * (i + 1),
    lookedUp: 2000,
    seed: 100 + i
  }))
  const models = await Promise.all(shapes.map((shape, i) => gatherRows(`session-${i}`, shape)))
  let wrong = 0
  for (let turn = 0; turn < 50; turn++) {
    const outputs = await Promise.all(
      [...models, models[turn % SESSIONS]].map(async ({ run, isRight }) => isRight(await run()))
    )
    wrong += outputs.filter(right => !right).length
  }
  verdict(`${SESSIONS} sessions at once, 50 turns: ${wrong} wrong outputs`, wrong === 0)
  await Promise.all(models.map(({ session }) => session.release()))
}

await keepApart()
await holdsMemory('small', Number(values.small), { rows: 1000, columns: 16, lookedUp: 8, seed: 1 })
await holdsMemory('mid', Number(values.mid), { rows: 30_522, columns: 768, lookedUp: 512, seed: 2 })
process.exitCode = failed ? 1 : 0
