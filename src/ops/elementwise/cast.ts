import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { defineOp, type KernelContext, params } from '../../op-kit/define.ts'
import { choice, derive, type DeriveSource, flag, is, mapped, text, type } from '../../op-kit/sources.ts'
import { type ElemFunction, integerOf } from '../../shapes/elem.ts'
import { type Elem, tensorFact } from '../../shapes/fact.ts'
import { fresh, isSym, type Sym } from '../../shapes/sym.ts'
import type { ConvertOptions } from '../../tensor/convert.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface CastParams {
  to: DType
  rules: ConvertOptions
}

interface CastLikeParams {
  rules: ConvertOptions
}

/** Names of TensorProto.DataType, which Cast-1 uses, that are not our names in capitals. */
const OLD_NAMES: Readonly<Record<string, DType>> = { float: 'float32', double: 'float64' }

const namedType = mapped(text('to'), name => {
  const lower = name.trim().toLowerCase()
  const found = OLD_NAMES[lower] ?? lower
  if (!Object.hasOwn(DTYPES, found))
    fail('unknown-attribute-value', `attribute "to" is "${name}", which is no element type`)
  return found
})

/** The rules of `saturate` and `round_mode`, where the version has these attributes. */
const onnxRules: DeriveSource<ConvertOptions> = derive(node => ({
  dialect: 'onnx',
  saturate: node.get(flag('saturate')) ?? true,
  roundMode: node.get(choice('round_mode', { up: 'up', down: 'down', nearest: 'nearest' })) ?? 'up'
}))

/** First version of Cast that can give a type; types that are not here are as old as Cast. */
const SINCE: Readonly<Partial<Record<DType, number>>> = {
  string: 9,
  bfloat16: 13,
  float8e4m3fn: 19,
  float8e4m3fnuz: 19,
  float8e5m2: 19,
  float8e5m2fnuz: 19,
  int4: 21,
  uint4: 21,
  float4e2m1: 23,
  float8e8m0: 24,
  int2: 25,
  uint2: 25,
  complex64: Infinity,
  complex128: Infinity
}

/**
 * Converts elements to another type; `convert` has the rules. Only ONNX converts between strings and numbers. ONNX
 * Cast-1, -6, -9, -13, -19, -21, -23, -24, -25; OpenVINO Convert-1.
 */
export const cast = defineOp({
  name: 'Cast',
  operands: { input: 'tensor' },
  params: params<CastParams>(),
  onnx: [
    { since: 1, bind: { to: namedType, rules: onnxRules } },
    { since: 6, bind: { to: type('to'), rules: onnxRules } }
  ],
  openvino: [{ type: 'Convert', since: 1, bind: { to: type('destination_type'), rules: is({ dialect: 'openvino' }) } }],

  shape({ input }, { to }, { dialect, version }) {
    const since = SINCE[to] ?? 1
    if (dialect === 'onnx' && version < since) fail('type-not-allowed', `Cast-${version} does not give ${to}`)
    return [tensorFact(to, input.shape)]
  },

  elem: (elements, { to }) => castElem(to)(elements),

  run: ({ input }, { to, rules }, call) => castTo(input, to, rules, call)
})

/** Converts the first operand to the type of the second: ONNX CastLike-15 and later, OpenVINO ConvertLike-1. */
export const castLike = defineOp({
  name: 'CastLike',
  operands: { input: 'tensor', like: 'tensor' },
  params: params<CastLikeParams>(),
  onnx: [{ since: 15, bind: { rules: onnxRules } }],
  openvino: [{ type: 'ConvertLike', since: 1, bind: { rules: is({ dialect: 'openvino' }) } }],
  shape: ({ input, like }) => [tensorFact(like.type, input.shape)],
  run: ({ input, like }, { rules }, call) => castTo(input, like.type, rules, call)
})

function castTo(input: Tensor, to: DType, rules: ConvertOptions, call: KernelContext): void | Generator<void> {
  if (input.type === to) return call.give(0, input)
  return convertPaced(input, call.rawOutput(), rules)
}

/** The converted element. A symbolic integer is kept where the type holds it exactly. */
const castElem =
  (to: DType): ElemFunction =>
  ([element]) => {
    const { kind, bits } = DTYPES[to]
    if (kind === 'int' || kind === 'uint') return toInteger(element, kind === 'int', bits)
    if (kind === 'bool') return toBoolean(element)
    if (kind !== 'float' || bits < 32 || typeof element === 'string') return undefined
    if (isSym(element)) return element
    return bits === 32 ? Math.fround(Number(element)) : Number(element)
  }

function toInteger(element: Elem, signed: boolean, bits: number): Elem | undefined {
  const value = integerOf(typeof element === 'number' ? Math.trunc(element) : element)
  if (typeof value === 'bigint') return signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)
  return value !== undefined && fits(value, signed, bits) ? value : undefined
}

/**
 * Whether a symbol fits into a type. Symbols without an upper bound are sizes, which are assumed to fit into 32 bits.
 */
function fits({ min, max }: Sym, signed: boolean, bits: number): boolean {
  const lowest = signed ? -(2 ** (bits - 1)) : 0
  return min >= lowest && (max <= lowest + 2 ** bits - 1 || (max === Infinity && bits >= 32))
}

function toBoolean(element: Elem): Elem | undefined {
  if (typeof element === 'string') return undefined
  if (!isSym(element)) return Boolean(element) || Number.isNaN(element)
  const { min, max } = element
  return min > 0 || max < 0 ? true : min === 0 && max === 1 ? element : fresh(0, 1)
}
