// How long the command takes to start: the whole process `nodewise run` on a small gather model against `node -e 0`.
// node bench/startup.mjs [MODEL] [INPUT] [RUNS]
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))
const command = path('../bin/nodewise.js')
const [model = path('../models/palette.onnx'), input = 'ids=[1,0]', runs = '20'] = process.argv.slice(2)
if (!existsSync(command)) throw new Error('bin/nodewise.js is missing: npm run build')

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

const empty = ['-e', '0']
const run = [command, 'run', model, '-i', input]
for (const args of [empty, run]) milliseconds(args)
// In turns, so that whatever else the machine does hits both alike.
const times = Array.from({ length: Number(runs) }, () => [milliseconds(empty), milliseconds(run)])
const [bare, whole] = [0, 1].map(i => median(times.map(pair => pair[i])))
console.log(`node -e 0     ${bare.toFixed(1)} ms (median of ${runs})`)
console.log(`nodewise run  ${whole.toFixed(1)} ms (median of ${runs})`)
console.log(`difference    ${(whole - bare).toFixed(1)} ms (limit 60)`)
process.exitCode = whole - bare > 60 ? 1 : 0
