import { fewRowsByPanels } from './few-rows'
import { EDGE, rowsByPanel } from './gemm'
import { sigmoidSpan } from './logistic'
import { fma, loadSome, splat, storeSome } from './simd'
import { tanhSpan } from './tanh'

/**
 * Steps of a recurrent layer. A block is some sequences of the batch in one direction. `gates` hold the inputs times
 * their weights with biases added, and are changed. All steps and offsets are in bytes.
 */
@unmanaged
export class RecurrentArguments {
  gates: usize
  /** For each direction panels of eight columns, [columns / 8][hidden][8]; GRU: those of the hidden gate apart. */
  weights: usize
  /**
   * GRU with linear_before_reset: bias of the recurrent part of the hidden gate, [directions][hidden]. LSTM: peepholes
   * of the gates input, output and forget, [directions][3][hidden].
   */
  own: usize
  /** States before the first step and after the last one, [directions][batch][hidden]; c only for LSTM. */
  h: usize
  c: usize
  /** Hidden states of all steps. They may lie where the first gate does. */
  y: usize
  weightsDirection: usize
  gatesStep: usize
  gatesRow: usize
  gatesDirection: usize
  yStep: usize
  yRow: usize
  yDirection: usize
  /** Steps of a sequence, and those to be computed, in the order of the direction. */
  steps: u32
  first: u32
  end: u32
  batch: u32
  hidden: u32
  /** Sequences of a block. */
  rows: u32
  /** One bit for each direction that begins with the last step. */
  reverse: u32
  /** Whether there is a bias, or are peepholes. */
  hasOwn: u32
  /** GRU: whether the reset gate multiplies the product with the state instead of the state. */
  linearBeforeReset: u32
  /** RNN: two bits for each direction, 0 tanh, 1 ReLU, 2 sigmoid. */
  functions: u32
  /** LSTM: whether states are rounded to 8 bits before weights multiply them; a block has all sequences then. */
  roundsState: u32
  /** LSTM: where the gates lie in a row. */
  inputGate: usize
  outputGate: usize
  forgetGate: usize
  cellGate: usize
}

const RELU: u32 = 1
const SIGMOID: u32 = 2

/** A block: its sequences in one direction. */
let activation: u32 = 0
let count: u32 = 0
let gates: usize = 0
let weights: usize = 0
let h: usize = 0
let c: usize = 0
let y: usize = 0
let own: usize = 0
let isReverse: bool = false

/**
 * Works out where the arrays of a block lie.
 * @param perDirection rows of hidden elements that a direction has of its own
 */
function enter(args: RecurrentArguments, block: u32, perDirection: u32): void {
  const blocks = (args.batch + args.rows - 1) / args.rows
  const direction = block / blocks
  const row = (block % blocks) * args.rows
  const state = (<usize>(direction * args.batch + row) * args.hidden) << 2
  count = min(args.rows, args.batch - row)
  gates = args.gates + direction * args.gatesDirection + row * args.gatesRow
  weights = args.weights + direction * args.weightsDirection
  h = args.h + state
  c = args.c + state
  y = args.y + direction * args.yDirection + row * args.yRow
  own = args.own + ((<usize>direction * perDirection * args.hidden) << 2)
  isReverse = ((args.reverse >> direction) & 1) != 0
  activation = (args.functions >> (direction << 1)) & 3
}

/** to += from [count][hidden] times panels of weights. */
function addProduct(
  from: usize,
  hidden: usize,
  panels: usize,
  columns: u32,
  to: usize,
  toRow: usize,
  edge: usize
): void {
  const row = hidden << 2
  const panel = hidden << 5
  const done = count < 4 ? fewRowsByPanels(from, row, 4, panels, to, toRow, count, columns >> 3, hidden, true, edge) : 0
  panels += done * panel
  for (let n = done << 3; n < columns; n += 8, panels += panel) {
    rowsByPanel(
      from,
      row,
      4,
      row << 2,
      panels,
      to + (n << 2),
      toRow,
      count,
      min<u32>(8, columns - n),
      hidden,
      true,
      edge
    )
  }
}

/** LSTM with sigmoid and tanh. */
export function lstm(args: RecurrentArguments, scratch: usize, from: u32, to: u32): void {
  const hidden = <usize>args.hidden
  const bytes = hidden << 2
  const apart = scratch + EDGE
  for (let block = from; block < to; block++) {
    enter(args, block, 3)
    for (let s = args.first; s < args.end; s++) {
      const t = isReverse ? args.steps - 1 - s : s
      const g = gates + t * args.gatesStep
      if (args.roundsState) roundStates(h, apart, count * bytes)
      addProduct(args.roundsState ? apart : h, hidden, weights, args.hidden << 2, g, args.gatesRow, scratch)
      for (let b: u32 = 0; b < count; b++) {
        lstmCell(args, g + b * args.gatesRow, bytes, c + b * bytes, h + b * bytes, y + t * args.yStep + b * args.yRow)
      }
    }
  }
}

/**
 * Numbers rounded to the 256 levels of their range, which includes 0, as DynamicQuantizeLinear and DequantizeLinear
 * do.
 */
function roundStates(from: usize, to: usize, bytes: usize): void {
  let lowest = splat(0)
  let highest = splat(0)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const x = loadSome(from + at, isVector)
    lowest = f32x4.min(lowest, x)
    highest = f32x4.max(highest, x)
    at += isVector ? 16 : 4
  }
  lowest = f32x4.min(lowest, i32x4.shuffle(lowest, lowest, 2, 3, 0, 1))
  highest = f32x4.max(highest, i32x4.shuffle(highest, highest, 2, 3, 0, 1))
  const low = min(f32x4.extract_lane(lowest, 0), f32x4.extract_lane(lowest, 1))
  const high = max(f32x4.extract_lane(highest, 0), f32x4.extract_lane(highest, 1))
  const scale: f32 = (low == high ? <f32>1 : high - low) / 255
  const zero = splat(nearest<f32>(max<f32>(0, min<f32>(255, -low / scale))))
  const step = splat(scale)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const code = f32x4.add(f32x4.nearest(f32x4.div(loadSome(from + at, isVector), step)), zero)
    const held = f32x4.max(splat(0), f32x4.min(splat(255), code))
    at += storeSome(to + at, f32x4.mul(f32x4.sub(held, zero), step), isVector)
  }
}

/** Gates are activated where they lie: a span of one function takes less time than all functions of one vector. */
function lstmCell(args: RecurrentArguments, g: usize, bytes: usize, c: usize, h: usize, y: usize): void {
  const input = g + args.inputGate
  const output = g + args.outputGate
  const forget = g + args.forgetGate
  const cell = g + args.cellGate
  if (args.hasOwn) {
    addPeephole(input, own, c, bytes)
    addPeephole(forget, own + 2 * bytes, c, bytes)
  } else sigmoidSpan(output, output, bytes)
  sigmoidSpan(input, input, bytes)
  sigmoidSpan(forget, forget, bytes)
  tanhSpan(cell, cell, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const kept = f32x4.mul(loadSome(forget + at, isVector), loadSome(c + at, isVector))
    const next = fma(kept, loadSome(input + at, isVector), loadSome(cell + at, isVector))
    at += storeSome(c + at, next, isVector)
  }
  // The output gate sees the new state.
  if (args.hasOwn) {
    addPeephole(output, own + bytes, c, bytes)
    sigmoidSpan(output, output, bytes)
  }
  tanhSpan(c, h, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const out = f32x4.mul(loadSome(output + at, isVector), loadSome(h + at, isVector))
    at += storeState(h + at, y + at, out, isVector)
  }
}

/** A gate sees the cell state, each element times a weight. */
function addPeephole(gate: usize, weights: usize, c: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const sum = fma(loadSome(gate + at, isVector), loadSome(weights + at, isVector), loadSome(c + at, isVector))
    at += storeSome(gate + at, sum, isVector)
  }
}

/** GRU with sigmoid and tanh; gates in the order update, reset, hidden. */
export function gru(args: RecurrentArguments, scratch: usize, from: u32, to: u32): void {
  const hidden = <usize>args.hidden
  const bytes = hidden << 2
  const panels = (<usize>((args.hidden * 2 + 7) >> 3) * hidden) << 5
  const apart = scratch + EDGE
  const isLinear = args.linearBeforeReset != 0
  for (let block = from; block < to; block++) {
    enter(args, block, 1)
    for (let s = args.first; s < args.end; s++) {
      const t = isReverse ? args.steps - 1 - s : s
      const g = gates + t * args.gatesStep
      addProduct(h, hidden, weights, args.hidden << 1, g, args.gatesRow, scratch)
      for (let b: u32 = 0; b < count; b++) sigmoidSpan(g + b * args.gatesRow, g + b * args.gatesRow, 2 * bytes)
      if (isLinear) {
        for (let b: u32 = 0; b < count; b++) {
          if (args.hasOwn) memory.copy(apart + b * bytes, own, bytes)
          else memory.fill(apart + b * bytes, 0, bytes)
        }
        addProduct(h, hidden, weights + panels, args.hidden, apart, bytes, scratch)
      } else {
        for (let b: u32 = 0; b < count; b++)
          resetState(g + b * args.gatesRow + bytes, h + b * bytes, apart + b * bytes, bytes)
        addProduct(apart, hidden, weights + panels, args.hidden, g + 2 * bytes, args.gatesRow, scratch)
      }
      for (let b: u32 = 0; b < count; b++) {
        gruCell(
          g + b * args.gatesRow,
          isLinear ? apart + b * bytes : 0,
          bytes,
          h + b * bytes,
          y + t * args.yStep + b * args.yRow
        )
      }
    }
  }
}

/** The state times the reset gate. */
function resetState(gate: usize, h: usize, to: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    at += storeSome(to + at, f32x4.mul(loadSome(gate + at, isVector), loadSome(h + at, isVector)), isVector)
  }
}

/**
 * @param g gates, of which update and reset are activated
 * @param recurrent what the reset gate multiplies; 0 where it has multiplied the state
 */
function gruCell(g: usize, recurrent: usize, bytes: usize, h: usize, y: usize): void {
  const reset = g + bytes
  const fresh = reset + bytes
  if (recurrent != 0) {
    for (let at: usize = 0; at < bytes;) {
      const isVector = at + 16 <= bytes
      const from = loadSome(recurrent + at, isVector)
      const gated = fma(loadSome(fresh + at, isVector), loadSome(reset + at, isVector), from)
      at += storeSome(fresh + at, gated, isVector)
    }
  }
  tanhSpan(fresh, fresh, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const update = loadSome(g + at, isVector)
    const kept = f32x4.mul(update, loadSome(h + at, isVector))
    const out = fma(kept, f32x4.sub(splat(1), update), loadSome(fresh + at, isVector))
    at += storeState(h + at, y + at, out, isVector)
  }
}

/** A simple recurrence: the state is what the function makes of its one gate. */
export function rnn(args: RecurrentArguments, scratch: usize, from: u32, to: u32): void {
  const hidden = <usize>args.hidden
  const bytes = hidden << 2
  for (let block = from; block < to; block++) {
    enter(args, block, 1)
    for (let s = args.first; s < args.end; s++) {
      const t = isReverse ? args.steps - 1 - s : s
      const g = gates + t * args.gatesStep
      addProduct(h, hidden, weights, args.hidden, g, args.gatesRow, scratch)
      for (let b: u32 = 0; b < count; b++) {
        rnnCell(g + b * args.gatesRow, bytes, h + b * bytes, y + t * args.yStep + b * args.yRow)
      }
    }
  }
}

function rnnCell(g: usize, bytes: usize, h: usize, y: usize): void {
  if (activation == SIGMOID) sigmoidSpan(g, g, bytes)
  else if (activation != RELU) tanhSpan(g, g, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    let out = loadSome(g + at, isVector)
    if (activation == RELU) out = v128.bitselect(splat(0), out, f32x4.lt(out, splat(0)))
    at += storeState(h + at, y + at, out, isVector)
  }
}

/**
 * Stores the state and the output of the step, four elements or one.
 * @returns bytes to what comes next
 */
// @ts-ignore: decorator
@inline
function storeState(h: usize, y: usize, v: v128, isVector: bool): usize {
  storeSome(h, v, isVector)
  return storeSome(y, v, isVector)
}
