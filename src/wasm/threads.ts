import { isNode, parallelism } from '../host.ts'
import { heapAllocate } from './heap.ts'
import type { Wasm } from './wasm.ts'

/**
 * Where workers wait: a word that is counted up to wake them, and one that each counts up when it is ready; after the
 * job's own words.
 */
export const WAKE = 254
const READY = 255

/** What a worker is given. */
interface WorkerStart {
  readonly module: WebAssembly.Module
  readonly memory: WebAssembly.Memory
  /** Places of the job and of the worker's own scratch memory. */
  readonly job: number
  readonly scratch: number
}

/** Looks at a word before sleeping until it changes: some 20 microseconds, as long as it takes to be woken. */
const SPINS = 3000

/**
 * A worker as text, so that it needs no file of its own in a bundle or a browser. It takes tiles of whatever job is
 * open when it is woken;
 * between kernels that follow each other at once it stays awake.
 */
const WORKER = `
function serve({ module, memory, job, scratch }) {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } })
  const words = new Int32Array(memory.buffer, job, 256)
  let seen = Atomics.load(words, ${WAKE})
  Atomics.add(words, ${READY}, 1)
  for (;;) {
    for (let spins = 0; spins < ${SPINS} && Atomics.load(words, ${WAKE}) === seen; spins++);
    Atomics.wait(words, ${WAKE}, seen)
    seen = Atomics.load(words, ${WAKE})
    exports.join(job, scratch)
  }
}
if (typeof process === 'object') serve(require('node:worker_threads').workerData)
else onmessage = ({ data }) => serve(data)
`

/** Milliseconds that large kernels have to take before workers are started, which costs some 30. */
const WORTH_STARTING = 10

let started = 0
let spent = 0
/** Whether a worker could not be had: none is asked for again. */
let refused = false

/** Workers that have been asked for. */
export const workersStarted = (): number => started

/** Workers that are ready to help with a job, at most `wanted`. */
export const workersReady = (words: Int32Array, wanted: number): number =>
  started === 0 ? 0 : Math.min(wanted, Atomics.load(words, READY))

/**
 * Notes that a large kernel ran for so long with fewer helpers than it might have; starts them when it is worth it,
 * without waiting for them.
 */
export function requestWorkers(
  accelerated: Wasm,
  job: number,
  scratchBytes: number,
  wanted: number,
  milliseconds: number
): void {
  spent += milliseconds
  const missing = Math.min(wanted, parallelism() - 1) - started
  if (refused || missing <= 0 || spent < WORTH_STARTING) return
  started += missing
  // At once: runs that follow each other without a pause leave a timer no time to fire.
  for (let i = 0; i < missing; i++) start(accelerated, job, scratchBytes)
}

function start({ module, memory }: Wasm, job: number, scratchBytes: number): void {
  const scratch = heapAllocate(scratchBytes, { zero: false })
  if (scratch === undefined || refused) return
  const seat: WorkerStart = { module, memory, job, scratch: scratch.byteOffset }
  try {
    if (isNode) startInNode(seat)
    else startInBrowser(seat)
  } catch {
    refused = true
  }
}

const refuse = (): void => {
  refused = true
}

function startInNode(workerData: WorkerStart): void {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(WORKER, { eval: true, workerData, execArgv: [], env: {} })
  worker.on('error', refuse)
  worker.unref()
}

function startInBrowser(seat: WorkerStart): void {
  // Elsewhere memory cannot be shared with a worker.
  if (!crossOriginIsolated) return refuse()
  const url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }))
  const worker = new Worker(url)
  worker.onerror = refuse
  worker.postMessage(seat)
}

/** Wakes workers; the job must be open. */
export function wakeWorkers(words: Int32Array, count: number): void {
  Atomics.add(words, WAKE, 1)
  Atomics.notify(words, WAKE, count)
}

/**
 * Waits until nobody is active any more; `active` is the word that counts them. They are about to finish their last
 * tile.
 */
export function awaitWorkers(words: Int32Array, active: number): void {
  for (let spins = 0; ; spins++) {
    const left = Atomics.load(words, active)
    if (left === 0) return
    // The main thread of a browser may not wait.
    if (spins > SPINS && isNode) Atomics.wait(words, active, left, 1)
  }
}
