import { rowsByPanel } from './gemm'
import { fma, sigmoid, splat, tanh } from './simd'

/**
 * One direction of a recurrent layer over all steps. `gates` hold the inputs times their weights with all biases added,
 * [steps][batch][gates * hidden], and are changed. Recurrent weights lie in panels of eight columns, [gates * hidden / 8][hidden][8].
 */
@unmanaged
export class RecurrentArguments {
  gates: usize
  weights: usize
  /** GRU: bias of the recurrent part of the hidden gate, [hidden], which is added before the reset. */
  recurrentBias: usize
  /** Last states, [batch][hidden]: before the first step and after the last one. */
  h: usize
  c: usize
  y: usize
  hasRecurrentBias: u32
  /** Bytes of y from one step to the next and from one sequence of the batch to the next. */
  yStep: usize
  yRow: usize
  steps: u32
  batch: u32
  hidden: u32
  isReverse: u32
}

/** LSTM with sigmoid and tanh; gates in the order input, output, forget, cell. */
export function lstm(args: RecurrentArguments, scratch: usize): void {
  const batch = args.batch, hidden = <usize>args.hidden
  const row = hidden << 4
  for (let s: u32 = 0; s < args.steps; s++) {
    const t = args.isReverse ? args.steps - 1 - s : s
    const gates = args.gates + <usize>(t * batch) * row
    addRecurrent(args, gates, row, 0, <u32>hidden << 2, args.h, scratch)
    for (let b: u32 = 0; b < batch; b++) {
      const state = <usize>b * hidden << 2
      lstmCell(gates + b * row, hidden << 2, args.c + state, args.h + state, args.y + t * args.yStep + b * args.yRow)
    }
  }
}

/** gates[:, first … first + columns) += h times the panels of these columns. */
// @ts-ignore: decorator
@inline
function addRecurrent(args: RecurrentArguments, gates: usize, row: usize, first: u32, columns: u32, h: usize, scratch: usize): void {
  const depth = <usize>args.hidden
  for (let n = first; n < first + columns; n += 8) {
    rowsByPanel(h, depth << 2, 4, depth << 4, args.weights + (<usize>n * depth << 2), gates + (n << 2), row, args.batch, min<u32>(8, first + columns - n), depth, true, scratch)
  }
}

function lstmCell(gates: usize, bytes: usize, c: usize, h: usize, y: usize): void {
  const whole = bytes & ~15
  let at: usize = 0
  for (; at < whole; at += 16) {
    const g = gates + at
    const next = fma(f32x4.mul(sigmoid(v128.load(g)), tanh(v128.load(g + 3 * bytes))), sigmoid(v128.load(g + 2 * bytes)), v128.load(c + at))
    const out = f32x4.mul(sigmoid(v128.load(g + bytes)), tanh(next))
    v128.store(c + at, next); v128.store(h + at, out); v128.store(y + at, out)
  }
  for (; at < bytes; at += 4) {
    const g = gates + at
    const next = fma(f32x4.mul(sigmoid(v128.load32_splat(g)), tanh(v128.load32_splat(g + 3 * bytes))), sigmoid(v128.load32_splat(g + 2 * bytes)), v128.load32_splat(c + at))
    const out = f32x4.extract_lane(f32x4.mul(sigmoid(v128.load32_splat(g + bytes)), tanh(next)), 0)
    f32.store(c + at, f32x4.extract_lane(next, 0)); f32.store(h + at, out); f32.store(y + at, out)
  }
}

/**
 * GRU with sigmoid and tanh, linear_before_reset; gates in the order update, reset, hidden. The hidden gate's recurrent part stays apart,
 * since it is multiplied by the reset gate.
 */
export function gru(args: RecurrentArguments, scratch: usize): void {
  const batch = args.batch, hidden = <usize>args.hidden, bytes = hidden << 2
  const row = bytes * 3
  const apart = scratch + 128
  for (let s: u32 = 0; s < args.steps; s++) {
    const t = args.isReverse ? args.steps - 1 - s : s
    const gates = args.gates + <usize>(t * batch) * row
    for (let b: u32 = 0; b < batch; b++) {
      memory.fill(apart + b * row, 0, 2 * bytes)
      if (args.hasRecurrentBias) memory.copy(apart + b * row + 2 * bytes, args.recurrentBias, bytes)
      else memory.fill(apart + b * row + 2 * bytes, 0, bytes)
    }
    addRecurrent(args, apart, row, 0, <u32>hidden * 3, args.h, scratch)
    for (let b: u32 = 0; b < batch; b++) {
      gruCell(gates + b * row, apart + b * row, bytes, args.h + <usize>b * bytes, args.y + t * args.yStep + b * args.yRow)
    }
  }
}

function gruCell(gates: usize, recurrent: usize, bytes: usize, h: usize, y: usize): void {
  for (let at: usize = 0; at < bytes; at += 4) {
    const isVector = at + 16 <= bytes
    const g = gates + at, r = recurrent + at
    const update = sigmoid(f32x4.add(part(g, isVector), part(r, isVector)))
    const reset = sigmoid(f32x4.add(part(g + bytes, isVector), part(r + bytes, isVector)))
    const candidate = tanh(fma(part(g + 2 * bytes, isVector), reset, part(r + 2 * bytes, isVector)))
    const out = fma(f32x4.mul(f32x4.sub(splat(1), update), candidate), update, part(h + at, isVector))
    if (isVector) { v128.store(h + at, out); v128.store(y + at, out); at += 12 }
    else { const one = f32x4.extract_lane(out, 0); f32.store(h + at, one); f32.store(y + at, one) }
  }
}

// @ts-ignore: decorator
@inline
function part(at: usize, isVector: bool): v128 {
  return isVector ? v128.load(at) : v128.load32_splat(at)
}
