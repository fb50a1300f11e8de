// What check.mjs has a browser do: runs models, holds what comes out against what must, and sends a report. Runs in
// windows, workers, service workers and pages of extensions.
import { InferenceSession, Tensor } from 'nodewise'

const report = { isolated: crossOriginIsolated, memory: '', workers: 0, woken: 0, milliseconds: {}, wrong: [] }

// How many workers are started, and how often one that sleeps is woken.
if (typeof Worker !== 'undefined')
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args)
      report.workers++
    }
  }
const { notify } = Atomics
Atomics.notify = (...args) => {
  const woken = notify(...args)
  report.woken += woken
  return woken
}

const bytesOf = async url => new Uint8Array(await (await fetch(url)).arrayBuffer())

const failureOf = promise =>
  promise.then(
    () => ({}),
    error => error
  )

function expect(what, holds) {
  if (!holds) report.wrong.push(what)
}

const turn = () => new Promise(resolve => setTimeout(resolve))

/**
 * The least of many, since whatever else the machine does only adds. Between them the browser has its turn, which
 * starts workers; where one is started and was never woken, it gets more time.
 */
async function timed(name, action) {
  let least = Infinity
  const begun = performance.now()
  const lasts = () => performance.now() - begun
  while (lasts() < 400 || (report.workers > 0 && report.woken === 0 && lasts() < 5000)) {
    const begin = performance.now()
    await action()
    least = Math.min(least, performance.now() - begin)
    await turn()
  }
  report.milliseconds[name] = Number(least.toFixed(2))
}

async function runSmall() {
  const fromBytes = await InferenceSession.create(await bytesOf('palette.onnx'))
  const sessions = [
    fromBytes,
    await InferenceSession.create('palette.onnx'),
    await InferenceSession.create({ xml: 'palette.xml', bin: 'palette.bin' })
  ]
  for (const [i, session] of sessions.entries()) {
    const { name, rgb } = await session.run({ ids: new Tensor('int64', [1n, 5n], [2]) })
    expect(`palette ${i}`, `${name.data}; ${rgb.data}` === 'white,yellow; 255,255,255,250,210,50')
  }
  const { code, details } = await failureOf(fromBytes.run({ ids: new Tensor('int64', [9n], [1]) }))
  expect('an index out of range', code === 'index-out-of-range' && details.index === '9')
  expect(
    'a model that is not there',
    (await failureOf(InferenceSession.create('nothing.onnx'))).code === 'missing-file'
  )
  const types = []
  for await (const { node } of fromBytes.walk({ ids: new Tensor('int64', [0n], [1]) })) types.push(node.type)
  expect('a walk', types.includes('Gather'))
}

const [ROWS, WIDTH, COUNT] = [20000, 768, 8192]
const rowAt = i => (i * 7919) % ROWS

/** 25 MB, from a table of 61 MB in which each element is its own place. */
async function runLarge(threads) {
  const session = await InferenceSession.create(await bytesOf('gather.onnx'), { threads })
  const data = session.allocate('float32', [ROWS, WIDTH])
  const indices = session.allocate('int64', [COUNT])
  data.data.forEach((_, i) => {
    data.data[i] = i
  })
  indices.data.forEach((_, i) => {
    indices.data[i] = BigInt(rowAt(i))
  })
  const outs = {
    heap: session.allocate('float32', [COUNT, WIDTH]),
    given: new Tensor('float32', new Float32Array(COUNT * WIDTH), [COUNT, WIDTH])
  }
  report.memory = Object.prototype.toString.call(data.data.buffer)
  for (const [name, out] of Object.entries(outs)) {
    const what = `${name}, ${threads} thread${threads > 1 ? 's' : ''}`
    await timed(what, () => session.run({ data, indices }, { out }))
    expect(
      what,
      out.data.every((value, i) => value === rowAt(Math.floor(i / WIDTH)) * WIDTH + (i % WIDTH))
    )
  }
  indices.data[5000] = BigInt(ROWS)
  const { code, details } = await failureOf(session.run({ data, indices }))
  expect('an index out of range of many', code === 'index-out-of-range' && details.position[0] === 5000)
  session.dispose()
}

/** Sends something to check.mjs; its answer comes when that was dealt with. */
export async function tell(path, content) {
  const { address } = await (await fetch('where.json')).json()
  await fetch(address + path, { method: 'POST', body: JSON.stringify(content) })
}

/** Has an action add to the report what is wrong, and sends it. */
export async function reportOn(action) {
  try {
    await action(report, expect)
  } catch (error) {
    report.wrong.push(String(error?.stack ?? error))
  }
  await tell('report', report)
}

export async function runAll() {
  await runSmall()
  await runLarge(1)
  await runLarge(2)
}
