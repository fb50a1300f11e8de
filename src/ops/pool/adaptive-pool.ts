import { fail } from '../../errors.ts'
import { type RangeAxis, tapsOfRanges } from '../../kernels/core/windows.ts'
import { averagePool, maxPool } from '../../kernels/pool/pool.ts'
import { type DataDependent, defineOp, type Op, params } from '../../op-kit/define.ts'
import { inputInts, type } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, maxDim, minDim, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, sizesOf, unknownDims } from '../../shapes/lists.ts'
import type { DType } from '../../tensor/dtype.ts'

interface Params {
  sizes: DataDependent<readonly number[]>
}

const types = { x: FLOATS, sizes: ['int32', 'int64'] as const }

/**
 * Pools with a given number of windows along each spatial axis, spread evenly: window `i` of `n` over `size` elements
 * reads from `floor(i * size / n)` up to `ceil((i + 1) * size / n)`, exclusive. OpenVINO AdaptiveAvgPool-8,
 * AdaptiveMaxPool-8.
 */
export const adaptivePoolOps: readonly Op[] = [
  defineOp({
    name: 'AdaptiveAvgPool',
    operands: { x: 'tensor' },
    params: params<Params>(),
    openvino: [{ since: 8, types, bind: { sizes: inputInts(1) } }],
    shape: ({ x }, { sizes }) => [tensorFact(x.type, adaptedShape(x, sizes))],

    *run({ x }, _, call) {
      const out = call.output()
      if (out.data.length === 0) return
      const axes = adaptedAxes(x.dims, out.dims)
      yield* averagePool(
        x,
        out,
        tapsOfRanges(axes),
        axes.map(({ ranges }) => ranges.map(([start, end]) => end - start))
      )
    }
  }),

  defineOp({
    name: 'AdaptiveMaxPool',
    operands: { x: 'tensor' },
    params: params<Params & { indexType: DType }>(),
    openvino: [{ since: 8, types, bind: { sizes: inputInts(1), indexType: type('index_element_type') } }],

    shape({ x }, { sizes, indexType }) {
      const shape = adaptedShape(x, sizes)
      return [tensorFact(x.type, shape), tensorFact(indexType, shape)]
    },

    *run({ x }, _, call) {
      const out = call.output()
      const indices = call.wanted(1) ? call.output(1) : undefined
      if (out.data.length === 0) return
      const taps = tapsOfRanges(adaptedAxes(x.dims, out.dims))
      yield* maxPool(x, out, taps, indices && { out: indices, none: 0, indexOf: (_, element) => element })
    }
  })
]

function adaptedShape({ shape }: TensorFact, sizes: DataDependentList): Dim[] | undefined {
  if (shape !== undefined && shape.length < 3)
    fail('rank-mismatch', `data of shape ${printShape(shape)} have no spatial axis`)
  const rank = shape ? shape.length - 2 : sizes === 'unknown' ? undefined : sizes.length
  if (rank === undefined) return undefined
  if (sizes !== 'unknown' && sizes.length !== rank) {
    fail('dims-mismatch', `the output shape has ${sizes.length} elements; there are ${rank} spatial axes`)
  }
  const spatial = sizes === 'unknown' ? (unknownDims(rank) ?? []) : sizesOf(sizes, 'the output shape')
  spatial.forEach((dim, i) => {
    const size = shape?.[i + 2]
    if (size !== undefined && maxDim(size) === 0 && minDim(dim) > 0) {
      fail('shape-mismatch', `axis ${i + 2} has no elements to make ${printDim(dim)} windows of`)
    }
  })
  return [...(shape?.slice(0, 2) ?? unknownDims(2) ?? []), ...spatial]
}

/** The windows of each spatial axis. */
const adaptedAxes = (dims: readonly number[], outDims: readonly number[]): RangeAxis[] =>
  dims.slice(2).map((size, i) => {
    const count = outDims[i + 2]
    const range = (w: number): readonly [number, number] => [
      Math.floor((w * size) / count),
      Math.ceil(((w + 1) * size) / count)
    ]
    return { size, ranges: Array.from({ length: count }, (_, w) => range(w)) }
  })
