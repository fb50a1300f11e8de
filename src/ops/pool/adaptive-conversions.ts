import { fail } from '../../errors.ts'
import { asLast, gathered, reduced, staticDims, upTo } from '../../op-kit/conversion-kit.ts'
import { add, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  type Made,
  opNamed,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { adaptivePoolOps } from './adaptive-pool.ts'

/** Elements of a constant that says what windows read. */
const MAX_TABLE = 2 ** 22

/** The elements from which each of `count` windows over `size` elements reads. */
const rangesOf = (size: number, count: number): [number, number][] =>
  upTo(count).map(i => [Math.floor((i * size) / count), Math.ceil(((i + 1) * size) / count)])

/** Means along one axis after the other, each a product with the weights of its windows. */
function averageToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const own = wideType(type)
  const sizes = call.param<readonly number[]>('sizes')
  const dims = staticDims(x, 'the data')
  let y = w.cast(x, own)
  sizes.forEach((count, i) => {
    const [axis, size] = [i + 2, dims[i + 2]]
    if (size * count > MAX_TABLE) fail('unsupported-op', `${count} windows over ${size} elements`)
    const ranges = rangesOf(size, count)
    const weights = upTo(size).flatMap(at =>
      ranges.map(([start, end]) => (at >= start && at < end ? 1 / (end - start) : 0))
    )
    y = asLast(w, y, axis, turned => w.node('MatMul', [turned, w.constant(own, weights, [size, count])]))
  })
  return [w.cast(y, type)]
}

/** All elements of each window side by side: the highest, and where it is among those of a channel. */
function maxToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const sizes = call.param<readonly number[]>('sizes')
  const dims = staticDims(x, 'the data')
  const spatial = dims.slice(2)
  const windows = windowsOf(spatial, sizes)
  const length = Math.max(1, ...windows.map(window => window.length))
  if (windows.length * length > MAX_TABLE) fail('unsupported-op', `${windows.length} windows of ${length} elements`)
  // Windows of fewer elements repeat their first one.
  const table = windows.flatMap(window => upTo(length).map(at => window[at] ?? window[0]))
  const flat = w.reshape(x, [dims[0], dims[1], product(spatial)])
  const taps = gathered(w, flat, w.constant('int64', table, [windows.length, length]), 2)
  const out = [dims[0], dims[1], ...sizes]
  const highest = w.reshape(reduced(w, 'ReduceMax', taps, [3], false), out)
  if (!call.wanted(1)) return [highest, highest]
  const best = w.node('ArgMax', [taps], { axis: 3, keepdims: 0 })
  const starts = w.constant(
    'int64',
    upTo(windows.length).map(window => window * length)
  )
  const at = gathered(w, w.constant('int64', table), add(w, best, starts), 0)
  return [highest, w.cast(w.reshape(at, out), call.param<DType>('indexType'))]
}

/** Positions within a channel that each window reads. */
function windowsOf(spatial: readonly number[], sizes: readonly number[]): number[][] {
  let windows: number[][] = [[0]]
  spatial.forEach((size, i) => {
    const ranges = rangesOf(size, sizes[i])
    windows = windows.flatMap(before =>
      ranges.map(([start, end]) => before.flatMap(at => upTo(end - start, start).map(next => at * size + next)))
    )
  })
  return windows
}

/** Adaptive pools of IR in ONNX. */
export const adaptivePoolRules: readonly Conversion[] = [
  toOnnx(opNamed(adaptivePoolOps, 'AdaptiveAvgPool'), averageToOnnx),
  toOnnx(opNamed(adaptivePoolOps, 'AdaptiveMaxPool'), maxToOnnx)
]
