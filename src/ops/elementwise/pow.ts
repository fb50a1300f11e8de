import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { POWER, power } from '../../kernels/elementwise/binary.ts'
import {
  alignedShape,
  autoBroadcast,
  type Broadcast,
  broadcastResult,
  legacyBroadcast
} from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { is } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { arithmetic } from '../../shapes/elem.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type Int, mul } from '../../shapes/sym.ts'
import { type DType, is64BitInteger, isFloat, isInteger } from '../../tensor/dtype.ts'
import { allocate, withDims } from '../../tensor/tensor.ts'

interface Params {
  broadcast: Broadcast
}

/**
 * `base` to the power of `exponent`, of the base's type; ONNX allows another type for the exponent from version 12 on,
 * IR never does.
 * Floats are computed by IEEE 754 `pow`. Powers of integers keep their low bits; a negative integer exponent gives the
 * integer part, and 0 to a negative exponent is refused. An integer to a float is computed in double precision and
 * truncated. Both specifications leave integers open.
 */
export const pow = defineOp({
  name: 'Pow',
  operands: { base: 'tensor', exponent: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { broadcast: legacyBroadcast } },
    { since: 7, bind: { broadcast: is({ mode: 'numpy' }) } }
  ],
  openvino: [
    { type: 'Power', since: 1, types: { base: NUMERIC, exponent: NUMERIC }, bind: { broadcast: autoBroadcast } }
  ],

  shape({ base, exponent }, { broadcast }, { dialect }) {
    const type = dialect === 'openvino' ? commonType({ base, exponent }) : base.type
    return [tensorFact(type, broadcastResult(base.shape, exponent.shape, broadcast))]
  },

  elem: (elements, { broadcast }) => (broadcast.mode === 'aligned' ? undefined : powerOfElems(elements)),

  *run({ base, exponent }, { broadcast }, call) {
    const out = call.output()
    const exponents =
      broadcast.mode === 'aligned'
        ? withDims(exponent, alignedShape(base.dims.length, exponent.dims, broadcast.axis))
        : exponent
    if (isFloat(base.type)) {
      yield* binary(POWER, base, isFloat(exponents.type) ? exponents : yield* convertedPaced(exponents, 'float64'), out)
      return
    }
    if (isNarrow(base.type) && isNarrow(exponents.type)) {
      yield* binary(POWER, base, exponents, out)
      return
    }
    const type = isInteger(exponents.type) ? 'int64' : 'float64'
    const powers = allocate(type, out.dims)
    yield* binary(POWER, yield* convertedPaced(base, type), yield* convertedPaced(exponents, type), powers)
    yield* convertPaced(powers, out)
  }
})

/** Whether elements are integers that a number holds. */
const isNarrow = (type: DType): boolean => isInteger(type) && !is64BitInteger(type)

const MAX_SYMBOLIC_EXPONENT = 8n

const powerOfElems = arithmetic((base, exponent) => {
  if (typeof exponent !== 'bigint' || exponent < 0n || exponent > MAX_SYMBOLIC_EXPONENT) return undefined
  let result: Int = 1n
  for (let i = 0n; i < exponent; i++) result = mul(result, base)
  return result
}, power)
