import { isEarlyV8, withRelaxedSimd } from '../host.ts'
import { computingBytes, gatheringBytes } from './modules.ts'

/** Numbers of the kernels in assembly/index.ts, by which a job names one; see `run` there. */
const GATHER = { rows: 0, elements: 1, columns: 2, tuples: 3, tree: 4 } as const
/** Numbers of the kernels in assembly/compute.ts. Any free one may be taken: gaps mean nothing. */
const COMPUTING = {
  matrix: 0,
  conv: 1,
  depthwise: 2,
  winograd: 3,
  unary: 4,
  binary: 5,
  softmax: 6,
  layerNorm: 7,
  rmsNorm: 8,
  reduce: 9,
  transpose: 10,
  pool: 11,
  lstm: 12,
  gru: 13,
  rnn: 14,
  gate: 15,
  winogradLines: 16,
  fewOutputs: 17,
  groupNorm: 20,
  channelNorm: 21,
  channelGroups: 22,
  channelRows: 23,
  regions: 30,
  sampleGrid: 31,
  sampleCubic: 32,
  sampleNearest: 33,
  lines: 40,
  convTranspose: 41,
  compare: 42,
  choose: 43,
  convert: 44,
  best: 45,
  resampleRows: 46,
  resampleLines: 47,
  takeRows: 48,
  highest: 49,
  byteProduct: 50,
  quantize: 51,
  dequantize: 52,
  range: 53,
  coded: 54,
  byteConv: 55,
  byteDepthwise: 56,
  byteTable: 57,
  byteMaxPool: 58,
  byteBinary: 59,
  attention: 60,
  byteWinograd: 61,
  rotate: 62,
  dynamicCodes: 63,
  byteMean: 70,
  byteMeanPool: 71,
  byteSoftmax: 72,
  extremes: 73,
  roundCodes: 74,
  levels: 75,
  arithmetic: 80,
  scatter: 81,
  sine: 82,
  strided: 83,
  wideReduce: 84,
  wideProduct: 85,
  response: 86,
  distances: 87,
  cumulate: 88,
  wideBest: 89,
  fold: 90,
  transcendental: 91,
  padding: 92,
  scatterTuples: 93,
  trees: 94,
  top: 95,
  narrowBest: 96,
  foldHalves: 97,
  wideSoftmax: 98,
  reverse: 99,
  count: 100,
  deform: 101,
  wideTop: 102,
  determinant: 103,
  votes: 104,
  bags: 105,
  fourier: 106,
  wideRows: 107,
  shortTop: 108,
  packPanels: 110,
  packStrips: 111,
  packWinograd: 112,
  packLines: 113,
  packHalfPanels: 114,
  packBytePanels: 115,
  packByteStrips: 116,
  packDotStrips: 117,
  packByteWinograd: 118,
  interleave: 119
} as const
export type KernelName = keyof typeof GATHER | keyof typeof COMPUTING
/** Where a kernel is: the number of its module, as workers know it, and its own number there. */
export type KernelNumber = readonly [module: 0 | 1, kernel: number]
export const KERNELS = Object.fromEntries([
  ...Object.entries(GATHER).map(([name, kernel]) => [name, [0, kernel]]),
  ...Object.entries(COMPUTING).map(([name, kernel]) => [name, [1, kernel]])
]) as Readonly<Record<KernelName, KernelNumber>>

/** What every module exports to run jobs; see assembly/. Addresses and lengths are in bytes. */
export interface JobRunner {
  /** Computes the output blocks `from … to-1` of a job; not 0 when the kernel stopped at a value it cannot serve. */
  run(job: number, scratch: number, from: number, to: number): number
  /**
   * Computes the next tile of a job; 0 where none was left, and where the kernel has stopped.
   * @param isNew whether something else may have used the scratch memory since the last tile
   */
  step(job: number, scratch: number, isNew: boolean): number
  /** Computes tiles of a job until none is left, the first of them that which `enter` gave a worker; then leaves it. */
  join(job: number, scratch: number, first: number): void
}

/** Exports of the module that gathers. */
export interface Kernels extends JobRunner {
  /** Zeroes `length` bytes. */
  zero(at: number, length: number): void
  /** Has a worker join a job, of whichever module: its first tile, or -1 where it has left the job again. */
  enter(job: number): number
}

/** Exports of the module that computes with float32 and with bytes. */
export interface Compute extends JobRunner {
  /** The sum of `sum` and the products of the four bytes of `a` and `b`, as relaxed SIMD adds them; else 0. */
  dot(a: number, b: number, sum: number): number
  /** Float16, or bfloat16 where `isBrain` is 1, to float32 and back; see assembly/f16/halves.ts. */
  widenHalves(from: number, to: number, count: number, isBrain: number): void
  narrowHalves(from: number, to: number, count: number, isBrain: number): void
}

/** A module and its exports for the calling thread. */
export interface Loaded<E> {
  readonly module: WebAssembly.Module
  readonly exports: E
}

/** What the modules import. */
export interface Imports extends Record<string, WebAssembly.ImportValue> {
  readonly memory: WebAssembly.Memory
  /** Whether the engine is the V8 of Node 20; see assembly/engine.ts. */
  readonly isEarlyV8: number
}

export interface Wasm {
  readonly env: Imports
  readonly module: WebAssembly.Module
  readonly kernels: Kernels
  /** The module that computes, made when first asked for. */
  readonly compute: () => Loaded<Compute>
  /** Whether that module has been made, which takes some milliseconds. */
  readonly canCompute: () => boolean
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
  state ??= wanted() === 'ts' ? 'none' : instantiate()
  return state === 'none' ? undefined : state
}

/** Whether the module that computes has been made, which takes some milliseconds. */
export const isComputeMade = (): boolean => typeof state === 'object' && state.canCompute()

/** Whether a buffer is the memory of the kernels. */
export const isWasmBuffer = (buffer: ArrayBufferLike): boolean =>
  typeof state === 'object' && (buffer === state.buffer || buffers.has(buffer))

/** Grows the memory to at least `bytes`; false when it cannot grow so far. */
export function growMemory(to: Wasm, bytes: number): boolean {
  const pages = Math.ceil((bytes - to.buffer.byteLength) / 65536)
  if (pages <= 0) return true
  try {
    to.env.memory.grow(pages)
  } catch {
    return false
  }
  to.buffer = to.env.memory.buffer
  buffers.add(to.buffer)
  return true
}

/** Which kernels are wanted: `ts` for the reference alone, `plain` for those without relaxed SIMD. */
const wanted = (): string | undefined => (typeof process === 'object' ? process.env?.NODEWISE_KERNELS : undefined)

function instantiate(): Wasm | 'none' {
  try {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES, shared: true })
    const env: Imports = { memory, isEarlyV8: Number(isEarlyV8) }
    const { module, exports } = load<Kernels>(gatheringBytes(), env)
    const { buffer } = memory
    buffers.add(buffer)
    let compute: Loaded<Compute> | undefined
    return {
      env,
      module,
      kernels: exports,
      buffer,
      compute: () => (compute ??= loadCompute(env)),
      canCompute: () => compute !== undefined
    }
  } catch {
    return 'none'
  }
}

function load<E>(bytes: Uint8Array<ArrayBuffer>, env: Imports): Loaded<E> {
  const module = new WebAssembly.Module(bytes)
  return { module, exports: new WebAssembly.Instance(module, { env }).exports as E }
}

/** 1 + 2^-12 and -1 - 2^-11 as bytes of float32. The former's square and the latter make 2^-24; 0 if it is rounded. */
const FACTOR = [0, 8, 128, 63]
const LESS = [0, 16, 128, 191]

/** A module of one function, which multiplies the factor by itself and adds, with relaxed SIMD. */
const MULTIPLY_ADD = Uint8Array.from([
  ...[0, 97, 115, 109, 1, 0, 0, 0], // version 1
  ...[1, 5, 1, 96, 0, 1, 125], // type: () -> f32
  ...[3, 2, 1, 0], // one function of this type
  ...[7, 5, 1, 1, 102, 0, 0], // exported as f
  ...[10, 31, 1, 29, 0, ...[FACTOR, FACTOR, LESS].flatMap(bytes => [67, ...bytes, 253, 19])], // splats
  ...[253, 133, 2, 253, 31, 0, 11] // relaxed_madd, the first lane, end
])

/**
 * Whether the engine compiles relaxed SIMD at this moment, and has a fused multiply-add. Without one, as on processors
 * of x64 without FMA, it rounds the product first, which functions of the relaxed module do not expect.
 */
export function hasFusedMultiplyAdd(): boolean {
  if (!WebAssembly.validate(MULTIPLY_ADD)) return false
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MULTIPLY_ADD))
  return (exports.f as () => number)() !== 0
}

/** The module with fused multiply-add where the engine has it, else the plain one. */
function loadCompute(env: Imports): Loaded<Compute> {
  const loaded = (isRelaxed: boolean): Loaded<Compute> => load(computingBytes(isRelaxed), env)
  if (wanted() === 'plain') return loaded(false)
  return hasFusedMultiplyAdd() ? loaded(true) : withRelaxedSimd(() => loaded(hasFusedMultiplyAdd()))
}
