import { readNumbers, targetOf } from '../kernels/core/numbers.ts'
import { matrix, type Matrix } from '../kernels/matrix/gemm.ts'
import type { Cell, CellSizes, Gates } from '../kernels/recurrent/recurrent-cells.ts'
import { type Layer, runLayer } from '../kernels/recurrent/recurrent.ts'
import { type Numbers, toIndices, toNumbers } from '../tensor/elements.ts'
import { allocate, stridesOf, type Tensor } from '../tensor/tensor.ts'
import type { KernelContext } from './define.ts'
import type { Layout, RecurrentOperands, RecurrentParams } from './recurrent-params.ts'
import { checkLengths } from './recurrent-shape.ts'

/** What the cell of one direction is made of. */
export interface CellParts {
  /** Number of the direction. */
  readonly direction: number
  readonly sizes: CellSizes
  readonly gates: Gates
  readonly h: Float64Array
  readonly c: Float64Array
  /** The biases of this direction as the file has them; undefined where it has none. */
  readonly biases: Float64Array | undefined
  readonly peepholes: Float64Array | undefined
}

/** What RNN, GRU and LSTM differ in when they run. */
export interface Net {
  readonly gateCount: number
  cellOf(parts: CellParts): Cell
  /** The biases that are added to the gates, one for each output of each gate. */
  biasOf(biases: Float64Array): Float64Array
}

/** A tensor and its strides by letter, 0 for axes that it does not have. */
interface Lettered {
  readonly data: Numbers
  stride(letter: string): number
}

function lettered(tensor: { readonly dims: readonly number[] }, data: Numbers, letters: string): Lettered {
  const strides = stridesOf(tensor.dims)
  return { data, stride: letter => (letters.includes(letter) ? strides[letters.indexOf(letter)] : 0) }
}

const viewOf = (tensor: Tensor | undefined, letters: string): Lettered | undefined =>
  tensor && lettered(tensor, toNumbers(tensor), letters)

/** Sizes of a node that runs. */
interface RunSizes extends CellSizes {
  /** Number of time steps. */
  readonly steps: number
  readonly inputSize: number
  /** Outputs of all gates together. */
  readonly gateSize: number
}

/** Operands of a node that runs, as numbers. */
interface Inputs {
  readonly x: Lettered
  readonly w: Numbers
  readonly r: Numbers
  readonly b: Numbers | undefined
  readonly p: Numbers | undefined
  readonly h: Lettered | undefined
  readonly c: Lettered | undefined
}

/**
 * Runs all directions in double precision, and rounds once. Outputs of time steps beyond a sequence's length are zeros,
 * and so are the final states of an empty sequence, as in ONNX Runtime and OpenVINO.
 */
export function* runRecurrent(
  operands: RecurrentOperands<Tensor>,
  p: RecurrentParams,
  net: Net,
  call: KernelContext
): Generator<void> {
  const sizes = runSizes(operands, p.layout, net.gateCount)
  const { steps, batch, hidden } = sizes
  const lengths = operands.lengths ? toIndices(operands.lengths) : allocate('int32', [batch]).data.fill(steps)
  checkLengths(lengths, steps)
  const results = resultsOf(p.layout, call)
  const inputs = yield* readInputs(operands, p.layout)
  const x = { data: inputs.x.data, timeStride: inputs.x.stride('S'), batchStride: inputs.x.stride('B') }
  for (let d = 0; d < p.directions.length; d++) {
    const { layer, cell } = directionOf(inputs, sizes, p, net, d)
    yield* runLayer(layer, x, lengths, cell, (step, active) => {
      if (results.y) copyStep(cell.h, results.y, d, step, active, hidden)
    })
    for (const [values, target] of [
      [cell.h, results.h],
      [cell.c, results.c]
    ] as const) {
      for (let b = 0; b < batch; b++) if (lengths[b] === 0) values?.fill(0, b * hidden, (b + 1) * hidden)
      if (values && target) copyStates(target, d, values, batch, hidden, 'out')
    }
  }
  yield* results.finish()
}

function runSizes({ x, r }: RecurrentOperands<Tensor>, layout: Layout, gateCount: number): RunSizes {
  const sizeOf = (letter: string): number => x.dims[layout.x.indexOf(letter)] ?? 1
  const hidden = r.dims[layout.r.indexOf('H')]
  return { steps: sizeOf('S'), batch: sizeOf('B'), inputSize: sizeOf('I'), hidden, gateSize: gateCount * hidden }
}

function* readInputs(operands: RecurrentOperands<Tensor>, layout: Layout): Generator<void, Inputs> {
  return {
    x: lettered(operands.x, yield* readNumbers(operands.x), layout.x),
    w: yield* readNumbers(operands.w),
    r: yield* readNumbers(operands.r),
    b: operands.b && toNumbers(operands.b),
    p: operands.p && toNumbers(operands.p),
    h: viewOf(operands.h, layout.state),
    c: viewOf(operands.c, layout.state)
  }
}

/** The layer and the cell of direction `d`. */
function directionOf(
  inputs: Inputs,
  { steps, batch, inputSize, hidden, gateSize }: RunSizes,
  { directions, functions, clip }: RecurrentParams,
  { cellOf, biasOf }: Net,
  d: number
): { readonly layer: Layer; readonly cell: Cell } {
  const partOf = (data: Numbers | undefined): Float64Array | undefined => {
    if (data === undefined) return undefined
    const length = data.length / directions.length
    return Float64Array.from(data.subarray(d * length, (d + 1) * length))
  }
  const weightsOf = (data: Numbers, columns: number): Matrix => matrix(data, d * gateSize * columns, columns)
  const stateOf = (view: Lettered | undefined): Float64Array => {
    const values = allocate('float64', [batch, hidden]).data
    if (view) copyStates(view, d, values, batch, hidden, 'in')
    return values
  }
  const biases = partOf(inputs.b)
  const cell = cellOf({
    direction: d,
    sizes: { batch, hidden },
    gates: { recurrence: weightsOf(inputs.r, hidden), functions: functions[d].map(({ loop }) => loop), clip },
    h: stateOf(inputs.h),
    c: stateOf(inputs.c),
    biases,
    peepholes: partOf(inputs.p)
  })
  const layer = {
    steps,
    batch,
    inputSize,
    gateSize,
    reverse: directions[d],
    weights: weightsOf(inputs.w, inputSize),
    bias: biases ? biasOf(biases) : new Float64Array(gateSize)
  }
  return { layer, cell }
}

/** Views of the outputs that are read: all time steps, final hidden state, final cell state. */
interface Results {
  readonly y?: Lettered
  readonly h?: Lettered
  readonly c?: Lettered
  finish(): Generator<void>
}

/** The outputs that anybody reads. */
function resultsOf(layout: Layout, call: KernelContext): Results {
  const names = [...(layout.y === undefined ? [] : ['y' as const]), 'h' as const, 'c' as const]
  const found = names.slice(0, call.outputCount).flatMap((name, i) => {
    if (!call.wanted(i)) return []
    const out = call.output(i)
    const target = targetOf(out)
    return [{ name, target, view: lettered(out, target.numbers, name === 'y' ? (layout.y ?? '') : layout.state) }]
  })
  return {
    ...Object.fromEntries(found.map(({ name, view }) => [name, view])),
    *finish() {
      for (const { target } of found) yield* target.finish()
    }
  }
}

/** Copies the states of direction `d` between a view and rows of `hidden` elements, one for each sequence. */
function copyStates(
  view: Lettered,
  d: number,
  rows: Float64Array,
  batch: number,
  hidden: number,
  direction: 'in' | 'out'
): void {
  for (let b = 0; b < batch; b++) {
    const at = d * view.stride('D') + b * view.stride('B')
    for (let i = 0; i < hidden; i++) {
      if (direction === 'in') rows[b * hidden + i] = view.data[at + i]
      else view.data[at + i] = rows[b * hidden + i]
    }
  }
}

/** Copies the hidden states of the active sequences to one time step of all outputs. */
function copyStep(h: Float64Array, y: Lettered, d: number, step: number, active: Uint8Array, hidden: number): void {
  const start = d * y.stride('D') + step * y.stride('S')
  for (let b = 0; b < active.length; b++) {
    const at = start + b * y.stride('B')
    if (active[b] !== 0) for (let i = 0; i < hidden; i++) y.data[at + i] = h[b * hidden + i]
  }
}
