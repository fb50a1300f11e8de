import { KERNELS as BINARY } from './binaries.js'

/** Numbers of the kernels by which a job names one; see `run` in assembly/index.ts. */
export const KERNELS = { rows: 0, elements: 1, columns: 2, tuples: 3, tree: 4 } as const

/** What the WebAssembly module exports; see assembly/index.ts. Addresses and lengths are in bytes. */
export interface Kernels {
  /** Zeroes `length` bytes. */
  zero(at: number, length: number): void
  /** Computes the output blocks `from … to-1` of a job; not 0 when the kernel stopped at a value it cannot serve. */
  run(job: number, scratch: number, from: number, to: number): number
  /** Computes tiles of a job until none is left. */
  work(job: number, scratch: number): void
}

export interface Wasm {
  readonly memory: WebAssembly.Memory
  readonly module: WebAssembly.Module
  readonly kernels: Kernels
  /** The memory as it is now: another object each time that it has grown. */
  buffer: ArrayBufferLike
}

/** Most pages of 64 KiB that the memory may have: 4 GiB. */
const MAX_PAGES = 65536

/** The kernels once they have been asked for; `none` where there are none. */
let state: Wasm | 'none' | undefined
/** Every buffer object that the memory has had: views of older ones stay valid. */
const buffers = new WeakSet<object>()

/**
 * The kernels and their memory, made when first asked for; undefined without shared memory, or with
 * `NODEWISE_KERNELS=ts`.
 */
export function wasm(): Wasm | undefined {
  state ??= switchedOff() ? 'none' : instantiate()
  return state === 'none' ? undefined : state
}

/** Whether a buffer is the memory of the kernels. */
export const isWasmBuffer = (buffer: ArrayBufferLike): boolean =>
  typeof state === 'object' && (buffer === state.buffer || buffers.has(buffer))

/** Grows the memory to at least `bytes`; false when it cannot grow so far. */
export function growMemory(to: Wasm, bytes: number): boolean {
  const pages = Math.ceil((bytes - to.buffer.byteLength) / 65536)
  if (pages <= 0) return true
  try {
    to.memory.grow(pages)
  } catch {
    return false
  }
  to.buffer = to.memory.buffer
  buffers.add(to.buffer)
  return true
}

const switchedOff = (): boolean => typeof process === 'object' && process.env?.NODEWISE_KERNELS === 'ts'

function instantiate(): Wasm | 'none' {
  try {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES, shared: true })
    const module = new WebAssembly.Module(Uint8Array.from(atob(BINARY), char => char.charCodeAt(0)))
    const { exports } = new WebAssembly.Instance(module, { env: { memory } })
    const { buffer } = memory
    buffers.add(buffer)
    return { memory, module, kernels: exports as unknown as Kernels, buffer }
  } catch {
    return 'none'
  }
}
