import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { groupItems } from '../../kernels/core/group.ts'
import { storeManyIntegers } from '../../kernels/core/integers.ts'
import { orderKeys } from '../../kernels/core/order.ts'
import { gatherBlocks } from '../../kernels/gather/gather.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { choice, flag, inputInt, int, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { type Dim, maxDim, minDim, normalizeAxis, productOf, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { elementCount } from '../../tensor/tensor.ts'

interface Params {
  /** Undefined: the data are flattened, and their elements compared instead of slices. */
  axis: DataDependent<number | undefined>
  sorted: boolean
  indexType: 'int32' | 'int64'
  countType: 'int32' | 'int64'
  /** The outputs after the first. */
  lists: readonly List[]
}

/** Index of the first occurrence, index of the distinct value for each element, number of occurrences. */
type List = 'first' | 'inverse' | 'counts'

const LISTS: readonly List[] = ['first', 'inverse', 'counts']

/**
 * The distinct elements, or slices along an axis. Outputs: these, the index of the first occurrence of each, for each
 * element the index of its distinct value, and the number of occurrences. NaN equals NaN and is sorted last, as in
 * NumPy, to which ONNX refers. ONNX Unique-11, -28; OpenVINO Unique-10; com.microsoft Unique-1, whose data have rank 1
 * and which lacks the second output and sorts nothing (there ONNX Runtime finds a NaN equal to nothing).
 */
export const unique = defineOp({
  name: 'Unique',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 11,
      bind: {
        axis: optional(int('axis')),
        sorted: flag('sorted'),
        indexType: is('int64'),
        countType: is('int64'),
        lists: is(LISTS)
      }
    },
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        axis: is(0),
        sorted: is(false),
        indexType: is('int64'),
        countType: is('int64'),
        lists: is(LISTS.slice(1))
      }
    }
  ],
  openvino: [
    {
      since: 10,
      types: { axis: ['int32', 'int64'] },
      bind: {
        axis: optionalInput(inputInt(1)),
        sorted: flag('sorted'),
        indexType: choice('index_element_type', { i32: 'int32', i64: 'int64' }),
        countType: choice('count_element_type', { i32: 'int32', i64: 'int64' }),
        lists: is(LISTS)
      }
    }
  ],

  shape({ data }, p) {
    if (p.lists.length < LISTS.length) checkRank('the data', data, 1)
    const list = (size: Dim): Dim => unknownDim(Math.min(1, minDim(size)), maxDim(size))
    const facts = (shape: readonly Dim[] | undefined, found: Dim, size: Dim): ReturnType<typeof tensorFact>[] => {
      const lists = {
        first: tensorFact(p.indexType, [found]),
        inverse: tensorFact(p.indexType, [size]),
        counts: tensorFact(p.countType, [found])
      }
      return [tensorFact(data.type, shape), ...p.lists.map(list => lists[list])]
    }
    if (p.axis === undefined) {
      const size = data.shape ? productOf(data.shape) : unknownDim()
      const found = list(size)
      return facts([found], found, size)
    }
    if (data.shape === undefined) return facts(undefined, unknownDim(), unknownDim())
    if (typeof p.axis !== 'number')
      return facts(
        data.shape.map(dim => unknownDim(0, maxDim(dim))),
        unknownDim(),
        unknownDim()
      )
    const axis = normalizeAxis(p.axis, data.shape.length)
    const found = list(data.shape[axis])
    return facts(
      data.shape.map((dim, i) => (i === axis ? found : dim)),
      found,
      data.shape[axis]
    )
  },

  *run({ data }, p, call) {
    const axis = p.axis === undefined ? undefined : normalizeAxis(p.axis, data.dims.length)
    const items =
      axis === undefined ? { outer: 1, size: elementCount(data.dims), inner: 1 } : axisLayout(data.dims, axis)
    const lists = yield* groupItems(yield* orderKeys(data), items, p.sorted)
    const { first } = lists
    for (const [i, list] of p.lists.entries()) {
      if (!call.wanted(i + 1)) continue
      const type = list === 'counts' ? p.countType : p.indexType
      yield* storeManyIntegers(call.output(i + 1, [lists[list].length], type), lists[list])
    }
    const out = call.output(
      0,
      axis === undefined ? [first.length] : data.dims.map((dim, i) => (i === axis ? first.length : dim))
    )
    yield* gatherBlocks(data, Float64Array.from(first), out, { batch: 1, ...items, count: first.length })
  }
})
