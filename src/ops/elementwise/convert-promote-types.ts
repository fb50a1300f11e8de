import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { flag, type } from '../../op-kit/sources.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DType, DTYPES, type Kind } from '../../tensor/dtype.ts'

interface Params {
  unsafe: boolean
  /** Where a tensor and a scalar have types of one kind, the tensor's type is taken. */
  scalarsYield: boolean
  /** The type for uint64 and a signed integer, since no integer type holds both. */
  wideTarget: DType
}

/**
 * Converts both operands to their common type: floats take precedence over integers, these over booleans; of one kind
 * it is the narrowest type that holds both. OpenVINO ConvertPromoteTypes-14.
 */
export const convertPromoteTypes = defineOp({
  name: 'ConvertPromoteTypes',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 14,
      bind: {
        unsafe: flag('promote_unsafe'),
        scalarsYield: flag('pytorch_scalar_promotion'),
        wideTarget: type('u64_integer_promotion_target')
      }
    }
  ],

  shape({ a, b }, p) {
    const common = promotedType(a, b, p)
    return [tensorFact(common, a.shape), tensorFact(common, b.shape)]
  },

  *run({ a, b }, p, call) {
    const common = promotedType(
      { kind: 'tensor', type: a.type, shape: a.dims },
      { kind: 'tensor', type: b.type, shape: b.dims },
      p
    )
    if (common === undefined) return
    for (const [i, tensor] of [a, b].entries()) {
      if (tensor.type === common) call.give(i, tensor)
      else yield* convertPaced(tensor, call.rawOutput(i, tensor.dims, common), { dialect: 'openvino' })
    }
  }
})

const PRIORITY: Readonly<Partial<Record<Kind, number>>> = { bool: 0, uint: 1, int: 1, float: 2 }

function promotedType(a: TensorFact, b: TensorFact, p: ShapeParams<Params>): DType | undefined {
  if (a.type === undefined || b.type === undefined || a.type === b.type) return a.type === b.type ? a.type : undefined
  const [high, low] = priority(a.type) >= priority(b.type) ? [a, b] : [b, a]
  const types = [high.type, low.type] as [DType, DType]
  if (priority(types[0]) !== priority(types[1])) return acrossKinds(...types, p)
  const promoted = DTYPES[types[0]].kind === 'float' ? commonFloat(...types) : commonInteger(...types, p)
  const chosen = p.scalarsYield ? scalarYields(a, b, promoted) : promoted
  if (chosen !== undefined && !p.unsafe) demandSafe(types, promoted, chosen)
  return chosen
}

const priority = (of: DType): number =>
  PRIORITY[DTYPES[of].kind] ?? fail('type-not-allowed', `elements of type ${of} are not promoted`)

function acrossKinds(high: DType, low: DType, { unsafe }: ShapeParams<Params>): DType {
  const exact =
    DTYPES[high].kind !== 'float' || DTYPES[low].kind === 'bool' || DTYPES[high].bits >= 2 * DTYPES[low].bits
  return exact || unsafe
    ? high
    : fail('type-not-allowed', `${low} as ${high} loses precision, which promote_unsafe does not allow`)
}

/** The tensor's type where the other operand is a scalar; undefined while a rank is unknown. */
function scalarYields(a: TensorFact, b: TensorFact, promoted: DType): DType | undefined {
  if (a.shape === undefined || b.shape === undefined) return undefined
  return (a.shape.length === 0) === (b.shape.length === 0) ? promoted : a.shape.length === 0 ? b.type : a.type
}

/** Mantissa and exponent bits, narrowest type first. */
const FLOAT_BITS: readonly (readonly [DType, number, number])[] = [
  ['float8e4m3fn', 3, 4],
  ['float8e5m2', 2, 5],
  ['float16', 10, 5],
  ['bfloat16', 7, 8],
  ['float32', 23, 8],
  ['float64', 52, 11]
]

function commonFloat(a: DType, b: DType): DType {
  const [x, y] = [a, b].map(
    of =>
      FLOAT_BITS.find(([type]) => type === of) ?? fail('type-not-allowed', `elements of type ${of} are not promoted`)
  )
  const found = FLOAT_BITS.find(
    ([, mantissa, exponent]) => mantissa >= Math.max(x[1], y[1]) && exponent >= Math.max(x[2], y[2])
  )
  return found ? found[0] : 'float64'
}

function commonInteger(a: DType, b: DType, { wideTarget }: ShapeParams<Params>): DType {
  const signed = DTYPES[a].kind === 'int' || DTYPES[b].kind === 'int'
  const needed = Math.max(...[a, b].map(of => DTYPES[of].bits * (signed && DTYPES[of].kind === 'uint' ? 2 : 1)))
  const bits = [4, 8, 16, 32, 64].find(width => width >= needed)
  return bits === undefined ? wideTarget : (`${signed ? 'int' : 'uint'}${bits}` as DType)
}

function demandSafe(types: readonly [DType, DType], promoted: DType, chosen: DType): void {
  const widest = Math.max(DTYPES[types[0]].bits, DTYPES[types[1]].bits)
  const safe = promoted === chosen && DTYPES[promoted].bits <= widest && types.includes(promoted)
  if (!safe)
    fail('type-not-allowed', `${types.join(' and ')} have no common type of their own; ${chosen} needs promote_unsafe`)
}
