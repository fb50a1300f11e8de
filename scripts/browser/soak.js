// Makes and releases sessions, and runs one many times; after each part check.mjs measures the browser's memory.
import { InferenceSession, Tensor } from 'nodewise'
import { tell } from './runs.js'

const [PARTS, SESSIONS, RUNS] = [5, 40, 2000]
const [ROWS, WIDTH, COUNT] = [2000, 256, 1024]

const bytesOf = async url => new Uint8Array(await (await fetch(url)).arrayBuffer())

/** 200 sessions with 2 MB each and 10,000 runs, in five parts. */
export async function soak(report, expect) {
  const [palette, gather] = [await bytesOf('palette.onnx'), await bytesOf('gather.onnx')]
  const ids = new Tensor('int64', [1n, 5n], [2])
  const indices = new Tensor(
    'int64',
    BigInt64Array.from({ length: COUNT }, (_, i) => BigInt((i * 7) % ROWS)),
    [COUNT]
  )
  const one = await InferenceSession.create(palette)
  for (let part = 0; part < PARTS; part++) {
    for (let i = 0; i < SESSIONS; i++) {
      const session = await InferenceSession.create(gather, { threads: 1 })
      const data = session.allocate('float32', [ROWS, WIDTH])
      data.data.fill(i)
      const { out } = await session.run({ data, indices })
      expect(`session ${i}`, out.data[5] === i)
      session.dispose()
    }
    for (let i = 0; i < RUNS; i++) {
      const { name } = await one.run({ ids })
      if (i === 0) expect(`run of part ${part}`, `${name.data}` === 'white,yellow')
    }
    await tell('memory', part)
  }
  report.sessions = PARTS * SESSIONS
  report.runs = PARTS * RUNS
}
