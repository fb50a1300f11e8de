import { fewRowsByPanels } from './few-rows'
import { EDGE, rowsByPanel } from './gemm'
import { fma, loadSome, splat, storeSome } from './simd'
import { AFFINE, CLIP, unarySpan } from './unary'

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
  /** Steps of each sequence, whole numbers of 32 bits. */
  lengths: usize
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
  /** Whether sequences have lengths; else each has all steps. */
  hasLengths: u32
  /** Whether hidden states of all steps are asked for, which are zeros beyond the end of a sequence. */
  hasSteps: u32
  /** Bound of what the functions of gates are given; Infinity where there is none. */
  clip: f32
  /** LSTM: whether the forget gate is 1 minus the input gate. */
  couplesForget: u32
  /** LSTM: whether states are rounded to 8 bits before weights multiply them; a block has all sequences then. */
  roundsState: u32
  /** LSTM: where the gates lie in a row. */
  inputGate: usize
  outputGate: usize
  forgetGate: usize
  cellGate: usize
  // For each direction three functions of ./unary.ts follow: number and parameters, three words each.
}

const FUNCTION_BYTES: usize = 12
// Places of the functions that the specification calls f, g and h.
const OF_GATES: usize = 0
const OF_CELL: usize = FUNCTION_BYTES
const OF_STATE: usize = 2 * FUNCTION_BYTES

/** A block: its sequences in one direction. */
let functions: usize = 0
let clip: f32 = 0
let lengths: usize = 0
let count: u32 = 0
let gates: usize = 0
let weights: usize = 0
let h: usize = 0
let c: usize = 0
let y: usize = 0
let own: usize = 0
let isReverse: bool = false
/** Sequences that take part in a step, and maybe others between them: from `first` to `past` - 1. */
let first: u32 = 0
let past: u32 = 0

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
  functions = changetype<usize>(args) + offsetof<RecurrentArguments>() + direction * 3 * FUNCTION_BYTES
  clip = args.clip
  lengths = args.hasLengths ? args.lengths + (row << 2) : 0
}

/** Whether sequence `b` of the block has step `t`. */
// @ts-ignore: decorator
@inline
function takesPart(b: u32, t: u32): bool {
  return lengths == 0 || load<u32>(lengths + (b << 2)) > t
}

/** Finds the sequences that take part in step `t`. */
function enterStep(t: u32): void {
  first = 0
  past = count
  if (lengths == 0) return
  while (past > 0 && !takesPart(past - 1, t)) past--
  while (first < past && !takesPart(first, t)) first++
}

/** What is asked for of step `t` is zeros where a sequence has ended. */
function clearOthers(args: RecurrentArguments, t: u32, bytes: usize): void {
  if (lengths == 0 || args.hasSteps == 0) return
  for (let b: u32 = 0; b < count; b++) {
    if (!takesPart(b, t)) memory.fill(y + t * args.yStep + b * args.yRow, 0, bytes)
  }
}

/** Applies the function at place `which` where the elements lie, after the clip. */
function activate(which: usize, x: usize, bytes: usize): void {
  if (clip < Infinity) unarySpan(CLIP, x, x, bytes, -clip, clip)
  apply(which, x, x, bytes)
}

function apply(which: usize, x: usize, y: usize, bytes: usize): void {
  const fn = functions + which
  unarySpan(load<i32>(fn), x, y, bytes, load<f32>(fn, 4), load<f32>(fn, 8))
}

/** to += from [count][hidden] times panels of weights, for the sequences from `first` to `past` - 1. */
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
  const rows = past - first
  if (rows == 0) return
  from += first * row
  to += first * toRow
  const done = rows < 4 ? fewRowsByPanels(from, row, 4, panels, to, toRow, rows, columns >> 3, hidden, true, edge) : 0
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
      rows,
      min<u32>(8, columns - n),
      hidden,
      true,
      edge
    )
  }
}

/** LSTM. */
export function lstm(args: RecurrentArguments, scratch: usize, from: u32, to: u32): void {
  const hidden = <usize>args.hidden
  const bytes = hidden << 2
  const apart = scratch + EDGE
  for (let block = from; block < to; block++) {
    enter(args, block, 3)
    for (let s = args.first; s < args.end; s++) {
      const t = isReverse ? args.steps - 1 - s : s
      const g = gates + t * args.gatesStep
      enterStep(t)
      if (args.roundsState) roundStates(h, apart, count * bytes)
      addProduct(args.roundsState ? apart : h, hidden, weights, args.hidden << 2, g, args.gatesRow, scratch)
      for (let b = first; b < past; b++) {
        if (!takesPart(b, t)) continue
        lstmCell(args, g + b * args.gatesRow, bytes, c + b * bytes, h + b * bytes, y + t * args.yStep + b * args.yRow)
      }
      clearOthers(args, t, bytes)
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
  } else activate(OF_GATES, output, bytes)
  activate(OF_GATES, input, bytes)
  if (args.couplesForget) unarySpan(AFFINE, input, forget, bytes, -1, 1)
  else activate(OF_GATES, forget, bytes)
  activate(OF_CELL, cell, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    const kept = f32x4.mul(loadSome(forget + at, isVector), loadSome(c + at, isVector))
    const next = fma(kept, loadSome(input + at, isVector), loadSome(cell + at, isVector))
    at += storeSome(c + at, next, isVector)
  }
  // The output gate sees the new state.
  if (args.hasOwn) {
    addPeephole(output, own + bytes, c, bytes)
    activate(OF_GATES, output, bytes)
  }
  apply(OF_STATE, c, h, bytes)
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

/** GRU; gates in the order update, reset, hidden. */
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
      enterStep(t)
      addProduct(h, hidden, weights, args.hidden << 1, g, args.gatesRow, scratch)
      for (let b = first; b < past; b++) activate(OF_GATES, g + b * args.gatesRow, 2 * bytes)
      if (isLinear) {
        for (let b = first; b < past; b++) {
          if (args.hasOwn) memory.copy(apart + b * bytes, own, bytes)
          else memory.fill(apart + b * bytes, 0, bytes)
        }
        addProduct(h, hidden, weights + panels, args.hidden, apart, bytes, scratch)
      } else {
        for (let b = first; b < past; b++)
          resetState(g + b * args.gatesRow + bytes, h + b * bytes, apart + b * bytes, bytes)
        addProduct(apart, hidden, weights + panels, args.hidden, g + 2 * bytes, args.gatesRow, scratch)
      }
      for (let b = first; b < past; b++) {
        if (!takesPart(b, t)) continue
        gruCell(
          g + b * args.gatesRow,
          isLinear ? apart + b * bytes : 0,
          bytes,
          h + b * bytes,
          y + t * args.yStep + b * args.yRow
        )
      }
      clearOthers(args, t, bytes)
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
  activate(OF_CELL, fresh, bytes)
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
      enterStep(t)
      addProduct(h, hidden, weights, args.hidden, g, args.gatesRow, scratch)
      for (let b = first; b < past; b++) {
        if (!takesPart(b, t)) continue
        rnnCell(g + b * args.gatesRow, bytes, h + b * bytes, y + t * args.yStep + b * args.yRow)
      }
      clearOthers(args, t, bytes)
    }
  }
}

function rnnCell(g: usize, bytes: usize, h: usize, y: usize): void {
  activate(OF_GATES, g, bytes)
  for (let at: usize = 0; at < bytes;) {
    const isVector = at + 16 <= bytes
    at += storeState(h + at, y + at, loadSome(g + at, isVector), isVector)
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
