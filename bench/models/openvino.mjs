// OpenVINO's CPU plugin, a process of Python that stays alive: it times its own runs, so that the pipe does not count.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PYTHON } from '../systems.mjs'

const SCRIPT = fileURLToPath(new URL('ask_openvino.py', import.meta.url))

/** A tensor as the other systems have one: what a session is fed. */
class Tensor {
  constructor(type, data, dims) {
    Object.assign(this, { type, data, dims })
  }
}

/** `Tensor`, `open` a file, and `close` the process. One model is open at a time. */
export function openvino(threads) {
  const child = spawn(PYTHON, [SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] })
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-openvino-'))
  const failed = new Promise((_, reject) => child.on('error', reject))
  failed.catch(() => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async question => {
    child.stdin.write(`${JSON.stringify(question)}\n`)
    const { value, done } = await Promise.race([lines.next(), failed])
    if (done) throw new Error(`${PYTHON} cannot run OpenVINO`)
    const answer = JSON.parse(value)
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }

  /** Writes the bytes of inputs to files. */
  const written = feeds =>
    Object.fromEntries(
      Object.entries(feeds).map(([name, { type, data, dims }], i) => {
        const file = join(folder, `input-${i}`)
        writeFileSync(file, data)
        return [name, { type, dims, file }]
      })
    )

  const open = async path => {
    await ask({ do: 'open', path, threads })
    const session = {
      /** Milliseconds of the last run. */
      took: 0,
      async run(feeds) {
        const isFirst = session.feeds !== feeds
        session.feeds = feeds
        session.took = (await ask({ do: 'run', ...(isFirst && { inputs: written(feeds) }) })).milliseconds
        if (!isFirst) return {}
        const file = join(folder, 'output')
        await ask({ do: 'output', file })
        const { buffer, byteOffset, byteLength } = readFileSync(file)
        return { first: { data: new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength)) } }
      }
    }
    return session
  }

  const close = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return { Tensor, open, close }
}
