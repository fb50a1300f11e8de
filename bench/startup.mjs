// How long Nodewise takes to start: whole processes with a small gather model against `node -e 0`, of the command and
// of a program that imports the library.
// node bench/startup.mjs [MODEL] [INPUT] [RUNS], where INPUT is NAME=[I,J…] of int64
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))
const command = path('../bin/nodewise.js')
const library = new URL('../dist/node/index.mjs', import.meta.url)
const [model = path('../models/palette.onnx'), input = 'ids=[1,0]', runs = '20'] = process.argv.slice(2)
if (!existsSync(command) || !existsSync(library)) throw new Error('bin/ or dist/node/ is missing: npm run build')
/** Milliseconds beside `node -e 0`. */
const MAX_MILLISECONDS = 60

const [name, list] = input.split('=')
const PROGRAM = `
  import { InferenceSession, Tensor } from ${JSON.stringify(library.href)}
  const session = await InferenceSession.create(${JSON.stringify(model)})
  const indices = BigInt64Array.from(${list}, BigInt)
  await session.run({ ${JSON.stringify(name)}: new Tensor('int64', indices, [indices.length]) })`

const PROCESSES = {
  'node -e 0': ['-e', '0'],
  'nodewise run': [command, 'run', model, '-i', input],
  library: ['--input-type=module', '-e', PROGRAM]
}

function milliseconds(args) {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8'
  })
  const time = performance.now() - start
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  return time
}

function median(times) {
  const sorted = times.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

for (const args of Object.values(PROCESSES)) milliseconds(args)
// Interleaved, so that whatever else the machine does slows all alike.
const rounds = Array.from({ length: Number(runs) }, () => Object.values(PROCESSES).map(milliseconds))
const medians = Object.keys(PROCESSES).map((_, i) => median(rounds.map(times => times[i])))
Object.keys(PROCESSES).forEach((what, i) => {
  const more = medians[i] - medians[0]
  console.log(
    `${what.padEnd(12)}  ${medians[i].toFixed(1)} ms (median of ${runs}), ${more.toFixed(1)} more ` +
      `(of at most ${MAX_MILLISECONDS})`
  )
  if (more > MAX_MILLISECONDS) process.exitCode = 1
})
