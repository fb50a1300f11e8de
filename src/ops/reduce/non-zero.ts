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
    const found = new Float64Array(yield* scan(parts, () => {}))
    yield* scan(parts, (at, i) => {
      found[i] = at
    })
    const out = call.output(0, [data.dims.length, found.length])
    for (const [d, stride] of stridesOf(data.dims).entries()) {
      yield* inChunks(
        found.length,
        (from, to) => {
          storeIntegers(
            out,
            found.subarray(from, to).map(at => Math.floor(at / stride) % data.dims[d]),
            d * found.length + from
          )
        },
        2 * COST.element
      )
      yield
    }
  }
})

/** Elements that are looked at between two yields. */
const CHUNK = chunkSize(COST.element)

/** Calls `visit` with the offset of each element that is not zero, and its number; returns their count. */
function* scan({ array, zero, per, count }: Parts, visit: (at: number, i: number) => void): Generator<void, number> {
  let found = 0
  for (let start = 0; start < count; start += CHUNK) {
    const end = Math.min(count, start + CHUNK)
    for (let at = start; at < end; at++) {
      if (array[per * at] !== zero || (per === 2 && array[2 * at + 1] !== zero)) visit(at, found++)
    }
    yield
  }
  return found
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
