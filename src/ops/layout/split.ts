import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { copyUnits, unitsOfBoth } from '../../kernels/core/units.ts'
import { type DataDependent, defineOp, type KernelContext, params, type ShapeParams } from '../../op-kit/define.ts'
import { inputInt, inputInts, int, ints, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import {
  addDims,
  asDim,
  ceilDivDims,
  type Dim,
  floorDivDims,
  mayMatch,
  mulDims,
  normalizeAxis,
  printDim,
  printShape,
  subDims
} from '../../shapes/dim.ts'
import { type Movable, tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, partOf, sizesOf } from '../../shapes/lists.ts'
import { DTYPES, type NumericArray } from '../../tensor/dtype.ts'
import { elementCount, product, Tensor } from '../../tensor/tensor.ts'

interface Params {
  axis: DataDependent<number>
  /** Sizes of the parts; equal parts where both this and `attributeSizes` are undefined. */
  sizes: DataDependent<readonly number[] | undefined>
  attributeSizes: readonly number[] | undefined
  /** Number of equal parts: given, or the number of outputs. */
  parts: number | 'outputs' | undefined
  /** Whether the last of the equal parts may be smaller. */
  uneven: boolean
  /** Whether one size may be -1, which stands for the rest. */
  rest: boolean
}

const equal = { uneven: is(false), rest: is(false) }
const byAttribute = { sizes: is(undefined), attributeSizes: optional(ints('split')) }
const byInput = { sizes: optionalInput(inputInts(1)), attributeSizes: is(undefined) }
const notGiven = { sizes: is(undefined), attributeSizes: is(undefined) }

/**
 * Splits `data` along `axis`. ONNX Split-1 (sizes as attribute or input; default axis 0), -2, -11 (attribute), -13
 * (input), -18 (`num_outputs`); OpenVINO Split-1 (equal parts), VariadicSplit-1.
 */
export const split = defineOp({
  name: 'Split',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 1,
      bind: { axis: int('axis', 0), ...byAttribute, sizes: optionalInput(inputInts(1)), parts: is('outputs'), ...equal }
    },
    { since: 2, bind: { axis: int('axis'), ...byAttribute, parts: is('outputs'), ...equal } },
    { since: 13, bind: { axis: int('axis'), ...byInput, parts: is('outputs'), ...equal } },
    {
      since: 18,
      bind: { axis: int('axis'), ...byInput, parts: optional(int('num_outputs')), uneven: is(true), rest: is(false) }
    }
  ],
  openvino: [
    {
      since: 1,
      types: { axis: INDEX_TYPES },
      bind: { axis: inputInt(1), ...notGiven, parts: int('num_splits'), ...equal }
    },
    {
      type: 'VariadicSplit',
      since: 1,
      types: { axis: INDEX_TYPES, sizes: INDEX_TYPES },
      bind: {
        axis: inputInt(1),
        ...notGiven,
        sizes: inputInts(2),
        parts: is(undefined),
        uneven: is(false),
        rest: is(true)
      }
    }
  ],
  moves: ['data'],

  shape({ data }, p, { outputCount }) {
    const { shape } = data
    const fact = (dims: Dim[] | undefined) => tensorFact(data.type, dims)
    const { axis: given } = p
    if (shape === undefined) return Array.from({ length: outputCount }, () => fact(undefined))
    if (typeof given !== 'number') return Array.from({ length: outputCount }, () => fact(shape.map(partOf)))
    const axis = normalizeAxis(given, shape.length)
    return partSizes(shape[axis], p, outputCount).map(size => fact(shape.map((dim, i) => (i === axis ? size : dim))))
  },

  run({ data }, p, call) {
    const axis = normalizeAxis(p.axis, data.dims.length)
    const outer = elementCount(data.dims.slice(0, axis))
    const sizes = partSizes(data.dims[axis], p, call.outputCount) as number[]
    if (outer !== 1 || data.data.length > MAX_AT_ONCE) return splitLines(data, axis, outer, sizes, call)
    splitLine(data, axis, sizes, call)
    return undefined
  }
})

/** Elements that are copied in one go. */
const MAX_AT_ONCE = 1 << 16

/** Splits what lies in one line: its parts lie one after the other. */
function splitLine(data: Movable, axis: number, sizes: readonly number[], call: KernelContext<Movable>): void {
  const inner = product(data.dims, axis + 1)
  for (let i = 0, offset = 0; i < sizes.length; i++) {
    const count = sizes[i] * inner
    if (call.wanted(i) && call.mayGiveParts) {
      const dims = data.dims.with(axis, sizes[i])
      call.give(i, elementsOf(data as Tensor, dims, offset, count))
    } else if (call.wanted(i)) {
      const { from, to, per } = unitsOfBoth(data, call.rawOutput(i))
      copyUnits(from, offset * per, to, 0, count * per)
    }
    offset += count
  }
}

/** A part of what lies in one line, where it lies. */
function elementsOf({ type, data }: Tensor, dims: readonly number[], from: number, count: number): Tensor {
  const { slots } = DTYPES[type]
  return new Tensor(type, (data as NumericArray).subarray(from * slots, (from + count) * slots), dims)
}

function* splitLines(
  data: Movable,
  axis: number,
  outer: number,
  sizes: readonly number[],
  call: KernelContext<Movable>
): Generator<void> {
  const inner = product(data.dims, axis + 1)
  const stride = data.dims[axis] * inner
  let offset = 0
  const pace = new Pace()
  for (const [i, size] of sizes.entries()) {
    const block = size * inner
    const loops = [
      { count: outer, from: stride, to: block },
      { count: block, from: 1, to: 1 }
    ]
    if (call.wanted(i)) yield* copyStrided(data, call.rawOutput(i), loops, offset)
    offset += block
    if (pace.isDue(2 * COST.allocation)) yield
  }
}

type SplitParams = Omit<ShapeParams<Params>, 'axis'>

/** Size along the axis of each output. */
function partSizes(size: Dim, p: SplitParams, outputCount: number): Dim[] {
  const list = givenSizes(p)
  if (list === 'unknown') return Array.from({ length: outputCount }, () => partOf(size))
  if (list === undefined)
    return equalParts(size, p.parts === 'outputs' ? outputCount : (p.parts ?? 0), p.uneven, outputCount)
  const result = listedParts(size, list, p.rest)
  demandParts(result.length, outputCount)
  return result
}

function demandParts(parts: number, outputs: number): void {
  if (parts !== outputs) fail('shape-mismatch', `the split has ${parts} parts, the node ${outputs} outputs`)
}

function givenSizes({ sizes, attributeSizes, parts }: SplitParams): DataDependentList | undefined {
  const list = sizes ?? attributeSizes
  if (list !== undefined && typeof parts === 'number') {
    fail('wrong-input-count', 'both split and num_outputs are given; only one is allowed')
  }
  if (list === undefined && parts === undefined) fail('missing-attribute', 'neither split nor num_outputs is given')
  return list
}

function equalParts(size: Dim, parts: number, uneven: boolean, outputCount: number): Dim[] {
  if (parts < 1) fail('value-out-of-range', `${parts} parts are asked for`)
  if (!uneven) {
    if (typeof size === 'number' && size % parts !== 0)
      fail('shape-mismatch', `size ${size} of the axis is no multiple of ${parts}`)
    // Checked before the list is made, since `parts` may be huge.
    demandParts(parts, outputCount)
    return new Array<Dim>(parts).fill(floorDivDims(size, parts))
  }
  const whole = ceilDivDims(size, parts)
  const last = subDims(size, mulDims(whole, parts - 1))
  if (typeof last === 'number' && last < 0) {
    fail(
      'value-out-of-range',
      `size ${printDim(size)} of the axis does not give ${parts} parts of which only the last is smaller`
    )
  }
  demandParts(parts, outputCount)
  return [...new Array<Dim>(parts - 1).fill(whole), asDim(last)]
}

function listedParts(size: Dim, list: readonly Dim[], allowRest: boolean): Dim[] {
  const restAt = allowRest ? list.indexOf(-1) : -1
  const others = list.filter((_, i) => i !== restAt)
  const sum = sizesOf(others, 'the sizes').reduce(addDims, 0)
  if (restAt < 0) {
    if (!mayMatch(sum, size))
      fail('shape-mismatch', `sizes ${printShape(list)} add up to ${printDim(sum)}; the axis has ${printDim(size)}`)
    return sizesOf(list, 'the sizes')
  }
  const rest = subDims(size, sum)
  if (typeof rest === 'number' && rest < 0) {
    fail(
      'shape-mismatch',
      `sizes ${printShape(list)} add up to ${printDim(sum)}, more than the axis's ${printDim(size)}`
    )
  }
  return list.map((dim, i) => (i === restAt ? asDim(rest) : typeof dim === 'number' ? dim : asDim(dim)))
}
