/**
 * What the package needs of Node, and the counterparts in a browser. Node's modules are got by
 * `process.getBuiltinModule` and never imported, so that a browser can load the whole package.
 */

export const isNode = typeof process === 'object' && typeof process.getBuiltinModule === 'function'

/** Whether Node runs on Linux, most often with the C library of GNU. */
export const isLinux = isNode && process.platform === 'linux'

/** Whether the engine is the V8 of Node 20. */
export const isEarlyV8 = isNode && process.versions.v8?.startsWith('11.3.')

/** The most milliseconds that a timer of any engine waits, 25 days: one of more goes off at once. */
export const MAX_DELAY = 2 ** 31 - 1

const builtin = isNode ? process.getBuiltinModule : () => undefined

/** Undefined in a browser, which reads no files. */
export const fs = builtin('node:fs')
export const path = builtin('node:path')
export const { fileURLToPath } = builtin('node:url') ?? {}
const { Buffer } = builtin('node:buffer') ?? {}
const { copy, fill } = Buffer?.prototype ?? {}
/** Asked for only when something is read over a network: they take time to load. */
export const nodeHttp = () => builtin('node:http')
export const nodeHttps = () => builtin('node:https')

/**
 * Milliseconds by a clock that never goes back, since a moment of its own. Node loads modules where somebody first asks
 * for `performance`, which takes milliseconds at every start.
 */
export const clock: () => number = isNode
  ? () => {
      const [seconds, nanoseconds] = process.hrtime()
      return seconds * 1e3 + nanoseconds / 1e6
    }
  : () => performance.now()

let isOfZen5: boolean | undefined

/** Whether the processor is one of AMD, Zen 5 or newer; false where the system does not say so at once. */
export const isZen5 = (): boolean => (isOfZen5 ??= namesZen5(processor()))

/** Whether the text names a processor of AMD of family 26, which is Zen 5, or newer. */
export const namesZen5 = (text: string): boolean =>
  text.includes('AuthenticAMD') && Number(/family[\s:]+(\d+)/i.exec(text)?.[1]) >= 26

/** Text that names maker and family of the processor: on Linux the beginning of what is said of its first core. */
function processor(): string {
  if (!isLinux) return (isNode && process.env.PROCESSOR_IDENTIFIER) || ''
  try {
    const file = fs.openSync('/proc/cpuinfo', 'r')
    try {
      const bytes = new Uint8Array(128)
      return new TextDecoder().decode(bytes.subarray(0, fs.readSync(file, bytes)))
    } finally {
      fs.closeSync(file)
    }
  } catch {
    return ''
  }
}

/** Number of threads that the machine runs at the same time. */
export const parallelism = (): number =>
  isNode ? builtin('node:os').availableParallelism() : navigator.hardwareConcurrency

/**
 * Upper bound of the JavaScript heap, in bytes; 1 GiB in browsers that do not tell. A heap that overflows ends the
 * process.
 */
export function scriptMemory(): number {
  if (isNode) return builtin('node:v8').getHeapStatistics().heap_size_limit
  return (performance as { memory?: { jsHeapSizeLimit: number } }).memory?.jsHeapSizeLimit ?? 2 ** 30
}

/** Resolves after pending events were handled. Browsers use a message channel, as their timers wait for 4 ms. */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise(resolve => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(undefined)
    }
  })

/** Whether two arrays hold the same bytes: in Node by memcmp, elsewhere in a loop. */
export function areSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  if (Buffer) return Buffer.compare(a, b) === 0
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Bytes from which on {@link copyBytes} pays for the views of whole arrays that it needs. */
export const MIN_COPY = 4096
/** Bytes from which on a memcpy of a part takes less time than `set`: that of Node 20 needs a view of the part. */
const MIN_PART = isEarlyV8 ? MIN_COPY : 1024
/**
 * Bytes of a memcpy at most. The C library of GNU copies pieces that fit into half of the cache of a core (512 KiB and
 * more) by the instruction for strings, which does not read the lines that it writes; larger ones take 1.6 times as
 * long a byte on a processor of AMD.
 */
export const COPY_PIECE = 256 << 10

/**
 * Copies the bytes `start … end-1` to position `at`. Engines copy memory that threads share word by word, also where
 * they could take longer steps; a memcpy takes a fourth to a half of the time.
 * @throws RangeError where they do not fit
 */
export function copyBytes(from: Uint8Array, to: Uint8Array, at = 0, start = 0, end = from.length): void {
  const length = end - start
  const isWhole = length === from.length
  if (!Buffer || length < (isWhole ? MIN_COPY : MIN_PART) || at + length > to.length) {
    to.set(isWhole ? from : from.subarray(start, end), at)
    return
  }
  for (let next = start; next < end; next += COPY_PIECE)
    copyPiece(from, to, at + next - start, next, Math.min(end, next + COPY_PIECE))
}

/**
 * One memcpy. To fill a buffer of Node with bytes is one, and from Node 22 on to copy a part of a buffer is one, too,
 * which needs no view of the part. To copy a whole buffer is `set`, and Node 22 and 24 take positions modulo 2^32.
 */
function copyPiece(from: Uint8Array, to: Uint8Array, at: number, start: number, end: number): void {
  const last = at + end - start
  if (end - start === from.length) fill.call(to, from, at, last)
  else if (isEarlyV8 || end > 2 ** 32 || last > 2 ** 32) fill.call(to, from.subarray(start, end), at, last)
  else copy.call(from, to, at, start, end)
}

/**
 * Memory that holds anything, for an array that is written whole before anybody gets it; undefined where there is only
 * memory of zeros. The system zeroes pages that it gives anew; memory that comes back from the collector would be
 * zeroed here.
 */
export function unwrittenMemory(bytes: number): ArrayBuffer | undefined {
  const memory = Buffer?.allocUnsafeSlow(bytes).buffer
  return memory?.byteLength === bytes ? memory : undefined
}

/** What collects objects of the JavaScript heap, and frees the memory of arrays among them before it returns. */
export interface Collector {
  /** Collects young objects: 0.15 ms where few of them live. */
  young(): void
  /** Collects the whole heap. */
  whole(): void
  /**
   * While it is set, a collection of the whole heap, which V8 begins by itself, has the next one begin when the heap
   * has grown to as many bytes; undefined: when V8 finds it right.
   * @param limit more than {@link heapBytes}
   */
  setLimit(limit: number | undefined): void
}

/**
 * The collector of V8; undefined where the engine keeps its own to itself. V8 gives it to contexts that are made while
 * a flag is set. By itself it frees the memory of arrays on another thread, maybe after the next array has been made,
 * which then takes other memory.
 */
export function engineCollector(): Collector | undefined {
  try {
    const collect =
      typeof globalThis.gc === 'function'
        ? globalThis.gc
        : whileFlag('--expose-gc', '--no-expose-gc', () => builtin('node:vm').runInNewContext('gc'))
    const freeing = (run: () => void) =>
      whileFlag('--no-concurrent-array-buffer-sweeping', '--concurrent-array-buffer-sweeping', run)
    const young = () => freeing(() => collect({ type: 'minor' }))
    const setLimit = (limit: number | undefined) => {
      const percent = limit === undefined ? 0 : Math.ceil((100 * limit) / heapBytes()) - 100
      builtin('node:v8').setFlagsFromString(`--heap-growing-percent=${percent}`)
    }
    // Node 20 and newer agree on a collection of the whole heap only where there are no options at all.
    const whole = () => freeing(() => collect())
    // Throws here, and not in a run, where the engine knows neither flags nor such a collection.
    young()
    return { young, whole, setLimit }
  } catch {
    return undefined
  }
}

/** Bytes of the JavaScript heap that objects take, in Node; arrays lie outside. */
export const heapBytes = (): number => builtin('node:v8').getHeapStatistics().used_heap_size

/** Runs a function while V8 has a flag, and then has it take another, which is what it begins with. */
function whileFlag<T>(flag: string, usual: string, run: () => T): T {
  const { setFlagsFromString } = builtin('node:v8')
  setFlagsFromString(flag)
  try {
    return run()
  } finally {
    setFlagsFromString(usual)
  }
}

/**
 * Runs a function while WebAssembly that is compiled may have relaxed SIMD, where the engine has that only by a flag.
 * The V8 of Node 20 does: the version after it needs no flag. What has been compiled needs none either. Its code for
 * other processors than those of x64 has not been tried.
 */
export const withRelaxedSimd = <T>(run: () => T): T =>
  isEarlyV8 && process.arch === 'x64'
    ? whileFlag('--experimental-wasm-relaxed-simd', '--no-experimental-wasm-relaxed-simd', run)
    : run()

/** Lets a signal have any number of listeners; Node warns of more than ten. */
export function allowListeners(signal: AbortSignal): void {
  builtin('node:events')?.setMaxListeners(0, signal)
}
