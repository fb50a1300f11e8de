// Looks 512 rows up in a table of 10 GB on a web server that answers after 20 ms: node examples/remote-table/look-up.js
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'nodewise'
import { ROWS, someRows, WIDTH } from './rows.js'
import { serveFolder } from './serve.js'
import { writeTable } from './table.js'

/** What opening the model, looking rows up and looking them up once more take: milliseconds, requests and bytes. */
export async function lookUp(latency = 20) {
  const folder = mkdtempSync(join(tmpdir(), 'table-'))
  const server = serveFolder(folder, { latency })
  const measured = async work => {
    const [{ requests, bytes }, start] = [{ ...server.stats }, performance.now()]
    const result = await work()
    const milliseconds = performance.now() - start
    return { result, milliseconds, requests: server.stats.requests - requests, bytes: server.stats.bytes - bytes }
  }
  try {
    writeTable(folder)
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${server.address().port}/table.xml`
    const opening = await measured(() => InferenceSession.create(url))
    const rows = someRows(512, ROWS)
    const ids = new Tensor('int64', rows.map(BigInt))
    const lookingUp = await measured(() => opening.result.run({ ids }))
    const onceMore = await measured(() => opening.result.run({ ids }))
    const { data } = lookingUp.result.rows
    return { opening, lookingUp, onceMore, isRight: rows.every((row, i) => data[i * WIDTH] === row) }
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[1]?.endsWith('look-up.js')) {
  const { opening, lookingUp, onceMore, isRight } = await lookUp()
  for (const [what, { milliseconds, requests, bytes }] of Object.entries({ opening, lookingUp, onceMore }))
    console.log(`${what}: ${Math.round(milliseconds)} ms, ${requests} requests, ${bytes} bytes`)
  console.log(isRight ? 'every row is the one that was asked for' : 'a row is wrong')
}
