import { storeIntegers } from '../../kernels/core/integers.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { chunkSize, COST, inChunks } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { choice, is } from '../../op-kit/sources.ts'
import { maxDim, productOf, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import { halvesOf } from '../../tensor/elements.ts'
import { stridesOf, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  outputType: 'int32' | 'int64'
}

/**
 * Positions of the elements that are not zero (empty text, false) in row-major order, as a tensor `[rank, count]`; so
 * `[0, count]` for a scalar. ONNX NonZero-9, -13; OpenVINO NonZero-3.
 */
export const nonZero = defineOp({
  name: 'NonZero',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 9, bind: { outputType: is('int64') } }],
  openvino: [{ since: 3, bind: { outputType: choice('output_type', { i32: 'int32', i64: 'int64' }) } }],

  shape({ data }, p) {
    const maxCount = data.shape ? maxDim(productOf(data.shape)) : Infinity
    return [tensorFact(p.outputType, [data.shape?.length ?? unknownDim(), unknownDim(0, maxCount)])]
  },

  *run({ data }, _, call) {
    const parts = yield* partsOf(data)
    const found = new Float64Array(yield* scan(parts))
    yield* scan(parts, found)
    const out = call.output(0, [data.dims.length, found.length])
    for (const [d, stride] of stridesOf(data.dims).entries()) {
      yield* inChunks(
        found.length,
        (from, to) => {
          storeIntegers(out, coordinatesOf(found, from, to, stride, data.dims[d]), d * found.length + from)
        },
        2 * COST.element
      )
      yield
    }
  }
})

/** Elements that are looked at between two yields. */
const CHUNK = chunkSize(COST.element)

/** Writes the offset of each element that is not zero to `found`, if it is given; returns their count. */
function* scan(parts: Parts, found?: Float64Array): Generator<void, number> {
  let count = 0
  for (let start = 0; start < parts.count; start += CHUNK) {
    const end = Math.min(parts.count, start + CHUNK)
    count = found ? find(parts, start, end, found, count) : count + countIn(parts, start, end)
    yield
  }
  return count
}

function countIn({ array, zero, per }: Parts, start: number, end: number): number {
  let count = 0
  if (per === 1) for (let at = start; at < end; at++) count += Number(array[at] !== zero)
  else for (let at = 2 * start; at < 2 * end; at += 2) count += Number(array[at] !== zero || array[at + 1] !== zero)
  return count
}

/** Every offset is written, and the next one over it where the element is zero: nothing is there to be predicted. */
function find({ array, zero, per }: Parts, start: number, end: number, found: Float64Array, i: number): number {
  for (let at = start; at < end && i < found.length; at++) {
    found[i] = at
    i += Number(array[per * at] !== zero || (per === 2 && array[2 * at + 1] !== zero))
  }
  return i
}

/** Coordinates, along an axis of `size` elements that lie `stride` apart, of the offsets `from <= i < to`. */
function coordinatesOf(found: Float64Array, from: number, to: number, stride: number, size: number): Float64Array {
  const coordinates = new Float64Array(to - from)
  for (let i = from; i < to; i++) {
    const at = Math.floor(found[i] / stride)
    // Quicker than the remainder of numbers that are no small integers.
    coordinates[i - from] = at - Math.floor(at / size) * size
  }
  return coordinates
}

/** Elements as `per` numbers or texts each; an element is zero when all of these are. */
interface Parts {
  readonly array: ArrayLike<number | string>
  readonly zero: 0 | ''
  readonly per: 1 | 2
  readonly count: number
}

function* partsOf(data: Tensor): Generator<void, Parts> {
  const { kind, slots } = DTYPES[data.type]
  const count = data.data.length / slots
  if (is64BitInteger(data.type)) return { array: halvesOf(data), zero: 0, per: 2, count }
  if (kind === 'string') return { array: data.data as string[], zero: '', per: 1, count }
  return {
    array: kind === 'complex' ? (data.data as Float32Array) : yield* readNumbers(data),
    zero: 0,
    per: slots,
    count
  }
}
