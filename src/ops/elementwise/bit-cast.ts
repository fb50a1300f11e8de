import { fail } from '../../errors.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { type } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'

/**
 * The same bits as elements of another type of the same width, little-endian; any byte but 0 is true. ONNX BitCast-26.
 */
export const bitCast = defineOp({
  name: 'BitCast',
  operands: { input: 'tensor' },
  params: params<{ to: DType }>(),
  onnx: [{ since: 26, bind: { to: type('to') } }],

  shape({ input }, { to }) {
    if (to === 'string') fail('type-not-allowed', 'strings have no bits to cast to')
    if (input.type && DTYPES[input.type].bits !== DTYPES[to].bits) {
      fail(
        'type-mismatch',
        `${to} has ${DTYPES[to].bits} bits and ${input.type} ${DTYPES[input.type].bits}; they must be as wide`
      )
    }
    return [tensorFact(to, input.shape)]
  },

  run({ input }, { to }, call) {
    if (input.type === to) return call.give(0, input)
    const out = call.output()
    const bytes = bytesOf(out.data as Uint8Array)
    bytes.set(bytesOf(input.data as Uint8Array))
    const { kind, bits } = DTYPES[to]
    if (to === 'bool') for (let i = 0; i < bytes.length; i++) bytes[i] = bytes[i] === 0 ? 0 : 1
    // A sub-byte element takes a whole byte in memory; that of a signed one is sign-extended.
    else if (bits < 8)
      for (let i = 0; i < bytes.length; i++)
        bytes[i] = kind === 'int' ? (bytes[i] << (32 - bits)) >> (32 - bits) : bytes[i] & ((1 << bits) - 1)
  }
})
