import type { Pack, Packed } from '../../op-kit/define.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import type { RecurrentParams } from '../../op-kit/recurrent-params.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { packByJob, packMatrix, panelsJob } from '../pack.ts'
import { arrayOf } from '../selector.ts'
import { PANEL } from '../workspace.ts'

/** Gates of each kind of layer. */
export const GATES = { lstm: 4, gru: 3, rnn: 1 } as const
export type RecurrentKind = keyof typeof GATES

/** What the packed form of recurrent weights depends on. */
interface Recurrence {
  readonly kind: RecurrentKind
  readonly directions: readonly boolean[]
  readonly hidden: number
}

/** What biases depend on. */
interface Biases {
  readonly gates: number
  readonly directions: readonly boolean[]
  readonly linearBeforeReset: boolean
  readonly params: Pick<RecurrentParams, 'biases'>
}

/** Columns of the matrices that are packed for a direction: the gates, but the hidden gate of GRU is apart. */
const matricesOf = ({ kind, hidden }: Recurrence): number[] =>
  kind === 'gru' ? [2 * hidden, hidden] : [GATES[kind] * hidden]

/** Elements of packed recurrent weights. */
export const recurrenceSize = (layer: Recurrence): number =>
  layer.directions.length *
  matricesOf(layer).reduce((sum, columns) => sum + Math.ceil(columns / PANEL) * PANEL * layer.hidden, 0)

/**
 * Recurrent weights, [directions][gates][hidden][hidden], in panels.
 * @returns false when the heap is full
 */
export function* packRecurrence(
  layer: Recurrence,
  r: Tensor,
  target: NumericArray,
  threads: number
): Generator<void, boolean> {
  const { hidden, directions } = layer
  let [from, to] = [0, 0]
  for (const columns of directions.flatMap(() => matricesOf(layer))) {
    const job = panelsJob({ k: hidden, n: columns, rowStep: 4, columnStep: hidden * 4 })
    const matrix = part(arrayOf(r), from, columns * hidden)
    const panels = part(target, to, job.elements)
    if ((yield* packByJob(job, [matrix], panels, threads)) === undefined) return false
    from += columns * hidden
    to += job.elements
  }
  return true
}

const part = (array: NumericArray, from: number, length: number): Tensor =>
  new Tensor('float32', array.subarray(from, from + length) as Float32Array, [length])

/** The biases that are added before the recurrence, and of GRU with linear_before_reset those of the hidden gate. */
export function biasesOf(b: Tensor | undefined, layer: Biases): { readonly bias?: Tensor; readonly reset?: Tensor } {
  if (b === undefined) return {}
  const { directions, gates, linearBeforeReset, params } = layer
  const data = b.data as Float32Array
  const length = data.length / directions.length
  const areApart = params.biases === 'apart'
  const hidden = length / (areApart ? 2 * gates : linearBeforeReset ? gates + 1 : gates)
  const size = gates * hidden
  const bias = new Float32Array(directions.length * size)
  const reset = new Float32Array(directions.length * hidden)
  directions.forEach((_, d) => {
    const own = data.subarray(d * length, d * length + size)
    const others = data.subarray(d * length + size, (d + 1) * length)
    bias.set(own, d * size)
    const added = !areApart ? 0 : linearBeforeReset ? size - hidden : size
    for (let i = 0; i < added; i++) bias[d * size + i] += others[i]
    if (linearBeforeReset) reset.set(others.subarray(others.length - hidden), d * hidden)
  })
  return {
    bias: new Tensor('float32', bias, [bias.length]),
    ...(linearBeforeReset && { reset: new Tensor('float32', reset, [reset.length]) })
  }
}

type PackedParams = RecurrentParams & { readonly linearBeforeReset?: boolean }

/** Packs input weights, recurrent weights and biases, as far as they are constant. */
const packLayer = (kind: RecurrentKind): Pack =>
  function* ({ w, r, b }, parameters, context) {
    const params = parameters as unknown as PackedParams
    const { directions, linearBeforeReset = false } = params
    const layer = { kind, gates: GATES[kind], directions, linearBeforeReset, params }
    const packedW = w && isFloat32(w) ? yield* packInputWeights(w, context) : undefined
    const packedR = r && isFloat32(r) ? yield* packConstantRecurrence(layer, r, context) : undefined
    const biases = b && isFloat32(b) ? biasesOf(b, layer) : {}
    const packed: Packed = { ...(packedW && { w: packedW }), ...(packedR && { r: packedR }), ...biases }
    return packed
  }

export const PACKS = { lstm: packLayer('lstm'), gru: packLayer('gru'), rnn: packLayer('rnn') } as const

const isFloat32 = ({ type }: Tensor): boolean => type === 'float32'

const packInputWeights = (w: Tensor, context: PackContext): Generator<void, Tensor | undefined> => {
  const k = w.dims[w.dims.length - 1]
  return packMatrix(w, { k, n: product(w.dims, 0, w.dims.length - 1), rowStep: 4, columnStep: k * 4 }, context)
}

function* packConstantRecurrence(
  layer: Omit<Recurrence, 'hidden'>,
  r: Tensor,
  { allocate, threads }: PackContext
): Generator<void, Tensor | undefined> {
  const recurrence = { ...layer, hidden: r.dims[r.dims.length - 1] }
  const packed = allocate('float32', [recurrenceSize(recurrence)])
  return (yield* packRecurrence(recurrence, r, arrayOf(packed), threads)) ? packed : undefined
}
