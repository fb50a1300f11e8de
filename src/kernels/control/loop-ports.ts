import { fail } from '../../errors.ts'
import {
  addDims,
  asDim,
  type Dim,
  floorDivDims,
  meetDims,
  mulDims,
  normalizeAxis,
  printDim,
  subDims
} from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'

/**
 * The part of an operand that each iteration reads. `start` and `end` (inclusive; negative ones count from the end of
 * the axis) determine the number of parts. Parts are adjacent, from the beginning of the axis or backward from its end,
 * whatever `start` is, as in OpenVINO (its specification would begin at `start`).
 */
export interface Slice {
  readonly axis: number
  readonly start: number
  readonly end: number
  readonly backward: boolean
  readonly part: number
  /** Whether the part keeps the axis; otherwise `part` is 1 and the axis is removed. */
  readonly keepsAxis: boolean
}

/**
 * What an input of the body gets. `operand` is an index of an operand of the operator, `from` one of an output of the
 * body.
 */
export type LoopInput =
  | { readonly kind: 'invariant'; readonly operand: number }
  | { readonly kind: 'sliced'; readonly operand: number; readonly slice: Slice }
  /** The operand in the first iteration, then the body's output of the previous iteration. */
  | { readonly kind: 'carried'; readonly operand: number; readonly from: number }
  /** The number of the iteration, from 0; dims `[]` or `[1]`. */
  | { readonly kind: 'iteration'; readonly type: DType; readonly dims: readonly number[] }
  /** The condition with which the iteration runs. */
  | { readonly kind: 'condition'; readonly from: number; readonly dims: readonly number[] }
  /** No value; the body must not read this input. */
  | { readonly kind: 'unfed' }

/** What an output of the operator is. */
export type LoopOutput =
  /** The value of the last iteration. Without iterations it is operand `initial`, or else an empty tensor. */
  | { readonly kind: 'last'; readonly from: number; readonly initial?: number }
  /** The values of all iterations, side by side along `axis` or stacked along a new one. */
  | {
      readonly kind: 'concatenated'
      readonly from: number
      readonly axis: number
      readonly stacks: boolean
      readonly reversed: boolean
      /** Whether a loop without iterations is an error. */
      readonly isNeverEmpty?: boolean
    }

/** How the body of a loop is connected: one entry for each input of the body and for each output of the operator. */
export interface LoopPorts {
  readonly inputs: readonly LoopInput[]
  readonly outputs: readonly LoopOutput[]
  /** Output of the body that says whether to continue; absent: always. */
  readonly condition?: number
}

/**
 * The number of parts of an axis of this size.
 * @throws NodewiseError `value-out-of-range`, `shape-mismatch`
 */
function partsOf(size: Dim, { start, end, backward, part }: Slice): Dim {
  const first = start < 0 ? addDims(size, start) : start
  const last = end < 0 ? addDims(size, end) : end
  const length = addDims(backward ? subDims(first, last) : subDims(last, first), 1)
  if (typeof length === 'number' && length < 0) {
    fail(
      'value-out-of-range',
      `parts from ${start} to ${end} run ${backward ? 'forward' : 'backward'} on an axis of size ${printDim(size)}`
    )
  }
  if (typeof size === 'number' && length !== 0) {
    for (const bound of [first, last]) {
      if (typeof bound === 'number' && (bound < 0 || bound >= size)) {
        fail('value-out-of-range', `parts from ${start} to ${end} are not within an axis of size ${size}`)
      }
    }
  }
  if (typeof length === 'number' && length % part !== 0) {
    fail('shape-mismatch', `${length} elements of an axis do not divide into parts of ${part}`)
  }
  return asDim(floorDivDims(length, part))
}

/**
 * The number of iterations that the sliced inputs allow; undefined when nothing is sliced or no shape is known.
 * @param shapes shapes of the operands
 * @throws NodewiseError `shape-mismatch` when inputs do not agree, `axis-out-of-range`, `value-out-of-range` for parts
 *   beyond the axis
 */
export function tripOfSlices({ inputs }: LoopPorts, shapes: readonly (readonly Dim[] | undefined)[]): Dim | undefined {
  let trip: Dim | undefined
  for (const input of inputs) {
    const shape = input.kind === 'sliced' ? shapes[input.operand] : undefined
    if (input.kind !== 'sliced' || shape === undefined) continue
    const parts = partsOf(shape[normalizeAxis(input.slice.axis, shape.length)], input.slice)
    trip =
      trip === undefined
        ? parts
        : (meetDims(trip, parts) ??
          fail('shape-mismatch', `inputs say ${printDim(trip)} and ${printDim(parts)} iterations; they must agree`))
  }
  return trip
}

/** Dims of one part of an operand. */
export function partDims<D extends Dim>(dims: readonly D[], { axis, part, keepsAxis }: Slice): (D | number)[] {
  const at = normalizeAxis(axis, dims.length)
  const result: (D | number)[] = [...dims]
  result.splice(at, 1, ...(keepsAxis ? [part] : []))
  return result
}

/** Dims of `count` values of these dims, concatenated or stacked. */
export function joinedDims(
  dims: readonly Dim[],
  { axis, stacks }: LoopOutput & { kind: 'concatenated' },
  count: Dim
): Dim[] {
  if (stacks) return dims.toSpliced(normalizeAxis(axis, dims.length + 1), 0, count)
  if (dims.length === 0) return [count]
  const at = normalizeAxis(axis, dims.length)
  return dims.with(at, mulDims(count, dims[at]))
}
