import { fail } from '../errors.ts'
import { type Dim, printShape, unknownDim } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import {
  axisValues,
  type Rounding,
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
 * Attributes of ONNX's pools. Of the windows that `ceil_mode` adds those that would start in the padding at the end are
 * left out, as
 * version 22 says and runtimes do for every version: they hold no element. With `auto_pad` VALID the formulas of the
 * specification
 * give no window beyond the data, whatever `ceil_mode` says (ONNX Runtime adds one).
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
 * Shape of a pooling.
 * @throws NodewiseError `rank-mismatch`, and what is wrong with the attributes
 */
export function pooledShape({ shape }: TensorFact, p: PoolParams): Dim[] {
  const rank = p.kernel.length
  if (rank === 0) fail('value-out-of-range', 'the kernel has no dims')
  if (shape !== undefined && shape.length !== rank + 2) {
    fail(
      'rank-mismatch',
      `data of shape ${printShape(shape)} and a kernel of ${rank} dims; data of rank ${rank + 2} are expected`
    )
  }
  const kernel = axisValues(p.kernel, rank, 'kernel', 1)
  const counts = slidings(rank, p).map((sliding, i) =>
    windowCount(shape?.[i + 2] ?? unknownDim(), kernel[i], sliding, p.rounding)
  )
  return [shape?.[0] ?? unknownDim(), shape?.[1] ?? unknownDim(), ...counts]
}

/** The windows of what {@link pooledShape} allowed. */
export const poolAxes = (dims: readonly number[], outDims: readonly number[], p: PoolParams): WindowAxis[] =>
  windowAxes(dims.slice(2), p.kernel, outDims.slice(2), p)
