import { isNode, parallelism } from '../host.ts'
import { heapAllocate } from './heap.ts'
import type { Wasm } from './wasm.ts'
import { HEADER, SCRATCH_BYTES, type Workspace } from './workspace.ts'

/**
 * Words after a job's header, in a cache line of their own: one that the main thread counts up to wake workers, and one
 * that each worker counts up when it is ready.
 */
const WAKE = 32
const READY = 33

/** What a worker is given. */
interface WorkerStart {
  /** The modules, by the number that a job's header gives. */
  readonly modules: readonly WebAssembly.Module[]
  readonly memory: WebAssembly.Memory
  /** Addresses of the job and of the worker's own scratch memory. */
  readonly job: number
  readonly scratch: number
}

/** Reads of a word before a thread sleeps until it changes: some 20 microseconds, as long as waking takes. */
const SPINS = 3000

/**
 * A worker as text, so that it needs no file of its own in a bundle or a browser. When woken, it takes tiles of the job
 * that is open. It spins before it sleeps, so that it is awake for a kernel that follows at once.
 */
const WORKER = `
function serve({ modules, memory, job, scratch }) {
  const runners = modules.map(module => new WebAssembly.Instance(module, { env: { memory } }).exports)
  const header = new Int32Array(memory.buffer, job, ${READY + 1})
  let seen = Atomics.load(header, ${WAKE})
  Atomics.add(header, ${READY}, 1)
  for (;;) {
    for (let spins = 0; spins < ${SPINS} && Atomics.load(header, ${WAKE}) === seen; spins++);
    Atomics.wait(header, ${WAKE}, seen)
    seen = Atomics.load(header, ${WAKE})
    runners[header[${HEADER.module}]].join(job, scratch)
  }
}
if (typeof process === 'object') serve(require('node:worker_threads').workerData)
else onmessage = ({ data }) => serve(data)
`

/** Milliseconds that large kernels must have taken before workers are started, which costs some 30. */
const MIN_TIME_BEFORE_START = 10

let started = 0
let timeSpent = 0
/** Whether a worker failed to start: no more are started then. */
let isRefused = false

/** Workers that have been asked for. */
export const workersStarted = (): number => started

/** Workers that are ready to compute tiles, at most `wanted`. */
export const workersReady = (header: Int32Array, wanted: number): number =>
  started === 0 ? 0 : Math.min(wanted, Atomics.load(header, READY))

/**
 * Notes that a large kernel ran for so long with fewer workers than it may have. Starts the missing ones, without
 * waiting for them, once such kernels have taken {@link MIN_TIME_BEFORE_START} together.
 */
export function requestWorkers(workspace: Workspace, wanted: number, milliseconds: number): void {
  timeSpent += milliseconds
  const missing = Math.min(wanted, parallelism() - 1) - started
  if (isRefused || missing <= 0 || timeSpent < MIN_TIME_BEFORE_START) return
  started += missing
  // Not by a timer: it would not fire while runs follow each other without a pause.
  for (let i = 0; i < missing; i++) start(workspace.accelerated, workspace.job)
}

function start({ module, memory, compute }: Wasm, job: number): void {
  const scratch = heapAllocate(SCRATCH_BYTES, { zero: false })
  if (scratch === undefined || isRefused) return
  const given: WorkerStart = { modules: [module, compute().module], memory, job, scratch: scratch.byteOffset }
  try {
    if (isNode) startInNode(given)
    else startInBrowser(given)
  } catch {
    isRefused = true
  }
}

const refuse = (): void => {
  isRefused = true
}

function startInNode(workerData: WorkerStart): void {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(WORKER, { eval: true, workerData, execArgv: [], env: {} })
  worker.on('error', refuse)
  worker.unref()
}

function startInBrowser(given: WorkerStart): void {
  // A page that is not isolated cannot share memory with a worker, nor can one of WebKitGTK, whatever it is.
  if (!crossOriginIsolated || typeof SharedArrayBuffer === 'undefined') return refuse()
  const url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }))
  const worker = new Worker(url)
  worker.onerror = refuse
  worker.postMessage(given)
}

/** Wakes `count` workers; the job must be open. */
export function wakeWorkers(header: Int32Array, count: number): void {
  Atomics.add(header, WAKE, 1)
  Atomics.notify(header, WAKE, count)
}

/**
 * Waits until no worker is active: each finishes the tile that it has taken.
 * @param active word of the header that counts active workers
 */
export function awaitWorkers(header: Int32Array, active: number): void {
  for (let spins = 0; ; spins++) {
    const left = Atomics.load(header, active)
    if (left === 0) return
    // The main thread of a browser may not wait.
    if (spins > SPINS && isNode) Atomics.wait(header, active, left, 1)
  }
}
