import { fail } from '../errors.ts'
import { type Dim, printShape, unknownDim } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import {
  axisValues,
  type Rounding,
  type Sliding,
  slidings,
  windowAxes,
  type WindowAxis,
  windowCount,
  type WindowParams
} from '../shapes/window.ts'
import { choice, derive, flag, ints } from './sources.ts'
import { onnxAutoPad, onnxWindows, openvinoWindows } from './window-sources.ts'

export interface PoolParams extends WindowParams {
  readonly kernel: readonly number[]
  readonly rounding: Rounding
}

/**
 * Attributes of ONNX's pools. `ceil_mode` does not add windows that start in the padding at the end and so hold no
 * element, as version 22 says and runtimes do for every version. With `auto_pad` VALID `ceil_mode` has no effect, by
 * the formulas of the specification (ONNX Runtime adds a window).
 */
export const onnxPool = {
  ...onnxWindows,
  kernel: ints('kernel_shape'),
  rounding: derive<Rounding>(node =>
    node.get(flag('ceil_mode', false)) && node.get(onnxAutoPad) !== 'valid' ? 'ceil-inside' : 'floor'
  )
}

/** Attributes of IR's pools. */
export const openvinoPool = {
  ...openvinoWindows,
  kernel: ints('kernel'),
  strides: ints('strides'),
  rounding: choice<Rounding>('rounding_type', { floor: 'floor', ceil: 'ceil', ceil_torch: 'ceil-inside' }, 'floor')
}

/**
 * Dims of what has a place for each window of a pool, or of what windows with these places read.
 * @param sizeOf the size along a spatial axis, from that of the data; batch and channels are the data's own
 * @throws NodewiseError `rank-mismatch`, and errors of the attributes
 */
export function windowDims(
  shape: readonly Dim[] | undefined,
  p: Omit<PoolParams, 'rounding'>,
  sizeOf: (dim: Dim, kernel: number, sliding: Sliding, axis: number) => Dim
): Dim[] {
  const rank = p.kernel.length
  if (rank === 0) fail('value-out-of-range', 'the kernel has no dims')
  if (shape !== undefined && shape.length !== rank + 2) {
    fail(
      'rank-mismatch',
      `data of shape ${printShape(shape)} and a kernel of ${rank} dims; data of rank ${rank + 2} are expected`
    )
  }
  const kernel = axisValues(p.kernel, rank, 'kernel', 1)
  const sizes = slidings(rank, p).map((sliding, i) => sizeOf(shape?.[i + 2] ?? unknownDim(), kernel[i], sliding, i + 2))
  return [shape?.[0] ?? unknownDim(), shape?.[1] ?? unknownDim(), ...sizes]
}

/**
 * Shape of a pooling.
 * @throws NodewiseError `rank-mismatch`, and errors of the attributes
 */
export const pooledShape = ({ shape }: TensorFact, p: PoolParams): Dim[] =>
  windowDims(shape, p, (dim, kernel, sliding) => windowCount(dim, kernel, sliding, p.rounding))

/** The windows along each axis, for shapes that {@link pooledShape} has checked. */
export const poolAxes = (dims: readonly number[], outDims: readonly number[], p: PoolParams): WindowAxis[] =>
  windowAxes(dims.slice(2), p.kernel, outDims.slice(2), p)
