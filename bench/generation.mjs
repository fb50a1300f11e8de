// Tokens a second of a decoder with 4-bit weights beside onnxruntime-web and -node, and memory beside the model's file.
// node generation.mjs [--size half-billion|small] [--tokens N] [--threads 1,2] [--only SYSTEMS] [--keep FILE]
//   [--json FILE]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SIZES, writeDecoder } from './generation/model.mjs'
import { complaint, pathOf } from './systems.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'half-billion' },
    tokens: { type: 'string', default: '32' },
    threads: { type: 'string', default: '1,2' },
    only: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'string' }
  }
})
const sizes = SIZES[values.size]
if (sizes === undefined) throw new Error(`--size is ${values.size}; expected ${Object.keys(SIZES).join(' or ')}`)
const PROMPT = Array.from({ length: 16 }, (_, i) => (i * 7919 + 11) % sizes.words)
const ROWS = [
  { system: 'nodewise', how: 'room' },
  { system: 'nodewise', how: 'grow' },
  { system: 'ort-node', how: 'grow', needs: 'onnxruntime-node' },
  { system: 'ort-web', how: 'grow', needs: 'onnxruntime-web' }
].filter(
  ({ system, needs }) =>
    (values.only?.split(',').includes(system) ?? true) && (!needs || existsSync(pathOf(`node_modules/${needs}`)))
)

const folder = mkdtempSync(join(tmpdir(), 'nodewise-generation-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const model = values.keep ?? join(folder, 'decoder.onnx')
const parameters = writeDecoder(model, sizes)
const { size } = statSync(model)
console.log(`${(parameters / 1e6).toFixed(0)} million parameters, ${(size / 2 ** 20).toFixed(0)} MiB`)

function measured({ system, how }, threads) {
  const { layers, shared } = sizes
  const job = { model, layers, shared, prompt: PROMPT, tokens: Number(values.tokens), threads, how }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [pathOf('generation/child.mjs'), system, JSON.stringify(job)],
    { encoding: 'utf8', timeout: 600_000 }
  )
  return status === 0
    ? JSON.parse(stdout.trim().split('\n').at(-1))
    : { error: complaint(stderr) ?? `ended with ${status}` }
}

const results = []
for (const threads of values.threads.split(',').map(Number)) {
  for (const row of ROWS) {
    const result = measured(row, threads)
    results.push({ ...row, threads, ...result })
    const { error, opened, first, median, least, memory, found } = result
    const ms = value => `${value.toFixed(1)} ms`
    const told = error
      ? `failed: ${error}`
      : `${(1000 / median).toFixed(1)} tokens/s (${ms(median)}, least ${ms(least)}), ` +
        `prompt of ${PROMPT.length} ${ms(first)}, open ${ms(opened)}, ` +
        `${(memory / 2 ** 20).toFixed(0)} MiB, ${(memory / size).toFixed(2)} x file; tokens ${found.join(' ')}`
    console.log(`${row.system.padEnd(8)} ${row.how} ${threads} thread${threads > 1 ? 's' : ' '}: ${told}`)
  }
}
if (values.json) writeFileSync(values.json, `${JSON.stringify({ parameters, size, results }, undefined, 2)}\n`)
