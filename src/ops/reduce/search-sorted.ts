import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { comparable } from '../../kernels/core/numbers.ts'
import { chunkSize, COST } from '../../kernels/core/pace.ts'
import { countBelow, countUpTo } from '../../kernels/reduce/search.ts'
import { defineOp, type KernelContext, type Op, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { flag, mapped, type } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { type Dim, mayMatch, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Whether a value goes behind elements that are equal to it. */
  behindEqual: boolean
  type: DType
}

/** Values that are searched for between two yields; a binary search costs about 20 comparisons. */
const CHUNK = chunkSize(20 * COST.comparison)

/**
 * For each value the number of the bucket that holds it, given the boundaries between buckets. Values of any two
 * numeric types are compared exactly. OpenVINO Bucketize-3.
 */
const bucketize = defineOp({
  name: 'Bucketize',
  operands: { x: 'tensor', boundaries: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 3,
      types: { x: NUMERIC, boundaries: NUMERIC },
      bind: { behindEqual: mapped(flag('with_right_bound'), right => !right), type: type('output_type') }
    }
  ],

  shape({ x, boundaries }, { type }) {
    checkIndexType(type)
    checkRank('the list of boundaries', boundaries, 1)
    return [tensorFact(type, x.shape)]
  },

  run: ({ x, boundaries }, p, call) => search(boundaries, x, p.behindEqual, call)
})

/**
 * For each value the index at which it goes into a sorted sequence. Sequences lie along the last dim of `sorted`: one
 * for each row of values, or one for all. OpenVINO SearchSorted-15.
 */
const searchSorted = defineOp({
  name: 'SearchSorted',
  operands: { sorted: 'tensor', x: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 15,
      types: { sorted: NUMERIC, x: NUMERIC },
      bind: { behindEqual: flag('right_mode'), type: type('output_type') }
    }
  ],

  shape({ sorted, x }, { type }) {
    checkIndexType(type)
    commonType({ 'the sorted sequence': sorted, values: x })
    checkRankAtLeast('the sorted sequence', sorted, 1)
    if (sorted.shape && x.shape) checkRows(sorted.shape, x.shape)
    return [tensorFact(type, x.shape)]
  },

  run: ({ sorted, x }, p, call) => search(sorted, x, p.behindEqual, call)
})

/** OpenVINO Bucketize and SearchSorted. */
export const searchOps: readonly Op[] = [bucketize, searchSorted]

function checkIndexType(type: DType): void {
  if (type !== 'int32' && type !== 'int64')
    fail('type-not-allowed', `output_type is ${type}; int32 or int64 is expected`)
}

/** Checks that there is a sequence for each row of values, or one for all. */
function checkRows(sorted: readonly Dim[], values: readonly Dim[]): void {
  if (sorted.length === 1) return
  const fits = sorted.length === values.length && sorted.slice(0, -1).every((dim, i) => mayMatch(dim, values[i]))
  if (fits) return
  fail(
    'shape-mismatch',
    `the sorted sequences have shape ${printShape(sorted)}, the values ${printShape(values)}; ` +
      'only the last dim may differ'
  )
}

function* search(sorted: Tensor, x: Tensor, behindEqual: boolean, call: KernelContext): Generator<void> {
  const out = call.output()
  const sequences = comparable(sorted)
  const values = comparable(x)
  const size = sorted.dims[sorted.dims.length - 1]
  const rowLength = sorted.dims.length === 1 ? Infinity : x.dims[x.dims.length - 1]
  const count = behindEqual ? countUpTo : countBelow
  const found = new Float64Array(Math.min(CHUNK, values.length))
  for (let start = 0; start < values.length; start += found.length) {
    const part = found.subarray(0, Math.min(found.length, values.length - start))
    for (let i = 0; i < part.length; i++) {
      const first = Math.floor((start + i) / rowLength) * size
      part[i] = count(sequences, first, first + size, values[start + i])
    }
    storeIntegers(out, part, start)
    yield
  }
}
