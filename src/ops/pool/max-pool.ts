import { tapsOf } from '../../kernels/core/windows.ts'
import { maxPool as highest, type PoolIndices } from '../../kernels/pool/pool.ts'
import { defineOp, params, type RunParams } from '../../op-kit/define.ts'
import { onnxPool, openvinoPool, poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { flag, int, is, type } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { type Dim, normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { elementCount, stridesOf, type Tensor } from '../../tensor/tensor.ts'

interface Params extends PoolParams {
  indexType: DType
  /** First of the dims within which indices count. */
  axis: number
  /** Whether indices count along the spatial axes with the first as the fastest. */
  columnMajor: boolean
}

const types = { x: NUMERIC }

/**
 * The highest element of each window, and where it is. ONNX MaxPool, OpenVINO MaxPool. NaN wins, as in PyTorch, which
 * ONNX's text refers to (the runtimes differ, and depend on where it is). Indices of windows without an element are -1
 * in ONNX, 0 in IR.
 */
export const maxPool = defineOp({
  name: 'MaxPool',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...onnxPool, indexType: is('int64'), axis: is(0), columnMajor: flag('storage_order', false) } }
  ],
  openvino: [
    { since: 1, types, bind: { ...openvinoPool, indexType: is('int64'), axis: is(0), columnMajor: is(false) } },
    {
      since: 8,
      types,
      bind: { ...openvinoPool, indexType: type('index_element_type'), axis: int('axis'), columnMajor: is(false) }
    }
  ],

  shape({ x }, p, call) {
    const shape: readonly Dim[] = pooledShape(x, p)
    normalizeAxis(p.axis, shape.length)
    const highest = tensorFact(x.type, shape)
    return call.outputCount > 1 ? [highest, tensorFact(p.indexType, shape)] : [highest]
  },

  *run({ x }, p, call) {
    const out = call.output()
    const indices =
      call.outputCount > 1 && call.wanted(1)
        ? indicesOf(x, call.output(1), p, call.dialect === 'onnx' ? -1 : 0)
        : undefined
    if (out.data.length > 0) yield* highest(x, out, tapsOf(poolAxes(x.dims, out.dims, p)), indices)
  }
})

function indicesOf({ dims }: Tensor, out: Tensor, { axis, columnMajor }: RunParams<Params>, none: number): PoolIndices {
  const spatial = dims.slice(2)
  const plane = elementCount(spatial)
  if (columnMajor) return { out, none, indexOf: (index, element) => index * plane + columnMajorIndex(element, spatial) }
  const within = elementCount(dims.slice(normalizeAxis(axis, dims.length)))
  return { out, none, indexOf: (index, element) => (index * plane + element) % within }
}

/** The index of an element of a plane where the first axis is the fastest. */
function columnMajorIndex(element: number, dims: readonly number[]): number {
  const strides = stridesOf(dims)
  let index = 0
  let step = 1
  for (let a = 0; a < dims.length; a++) {
    index += (Math.floor(element / strides[a]) % dims[a]) * step
    step *= dims[a]
  }
  return index
}
