import { tapsOf } from '../../kernels/core/windows.ts'
import { fillEmpty, maxPool as highest, type PoolIndices } from '../../kernels/pool/pool.ts'
import { params, type RunParams } from '../../op-kit/define.ts'
import { onnxPool, openvinoPool, poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, is, type } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { type Dim, normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { elementCount, stridesOf, type Tensor } from '../../tensor/tensor.ts'

interface Params extends PoolParams {
  indexType: DType
  /** First of the dims that indices are counted in. */
  axis: number
  /** Whether indices are counted in column-major order over the spatial axes. */
  columnMajor: boolean
}

const types = { x: NUMERIC }

/** Rules of {@link maxPool}. */
export const maxPoolRules = defineRules({
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
  }
})

/**
 * The highest element of each window, and its index. ONNX MaxPool, OpenVINO MaxPool. NaN counts as highest, as in
 * PyTorch, which ONNX's text refers to (the runtimes differ from each other and by position). A window without elements
 * has the index -1 in ONNX; in IR it is the lowest finite number, with the index of the first element of its plane.
 */
export const maxPool = /* @__PURE__ */ withKernel(maxPoolRules, {
  *run({ x }, p, call) {
    const out = call.output()
    const axes = poolAxes(x.dims, out.dims, p)
    const indices = call.wanted(1)
      ? { ...indicesOf(x, call.output(1), p, call.dialect === 'onnx' ? -1 : undefined), axes }
      : undefined
    if (out.data.length === 0) return
    yield* highest(x, out, tapsOf(axes), indices)
    if (call.dialect === 'openvino') fillEmpty(out, axes)
  }
})

function indicesOf(
  { dims }: Tensor,
  out: Tensor,
  { axis, columnMajor }: RunParams<Params>,
  none: number | undefined
): PoolIndices {
  const spatial = dims.slice(2)
  const plane = elementCount(spatial)
  // Of a plane without elements all windows lie in the padding.
  if (plane === 0) return { out, none, indexOf: () => 0 }
  if (columnMajor) return { out, none, indexOf: (index, element) => index * plane + columnMajorIndex(element, spatial) }
  const within = elementCount(dims.slice(normalizeAxis(axis, dims.length)))
  return { out, none, indexOf: (index, element) => (index * plane + element) % within }
}

/** The column-major index of an element of a plane. */
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
