import { QUANTUM } from '../../kernels/core/pace.ts'
import type { KernelContext, Packed, Selection } from '../../op-kit/define.ts'
import type { GateFunction } from '../../op-kit/recurrent-functions.ts'
import type { RecurrentParams } from '../../op-kit/recurrent-params.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import { isOnHeap } from '../heap.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  areFloat32,
  arrayOf,
  type Candidate,
  floatBits,
  selectorFor,
  staged,
  type TensorOperands,
  workOfFlops
} from '../selector.ts'
import { EDGE, SCRATCH_BYTES } from '../workspace.ts'
import { unaryArguments, type UnaryCall } from './elementwise.ts'
import { type Extras, productTemplate } from './matrix.ts'
import { biasesOf, GATES, packRecurrence, PACKS, recurrenceSize } from './recurrent-pack.ts'
import {
  clearEmpty,
  copyRows,
  gateStrides,
  type Layer,
  readLengths,
  readState,
  type Strides,
  stridesOf
} from './recurrent-rows.ts'

/** Multiplications below which setting the jobs up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 8
/** Nanoseconds of a multiplication and an addition, and of an element's activations and those of its gates. */
const COST_OF_MULTIPLICATION = 0.1
const COST_OF_CELL = 6

/** LSTM of float32. */
export const selectLstm = selectorFor<RecurrentParams & { readonly order: string; readonly couplesForget: boolean }>(
  call => {
    const { order, couplesForget } = call.parameters
    return selectLayer(call, { kind: 'lstm', order: lstmOrder(order), couplesForget })
  }
)

/** Places of the gates input, output, forget and cell among the letters of gates. */
export const lstmOrder = (letters: string): number[] => ['i', 'o', 'f', 'c'].map(gate => letters.indexOf(gate))

/** GRU of float32. */
export const selectGru = selectorFor<RecurrentParams & { readonly linearBeforeReset: boolean }>(call =>
  selectLayer(call, { kind: 'gru', linearBeforeReset: call.parameters.linearBeforeReset })
)

/** RNN of float32. */
export const selectRnn = selectorFor<RecurrentParams>(call => selectLayer(call, { kind: 'rnn' }))

function selectLayer(
  call: Candidate<RecurrentParams>,
  own: Pick<Layer, 'kind'> & Partial<Layer>
): Selection | undefined {
  const { op, operands } = call
  const { lengths: _lengths, ...numbers } = operands
  if (operands.r === undefined || !areFloat32(numbers)) return undefined
  const layer = layerOf(call, { ...own, hidden: operands.r.dims[operands.r.dims.length - 1] })
  if (layer === undefined) return undefined
  const kernel = attemptKernel(op, (given, _out, work, context) => runLayer(layer, given, work, context))
  return { kernel, pack: PACKS[layer.kind] }
}

/** The layer of a call; undefined where its kernel cannot compute it, or not faster. */
export function layerOf(
  { operands: { x }, parameters: params }: Candidate<RecurrentParams>,
  own: Pick<Layer, 'kind' | 'hidden'> & Partial<Layer>
): Layer | undefined {
  const { kind, hidden, order = [], linearBeforeReset = false, couplesForget = false, roundsState = false } = own
  if (x === undefined) return undefined
  const sizeOf = (letter: string): number => x.dims[params.layout.x.indexOf(letter)] ?? 1
  const gates = GATES[kind]
  const [steps, batch, inputs] = [sizeOf('S'), sizeOf('B'), sizeOf('I')]
  const { directions } = params
  const multiplications = steps * batch * directions.length * gates * hidden * (inputs + hidden)
  if (inputs === 0 || multiplications < MIN_MULTIPLICATIONS) return undefined
  if (EDGE + batch * hidden * 4 > SCRATCH_BYTES) return undefined
  const sizes = { gates, directions, steps, batch, inputs, hidden }
  const functions = params.functions.flatMap(functionArguments)
  return { kind, ...sizes, order, functions, linearBeforeReset, couplesForget, roundsState, params }
}

/** What the steps of a layer work on; all of it lies on the heap. */
interface Memory {
  /** [steps][batch] or [batch][steps] as the input has it, times [directions][gates][hidden]. */
  readonly gates: Float32Array
  /** [directions][batch][hidden]. */
  readonly h: Float32Array
  readonly c: Float32Array
  /** [batch], where sequences differ in their number of steps. */
  readonly lengths: Int32Array | undefined
}

/**
 * Runs a layer: the products of all inputs with their weights as one job, then the steps.
 * @returns false, with no output made, when the heap is full, and where a sequence has a length that no sequence has
 */
export function* runLayer(
  layer: Layer,
  operands: TensorOperands,
  { allocate, allocateIntegers, run }: Work,
  context: KernelContext
): Generator<void, boolean> {
  const { kind, directions, gates: gateCount, steps, batch, hidden } = layer
  const given = readLengths(operands.lengths, steps)
  if (given === undefined) return false
  const place = (array: NumericArray): NumericArray => {
    if (isOnHeap(array)) return array
    const copy = allocate(array.length)
    copy.set(array as Float32Array)
    return copy
  }
  const states = directions.length * batch * hidden
  const h = allocate(states)
  const c = kind === 'lstm' ? allocate(states) : h
  const lengths = given === 'full' ? undefined : allocateIntegers(given.length)
  lengths?.set(given as readonly number[])
  const gates = allocate(steps * batch * directions.length * gateCount * hidden)
  const memory = { gates, h, c, lengths }
  const { packed } = context
  const { bias, reset } = packed?.bias ? packed : biasesOf(operands.b, layer)
  const own = kind === 'lstm' ? operands.p : reset
  // Steps begin when outputs have been made, and must not find the heap full then.
  const ownNumbers = own && place(arrayOf(own))
  const weights = packed?.r ? place(arrayOf(packed.r)) : allocate(recurrenceSize(layer))
  if (![h, c, lengths ?? h, gates, ownNumbers ?? h, weights].every(isOnHeap)) return false
  if (packed?.r === undefined && !(yield* packRecurrence(layer, operands.r!, weights, context.threads))) return false
  if (!(yield* multiplyInputs(layer, operands, packed, bias, memory, run))) return false
  readState(layer, operands.h, h)
  if (kind === 'lstm') readState(layer, operands.c, c)
  yield* runSteps(layer, weights, ownNumbers, memory, run, context)
  return true
}

/** The gates of all steps as far as inputs and biases determine them. */
function* multiplyInputs(
  layer: Layer,
  { x, w }: TensorOperands,
  packed: Packed | undefined,
  bias: Tensor | undefined,
  { gates }: Memory,
  run: Work['run']
): Generator<void, boolean> {
  const { directions, gates: count, steps, batch, inputs, hidden } = layer
  const rowBytes = inputs * 4
  const product = {
    m: steps * batch,
    n: directions.length * count * hidden,
    k: inputs,
    aRow: rowBytes,
    aElement: 4,
    bRow: 4,
    bColumn: rowBytes,
    batches: 1,
    loops: []
  }
  const extras: Extras = { bias: bias && { operand: 'bias', kind: 'column' }, activation: undefined }
  const template = productTemplate(product, extras, packed?.w !== undefined && 'float32')
  const a = arrayOf(x!)
  const job = [a, arrayOf(packed?.w ?? w!), bias ? arrayOf(bias) : a, a]
  return yield* run(template, job, gates)
}

/**
 * Runs the steps and writes the outputs that anybody reads.
 * @param weights on the heap
 * @param own the bias of a GRU that the reset gate multiplies, or the peepholes of an LSTM, on the heap
 */
function* runSteps(
  layer: Layer,
  weights: NumericArray,
  own: NumericArray | undefined,
  memory: Memory,
  run: Work['run'],
  context: KernelContext
): Generator<void> {
  const { y: yLetters } = layer.params.layout
  const first = yLetters === undefined ? 0 : 1
  const y = yLetters !== undefined && context.wanted(0) ? (context.rawOutput(0).data as Float32Array) : undefined
  const { gates, h, c, lengths } = memory
  const toHeap = y && isOnHeap(y)
  const out = y === undefined ? h : toHeap ? y : gates
  const yStrides = y === undefined ? stridesOf(layer, 'DBH') : toHeap ? stridesOf(layer, yLetters!) : gateStrides(layer)
  const inputs = [gates, weights, own ?? h, h, c, lengths ?? h]
  const has = { own: own !== undefined, lengths: lengths !== undefined, steps: y !== undefined }
  const { perJob, rows } = splitOf(layer, context.threads)
  for (let from = 0; from < layer.steps; from += perJob) {
    if (from > 0) yield
    const end = Math.min(layer.steps, from + perJob)
    const template = stepsTemplate(layer, yStrides, has, rows, from, end)
    yield* run(template, inputs, out)
  }
  if (y !== undefined && !toHeap) copyRows(layer, gates, gateStrides(layer), y, stridesOf(layer, yLetters!))
  ;[h, c].forEach((state, i) => {
    if (i > 0 && layer.kind !== 'lstm') return
    if (!context.wanted(first + i)) return
    if (lengths) clearEmpty(layer, lengths, state)
    const target = context.rawOutput(first + i).data as Float32Array
    copyRows(
      { ...layer, steps: 1 },
      state,
      stridesOf(layer, 'DBH'),
      target,
      stridesOf(layer, layer.params.layout.state)
    )
  })
}

/** Steps of a job, so that it takes about a quantum, and sequences of a block, so that threads share one direction. */
function splitOf(
  { directions, gates, batch, hidden, roundsState }: Layer,
  threads: number
): { readonly perJob: number; readonly rows: number } {
  const cost = batch * gates * hidden * (hidden * COST_OF_MULTIPLICATION + COST_OF_CELL) * directions.length
  const perThread = directions.length > 1 || roundsState ? batch : Math.ceil(batch / threads / 4) * 4
  return { perJob: Math.max(1, Math.floor(QUANTUM / cost)), rows: Math.min(batch, perThread) }
}

/** The arguments are those of RecurrentArguments in ../assembly/f32/recurrent.ts. */
function stepsTemplate(
  layer: Layer,
  y: Strides,
  has: { readonly own: boolean; readonly lengths: boolean; readonly steps: boolean },
  rows: number,
  from: number,
  end: number
): JobTemplate {
  const { kind, directions, gates, steps, batch, hidden, order, functions, params } = layer
  const row = gateStrides(layer)
  return {
    kernel: kind,
    blocks: directions.length * Math.ceil(batch / rows),
    blockBytes: 1,
    tile: 1,
    work: workOfFlops(2 * (end - from) * batch * directions.length * gates * hidden * hidden),
    inputs: staged(6),
    args: [
      (recurrenceSize(layer) / directions.length) * 4,
      ...[row.S, row.B, row.D, y.S, y.B, y.D].map(stride => stride * 4),
      steps,
      from,
      end,
      batch,
      hidden,
      rows,
      directions.reduce((bits, isReverse, i) => bits | (Number(isReverse) << i), 0),
      Number(has.own),
      Number(layer.linearBeforeReset),
      Number(has.lengths),
      Number(has.steps),
      floatBits(params.clip),
      Number(layer.couplesForget),
      Number(layer.roundsState),
      ...[0, 1, 2, 3].map(i => (order[i] ?? 0) * hidden * 4),
      ...functions
    ]
  }
}

/** The functions of a direction, three for each kind of layer. */
const functionArguments = (functions: readonly GateFunction[]): number[] =>
  [0, 1, 2].flatMap(i => (i < functions.length ? unaryArguments(unaryCallOf(functions[i])) : [0, 0, 0]))

function unaryCallOf({ name, alpha, beta }: GateFunction): UnaryCall {
  switch (name) {
    case 'relu':
      return ['clip', 0, Infinity]
    case 'leakyrelu':
      return ['leakyRelu', alpha]
    case 'thresholdedrelu':
      return ['reaching', alpha]
    case 'scaledtanh':
      return ['scaledTanh', alpha, beta]
    case 'hardsigmoid':
      return ['hardSigmoid', alpha, beta]
    default:
      return [name, alpha, beta]
  }
}
