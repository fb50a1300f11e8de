// A child process of the fuzzer. It takes either a range of mutants, or one after the other as it is asked.
import { appendFileSync, openSync, writeSync } from 'node:fs'
import { corpus } from './corpus.mjs'
import { createExecutor } from './execute.mjs'
import { memoryMeter } from './memory.mjs'
import { planMutant } from './mutant.mjs'
import { HEAD, outcomeByte } from './outcomes.mjs'
import { summaryOf } from './twins.mjs'

/** What a mutant may take beyond what the process holds without it. */
const bound = ({ model, bin }) => 64 * 2 ** 20 + 40 * (model.length + (bin?.length ?? 0))
/**
 * What earlier mutants left behind is collected beyond this; a process that cannot get below it gives way to a fresh
 * one.
 */
const UNTIDY = 24 * 2 ** 20
const WORN = 160 * 2 ** 20
/** Ends a range early: a fresh process is to go on. */
export const GO_ON = 75

process.on('disconnect', () => process.exit())
process.on('message', message => {
  const work = message.range ? runRange(message) : answer(message)
  work.catch(error => {
    console.error(error)
    process.exit(1)
  })
})

async function warmUp(executor, models, format) {
  const plan = i => ({ ...planMutant('warm-up', format, i, models), kind: 'mutant', edits: [] })
  for (let i = 0; i < 20; i++) await executor.execute(executor.build(plan(i)), plan(i))
  globalThis.gc()
}

async function runRange({ bundle, format, seed, folders, only, range: [from, to], progress, twins }) {
  const executor = await createExecutor(bundle)
  const models = corpus(format, folders)
  await warmUp(executor, models, format)
  const file = openSync(progress.path, 'r+')
  const cell = Buffer.alloc(HEAD)
  const byte = Buffer.alloc(1)
  const meter = memoryMeter()
  let floor = meter.now()
  const first = floor
  const lines = []
  for (let index = from; index < to; index++) {
    if (meter.now() > floor + UNTIDY) {
      globalThis.gc()
      floor = Math.max(floor, meter.now())
      if (floor > first + WORN) {
        flush()
        process.exit(GO_ON)
      }
    }
    cell.writeUInt32LE(index)
    writeSync(file, cell, 0, HEAD, 0)
    meter.begin()
    const plan = planMutant(seed, format, index, models, only)
    const files = executor.build(plan)
    const reached = await executor.execute(files, plan)
    const grown = meter.peak() - floor
    if (grown > bound(files))
      reached.problem ??= { kind: 'memory', message: `it takes ${mb(grown)} MB, ${mb(bound(files))} are allowed` }
    byte[0] = outcomeByte(reached)
    writeSync(file, byte, 0, 1, HEAD + index - progress.from)
    if (reached.problem) appendFileSync(progress.findings, `${JSON.stringify({ index, problem: reached.problem })}\n`)
    if (twins) lines.push(JSON.stringify({ index, ...summaryOf(reached) }))
    if (lines.length > 500) flush()
  }
  flush()
  process.disconnect()

  function flush() {
    if (twins && lines.length > 0) appendFileSync(twins, `${lines.splice(0).join('\n')}\n`)
  }
}

const mb = bytes => (bytes / 2 ** 20).toFixed(1)

let lone

/** Runs one mutant, given as a plan or as files that are left of one. */
async function answer({ bundle, folders, plan, files }) {
  lone ??= await createExecutor(bundle).then(async executor => {
    await warmUp(executor, corpus(plan.format, folders), plan.format)
    return { executor, meter: memoryMeter() }
  })
  const { executor, meter } = lone
  globalThis.gc()
  const floor = meter.now()
  const made = files
    ? {
        ...files,
        model: Buffer.from(files.model, 'base64'),
        bin: files.bin === undefined ? undefined : Buffer.from(files.bin, 'base64')
      }
    : executor.build(plan)
  const told = { told: made.told, files: { model: made.model.toString('base64'), bin: made.bin?.toString('base64') } }
  // First what it is, since it may be the last word.
  process.send(told)
  meter.begin()
  const started = performance.now()
  const { outputs, ...reached } = await executor.execute(made, plan)
  const grown = meter.peak() - floor
  if (grown > bound(made))
    reached.problem ??= { kind: 'memory', message: `it takes ${mb(grown)} MB, ${mb(bound(made))} are allowed` }
  process.send({
    ...reached,
    ...told,
    grown,
    milliseconds: performance.now() - started,
    ...(outputs && { outputs: Object.keys(outputs) })
  })
}
