import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { flag, int } from '../../op-kit/sources.ts'
import {
  addDims,
  ceilDivDims,
  type Dim,
  maxDim,
  mayMatch,
  normalizeAxis,
  printDim,
  unknownDim
} from '../../shapes/dim.ts'
import { knownValue, type SequenceFact, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, elementCount, MAX_ITEMS, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  axis: number
  /** Whether parts of size 1 keep the axis; only without `split`. */
  keepsAxis: boolean
}

/**
 * Splits a tensor into a sequence: ONNX SplitToSequence-11, -24. A scalar `split` is the size of all parts but the
 * last; a list holds the size of each (0 is allowed, as the text of the operand says). Without `split` parts have size
 * 1, and only then does `keepdims` apply.
 */
export const splitToSequence = defineOp({
  name: 'SplitToSequence',
  operands: { input: 'tensor', split: 'optional' },
  params: params<Params>(),
  onnx: [{ since: 11, bind: { axis: int('axis'), keepsAxis: flag('keepdims') } }],

  shape({ input, split }, p): SequenceFact[] {
    checkRank('split', split, 0, 1)
    if (input.shape === undefined) return [{ kind: 'sequence', element: tensorFact(input.type, undefined) }]
    const axis = normalizeAxis(p.axis, input.shape.length)
    const { length, size } = partsOf(input.shape[axis], split)
    const dims = split || p.keepsAxis ? input.shape.with(axis, size) : input.shape.toSpliced(axis, 1)
    return [{ kind: 'sequence', element: tensorFact(input.type, dims), ...(length !== undefined && { length }) }]
  },

  *run({ input, split }, p, call) {
    const axis = normalizeAxis(p.axis, input.dims.length)
    const outer = elementCount(input.dims.slice(0, axis))
    const inner = elementCount(input.dims.slice(axis + 1))
    const stride = input.dims[axis] * inner
    const values: Tensor[] = []
    const pace = new Pace()
    const count = partCount(input.dims[axis], split)
    if (count > MAX_ITEMS)
      fail('limit-exceeded', `a sequence of ${count} tensors is asked for; at most ${MAX_ITEMS} are made`)
    let offset = 0
    for (const size of sizesOf(input.dims[axis], split)) {
      const part = allocate(
        input.type,
        split || p.keepsAxis ? input.dims.with(axis, size) : input.dims.toSpliced(axis, 1)
      )
      const block = size * inner
      yield* copyStrided(
        input,
        part,
        [
          { count: outer, from: stride, to: block },
          { count: block, from: 1, to: 1 }
        ],
        offset
      )
      values.push(part)
      offset += block
      if (pace.isDue(2 * COST.allocation)) yield
    }
    call.give(0, { type: 'sequence', values })
  }
})

/** The number of parts and the size of each, as far as they are known. */
function partsOf(size: Dim, split: TensorFact | undefined): { length?: Dim; size: Dim } {
  if (!split) return { length: size, size: 1 }
  const known = knownValue(split)
  if (!known) return { ...(split.shape?.length === 1 && { length: split.shape[0] }), size: unknownDim(0, maxDim(size)) }
  const numbers = Array.from(known.data as ArrayLike<number | bigint>, Number)
  if (known.dims.length === 0) {
    const [each] = checkedSizes(numbers, 1)
    const length = ceilDivDims(size, each)
    if (typeof size !== 'number') return { length, size: unknownDim(1, each) }
    return { length, size: size % each === 0 ? each : unknownDim(size % each, Math.min(size, each)) }
  }
  checkSum(checkedSizes(numbers, 0), size)
  return {
    length: numbers.length,
    size: unknownDim(
      numbers.reduce((a, b) => Math.min(a, b), Infinity),
      numbers.reduce((a, b) => Math.max(a, b), 0)
    )
  }
}

const partCount = (size: number, split: Tensor | undefined): number =>
  !split ? size : split.dims.length > 0 ? split.data.length : Math.ceil(size / Math.max(1, Number(split.data[0])))

function sizesOf(size: number, split: Tensor | undefined): number[] {
  if (!split) return new Array<number>(size).fill(1)
  const numbers = Array.from(split.data as ArrayLike<number | bigint>, Number)
  if (split.dims.length > 0) {
    checkSum(checkedSizes(numbers, 0), size)
    return numbers
  }
  const [each] = checkedSizes(numbers, 1)
  return Array.from({ length: Math.ceil(size / each) }, (_, i) => Math.min(each, size - i * each))
}

function checkedSizes(sizes: readonly number[], min: number): readonly number[] {
  const bad = sizes.find(size => size < min)
  if (bad !== undefined) fail('value-out-of-range', `split holds ${bad}; expected ${min} or more`)
  return sizes
}

function checkSum(sizes: readonly number[], size: Dim): void {
  const sum = sizes.reduce<Dim>(addDims, 0)
  if (!mayMatch(sum, size))
    fail('value-out-of-range', `split adds up to ${printDim(sum)}; the axis has size ${printDim(size)}`)
}
