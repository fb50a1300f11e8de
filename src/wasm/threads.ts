import { isNode, parallelism } from '../host.ts'
import { heapAllocate } from './heap.ts'
import type { Imports, Wasm } from './wasm.ts'
import { CLOSED, HEADER, SCRATCH_BYTES, type Workspace } from './workspace.ts'

/** Words after a job's header, in a cache line of their own. */
const WORDS = {
  /** The main thread counts it up to wake workers. */
  wake: 32,
  /** Workers that are ready, and those of them that sleep. */
  ready: 33,
  asleep: 34,
  /** Runs under way that may use workers. */
  runs: 35
} as const

/** What a worker is given. */
interface WorkerStart {
  /** The modules, by the number that a job's header gives. */
  readonly modules: readonly WebAssembly.Module[]
  /** What they import. */
  readonly env: Imports
  /** Addresses of the job and of the worker's own scratch memory. */
  readonly job: number
  readonly scratch: number
}

/**
 * Milliseconds for which a worker spins before it sleeps: during a run until its next large kernel, after it as long as
 * waking takes. To wake one costs the main thread 7 to 20 microseconds, and it comes after 15 to 50; one that spins
 * comes within one.
 */
const SPIN = { duringRun: 0.6, afterRun: 0.02 } as const
/** Reads of a word between two looks at the clock. */
const READS = 200

/**
 * A worker as text, so that it needs no file of its own in a bundle or a browser. When woken, it takes tiles of the job
 * that is open. A kernel that traps there stops the job, and neither ends the worker nor keeps the main thread waiting.
 * Node loads modules where `performance` is first asked for, as in `clock` of ../host.ts.
 */
const WORKER = `
const isNode = typeof process === 'object'
const now = isNode
  ? () => {
      const [seconds, nanoseconds] = process.hrtime()
      return seconds * 1e3 + nanoseconds / 1e6
    }
  : () => performance.now()
function serve({ modules, env, job, scratch }) {
  const runners = modules.map(module => new WebAssembly.Instance(module, { env }).exports)
  const header = new Int32Array(env.memory.buffer, job, ${WORDS.runs + 1})
  let seen = Atomics.load(header, ${WORDS.wake})
  const isCalled = () => {
    for (let reads = 0; reads < ${READS}; reads++) if (Atomics.load(header, ${WORDS.wake}) !== seen) return true
    return false
  }
  const spin = () => {
    const begin = now()
    while (!isCalled()) {
      const limit = Atomics.load(header, ${WORDS.runs}) > 0 ? ${SPIN.duringRun} : ${SPIN.afterRun}
      if (now() - begin > limit) return false
    }
    return true
  }
  Atomics.add(header, ${WORDS.ready}, 1)
  for (;;) {
    if (!spin()) {
      Atomics.add(header, ${WORDS.asleep}, 1)
      Atomics.wait(header, ${WORDS.wake}, seen)
      Atomics.sub(header, ${WORDS.asleep}, 1)
    }
    seen = Atomics.load(header, ${WORDS.wake})
    const first = runners[0].enter(job)
    if (first < 0) continue
    try {
      // Not before there is a tile: until then the header may be that of a job before, or half of the next one.
      runners[header[${HEADER.module}]].join(job, scratch, first)
    } catch {
      // The kernel trapped: its tile is undone, and this worker still counts as active.
      Atomics.store(header, ${HEADER.failed}, 1)
      Atomics.store(header, ${HEADER.next}, ${CLOSED})
      Atomics.sub(header, ${HEADER.active}, 1)
      Atomics.notify(header, ${HEADER.active})
    }
  }
}
if (isNode) serve(require('node:worker_threads').workerData)
else onmessage = ({ data }) => serve(data)
`

/**
 * Size of a worker's memory for new objects. What it makes are times that it reads while it spins, none of which it
 * keeps: more memory would only take longer to fill.
 */
const YOUNG_MEGABYTES = 1

/** Milliseconds that large kernels must have taken before workers are started, which costs some 30. */
const MIN_TIME_BEFORE_START = 10

/**
 * Reads of a word before the main thread sleeps until it changes: some 0.4 milliseconds, twice as long as a tile takes.
 * To be woken takes it 50 microseconds and more.
 */
const SPINS = 60_000

let started = 0
let timeSpent = 0
/** Whether a worker failed to start: no more are started then. */
let isRefused = false
/** Runs under way that may use workers, and the header in which workers find their number, once there are workers. */
let runs = 0
let shared: Int32Array | undefined

/** Workers that have been asked for. */
export const workersStarted = (): number => started

/** Workers that are ready to compute tiles, at most `wanted`. */
export const workersReady = (header: Int32Array, wanted: number): number =>
  started === 0 ? 0 : Math.min(wanted, Atomics.load(header, WORDS.ready))

/** Whether a worker is awake, so that it takes tiles within a microsecond. */
export const isOneAwake = (header: Int32Array): boolean =>
  started > 0 && Atomics.load(header, WORDS.ready) > Atomics.load(header, WORDS.asleep)

/** Whether more workers could be started than there are. */
export const areWorkersMissing = (wanted: number): boolean => !isRefused && Math.min(wanted, cores() - 1) > started

/** Says that a run begins that may use workers: they stay awake longer until it ends. */
export function enterRun(): void {
  tellRuns(runs + 1)
}

/** Says that a run has ended that {@link enterRun} was called for. */
export function leaveRun(): void {
  tellRuns(runs - 1)
}

function tellRuns(count: number): void {
  runs = count
  if (shared !== undefined) Atomics.store(shared, WORDS.runs, count)
}

let known: number | undefined
const cores = (): number => (known ??= parallelism())

/**
 * Notes that a large kernel ran for so long with fewer workers than it may have. Starts the missing ones, without
 * waiting for them, once such kernels have taken {@link MIN_TIME_BEFORE_START} together.
 */
export function requestWorkers(workspace: Workspace, wanted: number, milliseconds: number): void {
  timeSpent += milliseconds
  if (!areWorkersMissing(wanted) || timeSpent < MIN_TIME_BEFORE_START) return
  const missing = Math.min(wanted, cores() - 1) - started
  started += missing
  shared = workspace.header
  tellRuns(runs)
  // Not by a timer: it would not fire while runs follow each other without a pause.
  for (let i = 0; i < missing; i++) start(workspace.accelerated, workspace.job)
}

function start({ module, env, compute }: Wasm, job: number): void {
  const scratch = heapAllocate(SCRATCH_BYTES, { zero: false })
  if (scratch === undefined || isRefused) return
  const given: WorkerStart = { modules: [module, compute().module], env, job, scratch: scratch.byteOffset }
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
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MEGABYTES }
  const worker = new Worker(WORKER, { eval: true, workerData, execArgv: [], env: {}, resourceLimits })
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

/** Calls `count` workers; the job must be open. */
export function wakeWorkers(header: Int32Array, count: number): void {
  Atomics.add(header, WORDS.wake, 1)
  // A worker that says so after this look finds that the word has changed, and does not sleep.
  if (Atomics.load(header, WORDS.asleep) > 0) Atomics.notify(header, WORDS.wake, count)
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
