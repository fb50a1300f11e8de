import { fail } from '../../errors.ts'
import { storeManyIntegers } from '../../kernels/core/integers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, meetDims, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { MAX_INT32 } from '../../tensor/dtype.ts'
import { toIndices } from '../../tensor/elements.ts'
import { positionOf, type Tensor } from '../../tensor/tensor.ts'

/** Types of the indices in the bytes where strings begin and end. */
const OFFSETS = ['int32', 'int64'] as const

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/**
 * Decodes strings from UTF-8 bytes between `begins` (inclusive) and `ends` (exclusive), which may overlap and need not
 * cover all bytes. OpenVINO StringTensorPack-15. Bytes that are not UTF-8 are refused, since strings are text here.
 */
export const stringTensorPack = defineOp({
  name: 'StringTensorPack',
  operands: { begins: 'tensor', ends: 'tensor', symbols: 'tensor' },
  openvino: [{ since: 15, types: { begins: OFFSETS, ends: OFFSETS, symbols: ['uint8'] }, bind: {} }],

  shape({ begins, ends, symbols }) {
    commonType({ begins, ends })
    checkRank('symbols', symbols, 1)
    return [tensorFact('string', meetShapes(begins, ends))]
  },

  *run({ begins, ends, symbols }, _, call) {
    const starts = toIndices(begins)
    const stops = toIndices(ends)
    const bytes = symbols.data as Uint8Array
    const strings = call.output().data as string[]
    const pace = new Pace()
    for (let i = 0; i < strings.length; i++) {
      if (!(starts[i] >= 0 && starts[i] <= stops[i] && stops[i] <= bytes.length)) {
        failString(begins, i, `lies at ${begins.data[i]} to ${ends.data[i]} of ${bytes.length} bytes`)
      }
      try {
        // A copy, since browsers do not decode shared memory.
        strings[i] = decoder.decode(bytes.slice(starts[i], stops[i]))
      } catch {
        failString(begins, i, 'is not UTF-8')
      }
      if (pace.isDue((64 + strings[i].length) * COST.element)) yield
    }
  }
})

function failString({ dims }: Tensor, i: number, what: string): never {
  fail('value-out-of-range', `the string at [${positionOf(i, dims).join(', ')}] ${what}`)
}

function meetShapes({ shape: begins }: TensorFact, { shape: ends }: TensorFact): readonly Dim[] | undefined {
  if (begins === undefined || ends === undefined) return begins ?? ends
  const met = begins.length === ends.length ? begins.map((dim, i) => meetDims(dim, ends[i])) : [undefined]
  if (met.includes(undefined))
    fail(
      'shape-mismatch',
      `begins and ends have shapes ${printShape(begins)} and ${printShape(ends)}; they must be equal`
    )
  return met as Dim[]
}

/** The concatenated UTF-8 bytes of all strings, and where each begins and ends. OpenVINO StringTensorUnpack-15. */
export const stringTensorUnpack = defineOp({
  name: 'StringTensorUnpack',
  operands: { data: 'tensor' },
  openvino: [{ since: 15, types: { data: ['string'] }, bind: {} }],
  shape: ({ data }) => [
    tensorFact('int32', data.shape),
    tensorFact('int32', data.shape),
    tensorFact('uint8', [unknownDim()])
  ],

  *run({ data }, _, call) {
    const texts = data.data as string[]
    const pieces: Uint8Array[] = []
    const begins: number[] = []
    const ends: number[] = []
    const pace = new Pace()
    let total = 0
    for (const text of texts) {
      const piece = encoder.encode(text)
      pieces.push(piece)
      begins.push(total)
      total += piece.length
      ends.push(total)
      if (pace.isDue((64 + piece.length) * COST.element)) yield
    }
    if (total > MAX_INT32) fail('limit-exceeded', `the strings take ${total} bytes, more than int32 counts`)
    yield* storeManyIntegers(call.output(0), begins)
    yield* storeManyIntegers(call.output(1), ends)
    const symbols = call.output(2, [total]).data as Uint8Array
    yield* inChunks(
      pieces.length,
      (from, to) => {
        for (let i = from; i < to; i++) symbols.set(pieces[i], begins[i])
      },
      16 * COST.element
    )
  }
})
