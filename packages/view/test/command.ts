import { Writable } from 'node:stream'
import { expect } from 'vitest'
import { main } from '../../../src/cli/main.ts'

const stream = (take: (chunk: Buffer) => void): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk)
      done()
    }
  })

/** What the command prints. Findings are no failure. */
export async function printedBy(...args: string[]): Promise<string> {
  const [out, err]: Buffer[][] = [[], []]
  const status = await main(args, {
    stdout: stream(chunk => out.push(chunk)),
    stderr: stream(chunk => err.push(chunk)),
    env: {},
    cwd: process.cwd(),
    program: new URL(import.meta.url)
  })
  if (status > 1) expect.fail(`${args.join(' ')}: ${Buffer.concat(err).toString()}`)
  return Buffer.concat(out).toString()
}
