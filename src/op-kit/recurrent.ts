import { fail } from '../errors.ts'
import type { UnaryLoop } from '../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../kernels/core/numbers.ts'
import type { Matrix } from '../kernels/matrix/gemm.ts'
import type { Cell, CellSizes, Gates } from '../kernels/recurrent/recurrent-cells.ts'
import { runLayer } from '../kernels/recurrent/recurrent.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, mulDims, printDim, printShape, unknownDim } from '../shapes/dim.ts'
import { type Fact, knownValue, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { type Numbers, toIndices, toNumbers } from '../tensor/elements.ts'
import { allocate, stridesOf, type Tensor } from '../tensor/tensor.ts'
import type { KernelContext, ShapeContext } from './define.ts'
import { gateFunctions } from './recurrent-functions.ts'
import {
  type AttributeSource,
  choice,
  derive,
  float,
  floats,
  int,
  mapped,
  type NodeFacts,
  type Source,
  texts
} from './sources.ts'
import { commonType, FLOATS, INTEGERS } from './types.ts'

/** Operands of the recurrent operators; each takes those that it has. */
export interface RecurrentOperands<T> {
  readonly x: T
  readonly w: T
  readonly r: T
  readonly b: T | undefined
  readonly lengths?: T | undefined
  readonly h: T | undefined
  readonly c?: T | undefined
  readonly p?: T | undefined
}

/**
 * Axes of operands and results, a letter each: S steps, B batch, D directions, I input size, H hidden size, G outputs
 * of all
 * gates, N biases, P peephole weights.
 */
export interface Layout {
  readonly x: string
  /** Of the states at the beginning and at the end. */
  readonly state: string
  /** States of all steps; cells have no such result. */
  readonly y?: string
  readonly w: string
  readonly r: string
  readonly b: string
  readonly p: string
}

const WEIGHTS = { w: 'DGI', r: 'DGH', b: 'DN', p: 'DP' }
const STEPS_FIRST: Layout = { x: 'SBI', state: 'DBH', y: 'SDBH', ...WEIGHTS }
const BATCH_FIRST: Layout = { x: 'BSI', state: 'BDH', y: 'BSDH', ...WEIGHTS }
const IR_SEQUENCE: Layout = { x: 'BSI', state: 'BDH', y: 'BDSH', ...WEIGHTS }
const IR_CELL: Layout = { x: 'BI', state: 'BH', w: 'GI', r: 'GH', b: 'N', p: 'P' }

export interface RecurrentParams {
  layout: Layout
  /** For each direction whether it begins with the last step. */
  directions: readonly boolean[]
  /** 0 where the node does not say. */
  hiddenSize: number
  /** Activation functions of each direction. */
  functions: readonly (readonly UnaryLoop[])[]
  /** Infinity: none. */
  clip: number
  /** Biases of input and recurrence apart, one after the other, or their sums. */
  biases: 'apart' | 'summed'
}

const DIRECTIONS = { forward: [false], reverse: [true], bidirectional: [false, true] } as const

type Bind = { readonly [K in keyof RecurrentParams]: Source<RecurrentParams[K]> }

const clip: AttributeSource<number> = mapped(float('clip', 0), bound => (bound > 0 ? bound : Infinity))
const lower = (names: readonly string[]): string[] => names.map(name => name.toLowerCase())

/** Parameters of ONNX. `layout` came with version 14; `direction` of GRU-1 has a misspelt default. */
export const onnxBind = (otherwise: readonly string[]): Bind => {
  const direction = choice('direction', { ...DIRECTIONS, foward: DIRECTIONS.forward })
  return {
    layout: mapped(int('layout', 0), layout => (layout === 0 ? STEPS_FIRST : BATCH_FIRST)),
    directions: direction,
    hiddenSize: int('hidden_size', 0),
    functions: derive(node =>
      gateFunctions({
        names: lower(node.get(texts('activations')) ?? []),
        otherwise,
        directions: node.get(direction)?.length ?? 1,
        alphas: node.get(floats('activation_alpha')),
        betas: node.get(floats('activation_beta'))
      })
    ),
    clip,
    biases: { kind: 'constant', value: 'apart' }
  }
}

const irFunctions = (node: NodeFacts, otherwise: readonly string[], directions: number): UnaryLoop[][] =>
  gateFunctions({
    names: lower(node.get(texts('activations')) ?? []),
    otherwise,
    directions,
    allowed: ['relu', 'sigmoid', 'tanh']
  })

export const irSequenceBind = (otherwise: readonly string[]): Bind => {
  const direction = choice('direction', DIRECTIONS)
  return {
    layout: { kind: 'constant', value: IR_SEQUENCE },
    directions: direction,
    hiddenSize: int('hidden_size', 0),
    functions: derive(node => irFunctions(node, otherwise, node.get(direction)?.length ?? 1)),
    clip,
    biases: { kind: 'constant', value: 'summed' }
  }
}

export const irCellBind = (otherwise: readonly string[]): Bind => ({
  layout: { kind: 'constant', value: IR_CELL },
  directions: { kind: 'constant', value: DIRECTIONS.forward },
  hiddenSize: int('hidden_size', 0),
  functions: derive(node => irFunctions(node, otherwise, 1)),
  clip,
  biases: { kind: 'constant', value: 'summed' }
})

export const IR_TYPES = { x: FLOATS, w: FLOATS, r: FLOATS, b: FLOATS, h: FLOATS, c: FLOATS, lengths: INTEGERS }

/** How many times the hidden size G, N and P are. */
export interface Multiples {
  readonly G: number
  readonly N: number
  readonly P: number
}

const WORDS: Readonly<Record<string, string>> = {
  S: 'number of steps',
  B: 'batch',
  D: 'number of directions',
  I: 'input size',
  H: 'hidden size',
  G: 'gates',
  N: 'biases',
  P: 'peephole weights'
}

/** Sizes by letter, found from whatever operands tell. */
class Sizes {
  private readonly known = new Map<string, Dim>()
  private readonly multiples: Multiples

  constructor(multiples: Multiples) {
    this.multiples = multiples
  }

  of(letter: string): Dim {
    return this.known.get(letter) ?? unknownDim()
  }

  meet(letter: string, dim: Dim, what: string): void {
    const known = this.known.get(letter)
    const met = known === undefined ? dim : meetDims(known, dim)
    if (met === undefined)
      fail('dims-mismatch', `${what} is ${printDim(dim)}; the ${WORDS[letter]} is ${printDim(known!)}`)
    this.known.set(letter, met)
  }

  /** @throws NodewiseError `rank-mismatch`, `dims-mismatch` */
  read(name: string, letters: string, fact: TensorFact | undefined): void {
    const shape = fact?.shape
    if (shape === undefined) return
    if (shape.length !== letters.length)
      fail('rank-mismatch', `${name} has shape ${printShape(shape)}; rank ${letters.length} is expected`)
    shape.forEach((dim, i) => {
      const letter = letters[i]
      if (letter === 'G' || letter === 'N' || letter === 'P') this.readMultiple(letter, dim, `dim ${i} of ${name}`)
      else this.meet(letter, dim, `dim ${i} of ${name}`)
    })
  }

  private readMultiple(letter: 'G' | 'N' | 'P', dim: Dim, what: string): void {
    const factor = this.multiples[letter]
    const hidden = this.known.get('H')
    const whole = typeof dim !== 'number' || dim % factor === 0
    if (!whole || (hidden !== undefined && !mayMatch(dim, mulDims(hidden, factor)))) {
      const size = hidden === undefined ? '' : ` ${printDim(hidden)}`
      fail('dims-mismatch', `${what} is ${printDim(dim)}; ${factor} times the hidden size${size} is expected`)
    }
    if (typeof dim === 'number') this.meet('H', floorDivDims(dim, factor), `a ${factor}th of ${what}`)
  }
}

/** Facts of the results: all steps (not for cells), the last hidden state, the last cell state where there is one. */
export function recurrentShape(
  operands: RecurrentOperands<TensorFact>,
  p: RecurrentParams,
  multiples: Multiples,
  states: number,
  call: ShapeContext
): Fact[] {
  const { x, w, r, b, lengths, h, c, p: peepholes } = operands
  const { layout, hiddenSize, directions } = p
  if (hiddenSize < 0) fail('value-out-of-range', `hidden_size is ${hiddenSize}; it is not negative`)
  const optionalBias = call.dialect === 'onnx' || (layout === IR_CELL && multiples.G > 1)
  if (b === undefined && !optionalBias) fail('wrong-input-count', 'the biases are left out; they are required')
  const sizes = new Sizes(multiples)
  sizes.meet('D', directions.length, 'direction')
  if (hiddenSize > 0) sizes.meet('H', hiddenSize, 'hidden_size')
  sizes.read('R', layout.r, r)
  sizes.read('X', layout.x, x)
  sizes.read('W', layout.w, w)
  sizes.read('the initial hidden state', layout.state, h)
  sizes.read('the initial cell state', layout.state, c)
  sizes.read('B', layout.b, b)
  sizes.read('P', layout.p, peepholes)
  sizes.read('sequence lengths', 'B', lengths)
  const type = commonType({
    X: x,
    W: w,
    R: r,
    B: b,
    'the initial hidden state': h,
    'the initial cell state': c,
    P: peepholes
  })
  const fact = (letters: string): Fact =>
    tensorFact(
      type,
      [...letters].map(letter => sizes.of(letter))
    )
  const results = [
    ...(layout.y === undefined ? [] : [fact(layout.y)]),
    ...Array.from({ length: states }, () => fact(layout.state))
  ]
  return results.slice(0, call.outputCount)
}

/** Checks lengths that are known while shapes are worked out. */
export function validateLengths(
  { x, lengths }: Pick<RecurrentOperands<TensorFact>, 'x' | 'lengths'>,
  { layout }: { layout: Layout }
): void {
  const steps = x.shape?.[layout.x.indexOf('S')]
  const known = lengths && knownValue(lengths)
  if (known && typeof steps === 'number') checkLengths(toIndices(known), steps)
}

function checkLengths(lengths: ArrayLike<number>, steps: number): void {
  for (let i = 0; i < lengths.length; i++) {
    if (!(lengths[i] >= 0 && lengths[i] <= steps))
      fail('value-out-of-range', `the length of sequence ${i} is ${lengths[i]}; expected 0..${steps}`)
  }
}

/** What a cell is made of for one direction. */
export interface CellParts {
  readonly sizes: CellSizes
  readonly gates: Gates
  readonly h: Float64Array
  readonly c: Float64Array
  /** Biases of this direction as the file has them, where there are some. */
  readonly biases: Float64Array | undefined
  readonly peepholes: Float64Array | undefined
}

/** What the operators differ in when they run. */
export interface Net {
  readonly gateCount: number
  cellOf(parts: CellParts): Cell
  /** Sums of biases, one for each output of each gate. */
  biasOf(biases: Float64Array): Float64Array
}

/** A tensor and its strides by letter, 0 for axes that it has not. */
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

/**
 * Runs all directions, everything in double precision, and rounds once. Steps beyond a sequence's length give zeros, as
 * do the last
 * states of an empty sequence, as in ONNX Runtime and OpenVINO.
 */
export function* runRecurrent(
  operands: RecurrentOperands<Tensor>,
  p: RecurrentParams,
  net: Net,
  call: KernelContext
): Generator<void> {
  const { gateCount, cellOf, biasOf } = net
  const { layout } = p
  const sizeOf = (letter: string): number => operands.x.dims[layout.x.indexOf(letter)] ?? 1
  const [steps, batch, inputSize] = ['S', 'B', 'I'].map(sizeOf)
  const hidden = operands.r.dims[layout.r.indexOf('H')]
  const gateSize = gateCount * hidden
  const lengths = operands.lengths ? toIndices(operands.lengths) : allocate('int32', [batch]).data.fill(steps)
  checkLengths(lengths, steps)
  const results = resultsOf(layout, call)
  const given = (tensor: Tensor | undefined): Numbers | undefined => tensor && toNumbers(tensor)
  const numbers = {
    w: yield* readNumbers(operands.w),
    r: yield* readNumbers(operands.r),
    b: given(operands.b),
    p: given(operands.p)
  }
  const states = { h: viewOf(operands.h, layout.state), c: viewOf(operands.c, layout.state) }
  const x = lettered(operands.x, yield* readNumbers(operands.x), layout.x)
  const part = (name: 'b' | 'p', d: number): Float64Array | undefined => {
    const data = numbers[name]
    if (data === undefined) return undefined
    const length = data.length / p.directions.length
    return Float64Array.from(data.subarray(d * length, (d + 1) * length))
  }
  const weights = (name: 'w' | 'r', d: number, columns: number): Matrix => ({
    data: numbers[name],
    offset: d * gateSize * columns,
    rowStride: columns,
    columnStride: 1
  })
  const state = (name: 'h' | 'c', d: number): Float64Array => {
    const values = allocate('float64', [batch, hidden]).data
    const view = states[name]
    if (view) copyStates(view, d, values, batch, hidden, 'in')
    return values
  }
  for (let d = 0; d < p.directions.length; d++) {
    const biases = part('b', d)
    const cell = cellOf({
      sizes: { batch, hidden },
      gates: { recurrence: weights('r', d, hidden), functions: p.functions[d], clip: p.clip },
      h: state('h', d),
      c: state('c', d),
      biases,
      peepholes: part('p', d)
    })
    const layer = {
      steps,
      batch,
      inputSize,
      gateSize,
      reverse: p.directions[d],
      weights: weights('w', d, inputSize),
      bias: biases ? biasOf(biases) : new Float64Array(gateSize)
    }
    yield* runLayer(
      layer,
      { data: x.data, timeStride: x.stride('S'), batchStride: x.stride('B') },
      lengths,
      cell,
      (step, active) => {
        if (results.y) copyStep(cell.h, results.y, d, step, active, hidden)
      }
    )
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

interface Results {
  readonly y?: Lettered
  readonly h?: Lettered
  readonly c?: Lettered
  finish(): Generator<void>
}

/** Outputs that anybody reads. */
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

function copyStates(
  view: Lettered,
  d: number,
  rows: Float64Array,
  batch: number,
  hidden: number,
  way: 'in' | 'out'
): void {
  for (let b = 0; b < batch; b++) {
    const at = d * view.stride('D') + b * view.stride('B')
    for (let i = 0; i < hidden; i++) {
      if (way === 'in') rows[b * hidden + i] = view.data[at + i]
      else view.data[at + i] = rows[b * hidden + i]
    }
  }
}

function copyStep(h: Float64Array, y: Lettered, d: number, step: number, active: Uint8Array, hidden: number): void {
  const start = d * y.stride('D') + step * y.stride('S')
  for (let b = 0; b < active.length; b++) {
    const at = start + b * y.stride('B')
    if (active[b] !== 0) for (let i = 0; i < hidden; i++) y.data[at + i] = h[b * hidden + i]
  }
}
