import { alignedShape, type Broadcast } from '../../op-kit/broadcast.ts'
import { asScalar, elementwise, extreme, reshapedTo, zeroOf } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub, widened, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  type Conversions,
  dimsOf,
  first,
  type Leniency,
  type Made,
  opNamed,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Op } from '../../op-kit/define.ts'
import { sameDim } from '../../shapes/dim.ts'
import { type DType, DTYPES, isFloat, isInteger } from '../../tensor/dtype.ts'
import { activationOps } from './activations.ts'
import { binaryOps } from './binary.ts'
import { cast, castLike } from './cast.ts'
import { clip } from './clip.ts'
import { convertPromoteTypes } from './convert-promote-types.ts'
import { fusedElementwiseRules } from './fused-conversions.ts'
import { pow } from './pow.ts'
import { prelu } from './prelu.ts'
import { unaryOps } from './unary.ts'
import { variadicOps } from './variadic.ts'
import { where } from './where.ts'

const binary = (name: string): Op => opNamed(binaryOps, name)
const unary = (name: string): Op => opNamed(unaryOps, name)
const activation = (name: string): Op => opNamed(activationOps, name)

/** The second operand with dims of 1 where NumPy's rules need them. */
function alignedToNumpy(call: SourceCall, w: Writer, first: Made, second: Made): Made {
  const broadcast = call.param<Broadcast>('broadcast')
  if (broadcast.mode !== 'aligned') return second
  const dims = dimsOf(second)
  const wanted = alignedShape(rankOf(first), dims, broadcast.axis)
  return wanted.length === dims.length ? second : reshapedTo(w, second, wanted)
}

/** Operands aligned from an axis on, as ONNX had it before version 7 and IR has it as `pdpd`. */
const aligned =
  (op: Op, first = 'a', second = 'b') =>
  (call: SourceCall, w: Writer): readonly Made[] | undefined => {
    if (call.param<Broadcast>('broadcast').mode !== 'aligned') return undefined
    const a = call.operand(first)
    const b = alignedToNumpy(call, w, a, call.operand(second))
    return w.op(op, { [first]: a, [second]: b }, { ...call.parameters, broadcast: { mode: 'numpy' } })
  }

/** Equal shapes are the same in NumPy's rules. */
const equalIsNumpy = (op: Op): Leniency => ({
  op,
  parameter: 'broadcast',
  allows: (from, to) => (from as Broadcast).mode === 'none' && (to as Broadcast).mode === 'numpy'
})

const both = (op: Op, convert: Conversion['convert']): Conversion[] => [toOnnx(op, convert), toOpenvino(op, convert)]
const withBroadcast = [...binaryOps, pow]

/** The operands of a binary operator, broadcast as in NumPy. */
const operandsOf = (call: SourceCall, w: Writer): [Made, Made] => [
  call.operand('a'),
  alignedToNumpy(call, w, call.operand('a'), call.operand('b'))
]

/** A type of ONNX's arithmetic that holds a type's numbers. */
const wide = (type: DType): DType =>
  isFloat(type) ? wideType(type) : type === 'uint64' || type === 'int32' ? type : 'int64'

const inWide = (w: Writer, values: readonly Made[], compute: (values: readonly Made[]) => Made): Made => {
  const type = typeOf(values[0])
  const other = wide(type)
  return w.cast(compute(values.map(value => w.cast(value, other))), type)
}

/** Division of integers that floors, by the remainder that has the divisor's sign. */
function divideToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const operands = operandsOf(call, w)
  if (isFloat(typeOf(operands[0])) || call.attribute('m_pythondiv') === 'false')
    return [inWide(w, operands, ([a, b]) => div(w, a, b))]
  return [inWide(w, operands, ([a, b]) => div(w, sub(w, a, w.node('Mod', [a, b], { fmod: 0 })), b))]
}

/** The remainder with the divisor's sign. */
function floorModToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const operands = operandsOf(call, w)
  return [
    inWide(w, operands, ([a, b]) => {
      if (!isFloat(typeOf(a))) return w.node('Mod', [a, b], { fmod: 0 })
      const zero = zeroOf(w, typeOf(a))
      const rest = w.node('Mod', [a, b], { fmod: 1 })
      const hasOtherSign = elementwise(w, 'Less', mul(w, elementwise(w, 'Sign', rest), elementwise(w, 'Sign', b)), zero)
      return elementwise(w, 'Where', hasOtherSign, add(w, rest, b), rest)
    })
  ]
}

const modToOnnx = (call: SourceCall, w: Writer): readonly Made[] => [
  inWide(w, operandsOf(call, w), operands => w.node('Mod', operands, { fmod: 1 }))
]

/** `fmod` truncates; without it the remainder has the divisor's sign. */
const modToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => [
  w.node(call.attribute('fmod') === '1' ? 'Mod' : 'FloorMod', operandsOf(call, w))
]

const extremeToOnnx =
  (name: 'Max' | 'Min') =>
  (call: SourceCall, w: Writer): readonly Made[] => [inWide(w, operandsOf(call, w), ([a, b]) => extreme(w, name, a, b))]

/** Signed integers by powers of two: left by a product, right by a division that floors. */
function bitShiftToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const [a, b] = operandsOf(call, w)
  const type = typeOf(a)
  if (DTYPES[type].kind !== 'int') return undefined
  const own = 'int64'
  const [x, by] = [w.cast(a, own), w.cast(b, own)]
  const power = w.cast(elementwise(w, 'Pow', w.scalar('float64', 2), w.cast(by, 'float64')), own)
  if (call.node.type.includes('Left')) return [w.cast(mul(w, x, power), type)]
  const floored = sub(w, x, w.node('Mod', [x, power], { fmod: 0 }))
  const shifted = div(w, floored, power)
  if (DTYPES[type].bits < 64) return [w.cast(shifted, type)]
  // The power for 63 is more than int64 holds: what is left of the element is its sign.
  const sign = elementwise(w, 'Where', elementwise(w, 'Less', x, zeroOf(w, own)), w.scalar(own, -1), zeroOf(w, own))
  return [elementwise(w, 'Where', elementwise(w, 'Less', by, w.scalar(own, 63)), shifted, sign)]
}

/** IR has words for its flags, ONNX 0 and 1; ONNX Runtime lacks 16-bit floats. */
const isInf = (call: SourceCall, w: Writer): readonly Made[] => {
  const isOn = (name: string): boolean => !['false', '0'].includes((call.attribute(name) ?? 'true').toLowerCase())
  const flags = { detect_negative: isOn('detect_negative'), detect_positive: isOn('detect_positive') }
  const x = call.operand('x')
  return [w.node('IsInf', [w.dialect === 'onnx' ? widened(w, x) : x], flags)]
}

function isFiniteToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = widened(w, call.operand('x'))
  return [elementwise(w, 'Not', elementwise(w, 'Or', w.node('IsInf', [x]), w.node('IsNaN', [x])))]
}

function roundToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  if (!isFloat(typeOf(x))) return [x]
  if (call.attribute('mode')?.toLowerCase() !== 'half_away_from_zero') return [w.node('Round', [x])]
  return [
    inWide(w, [x], ([value]) => {
      const size = elementwise(w, 'Abs', value)
      const whole = elementwise(w, 'Floor', size)
      const half = w.scalar(typeOf(value), 0.5)
      const one = w.scalar(typeOf(value), 1)
      const isUp = elementwise(w, 'GreaterOrEqual', sub(w, size, whole), half)
      const rounded = elementwise(w, 'Where', isUp, add(w, whole, one), whole)
      // NaN and infinities minus themselves are NaN, which rounds nothing up.
      return mul(w, elementwise(w, 'Sign', value), rounded)
    })
  ]
}

/** Functions whose results are fractions: of integers they are rounded to the nearest one, ties away from zero. */
const ofIntegersToOnnx =
  (type: string) =>
  (call: SourceCall, w: Writer): readonly Made[] | undefined => {
    const x = call.operand('x')
    const own = typeOf(x)
    if (!isInteger(own)) return undefined
    const y = w.node(type, [w.cast(x, 'float64')])
    const half = w.scalar('float64', 0.5)
    const away = elementwise(w, 'Floor', add(w, elementwise(w, 'Abs', y), half))
    return [w.cast(mul(w, elementwise(w, 'Sign', y), away), own)]
  }

const FRACTIONAL = ['Sqrt', 'Exp', 'Log', 'Sin', 'Cos', 'Tan', 'Asin', 'Acos', 'Atan', 'Sinh', 'Cosh', 'Tanh', 'Erf']

/** Bounds that are attributes, as constants of the type; of integers those within. */
function clampToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const { kind, bits } = DTYPES[type]
  const lowest = kind === 'int' ? -(2n ** BigInt(bits - 1)) : 0n
  const highest = lowest + 2n ** BigInt(bits) - 1n
  const bound = (value: number, round: (value: number) => number): Made => {
    if (!isInteger(type)) return w.scalar(type, value)
    if (!Number.isFinite(value)) return w.scalar(type, value < 0 ? lowest : highest)
    const whole = BigInt(round(value))
    return w.scalar(type, whole < lowest ? lowest : whole > highest ? highest : whole)
  }
  return [w.node('Clip', [x, bound(call.param('low'), Math.ceil), bound(call.param('high'), Math.floor)])]
}

function clipToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  let x = call.operand('x')
  const [min, max] = [call.optional('min'), call.optional('max')]
  const type = typeOf(x)
  const low = call.param<number>('low')
  const high = call.param<number>('high')
  if (min) x = extreme(w, 'Max', x, asScalar(w, min))
  else if (low !== -Infinity) x = extreme(w, 'Max', x, w.scalar(type, low))
  if (max) x = extreme(w, 'Min', x, asScalar(w, max))
  else if (high !== Infinity) x = extreme(w, 'Min', x, w.scalar(type, high))
  return [x]
}

/** Slopes of the type of x, those of rank 1 with dims of 1, so that both dialects take them for the same dim. */
const preluAligned = (call: SourceCall, w: Writer): readonly Made[] => {
  const x = call.operand('x')
  const slope = w.cast(call.operand('slope'), typeOf(x))
  const [dims, slopes] = [dimsOf(x), dimsOf(slope)]
  const list = call.param<string>('list')
  const isChannels = dims.length > 1 && slopes.length === 1 && slopes[0] !== 1
  const takesChannels = isChannels && (list === 'channels' || (list === 'either' && sameDim(slopes[0], dims[1])))
  const ones = (count: number): number[] => new Array<number>(count).fill(1)
  const shaped = takesChannels
    ? w.reshape(slope, [-1, ...ones(dims.length - 2)])
    : isChannels
      ? w.reshape(slope, [...ones(dims.length - 1), -1])
      : slope
  return [w.node(w.dialect === 'onnx' ? 'PRelu' : 'PReLU', [x, shaped])]
}

const leakyToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => {
  const x = call.operand('x')
  return [w.node('PReLU', [x, w.constant(typeOf(x), [Number(call.attribute('alpha'))])])]
}

/**
 * Powers of two types, in one that holds both: integers to integers keep their low bits; integers to floats are
 * computed in double precision, since no narrower float holds them, and truncated.
 */
function powToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [base, exponent] = [call.operand('base'), call.operand('exponent')]
  const [own, other] = [typeOf(base), typeOf(exponent)]
  const ofInteger: DType = isFloat(other) ? 'float64' : 'int64'
  const ofFloat = isFloat(other) && DTYPES[other].bits > DTYPES[own].bits ? other : own
  const type = isFloat(own) ? ofFloat : ofInteger
  return [w.cast(elementwise(w, 'Pow', w.cast(base, type), w.cast(exponent, type)), own)]
}

/** A function whose parameters are inputs of the type of x: OpenVINO refuses a model where they have another. */
const withTypedParameters =
  (type: string, names: readonly string[]) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const x = call.operand('x')
    return [w.node(type, [x, ...names.map(name => w.scalar(typeOf(x), call.param<number>(name)))])]
  }

/** `x * sigmoid(beta * x)`: an operator of its own only since opset 24. */
function swishToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const beta = call.knows('beta') ? call.param<number>('beta') : undefined
  const factor = beta === undefined ? call.source('beta') : w.scalar(type, beta)
  const scaled = factor === undefined || beta === 1 ? x : mul(w, x, factor)
  return [mul(w, x, elementwise(w, 'Sigmoid', scaled))]
}

const RUNNING = { Max: 'Max', Min: 'Min', Sum: 'Add', Mean: 'Add' } as const

const variadicToOpenvino =
  (name: keyof typeof RUNNING) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const inputs = call.all('inputs')
    const kind = RUNNING[name]
    const total = inputs.reduce((a, b) => (kind === 'Add' ? add(w, a, b) : extreme(w, kind, a, b)))
    return [name === 'Mean' ? div(w, total, w.scalar(typeOf(total), inputs.length)) : total]
  }

function thresholdedToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const isAbove = elementwise(w, 'Greater', x, w.scalar(type, Number(call.attribute('alpha'))))
  return [elementwise(w, 'Where', isAbove, x, zeroOf(w, type))]
}

const selectAligned = (call: SourceCall, w: Writer): readonly Made[] | undefined => {
  if (call.param<Broadcast>('broadcast').mode !== 'aligned') return undefined
  const whenTrue = call.operand('whenTrue')
  const others = ['condition', 'whenFalse'].map(name => alignedToNumpy(call, w, whenTrue, call.operand(name)))
  return [elementwise(w, 'Where', others[0], whenTrue, others[1])]
}

/** Rounding rules of Cast and Convert differ for floats of 8 and 4 bits only. */
const roundsAlike = (_from: unknown, _to: unknown, call: SourceCall): boolean => {
  const [result] = call.results
  return (
    result.kind === 'tensor' && result.type !== undefined && (!isFloat(result.type) || DTYPES[result.type].bits >= 16)
  )
}

const sameAlpha = (from: unknown, to: unknown): boolean => {
  const [a, b] = [from, to].map(fn => (fn as { readonly alpha?: number }).alpha)
  return a !== undefined && b !== undefined && Math.abs(a - b) <= 1e-6 * Math.abs(a)
}

const dividesFloats = (_from: unknown, _to: unknown, call: SourceCall): boolean => isFloat(typeOf(call.operand('a')))

/** Elementwise operators of one dialect in words of the other. */
export const elementwiseConversions: Conversions = {
  rules: [
    ...binaryOps.flatMap(op => both(op, aligned(op))),
    ...both(pow, aligned(pow, 'base', 'exponent')),
    toOpenvino(pow, powToOpenvino),
    ...both(where, selectAligned),
    toOnnx(binary('Div'), divideToOnnx),
    toOnnx(binary('FloorMod'), floorModToOnnx),
    toOnnx(binary('Mod'), modToOnnx),
    toOpenvino(binary('Mod'), modToOpenvino),
    toOnnx(binary('Maximum'), extremeToOnnx('Max')),
    toOnnx(binary('Minimum'), extremeToOnnx('Min')),
    toOnnx(binary('NotEqual'), (call, w) => [elementwise(w, 'Not', elementwise(w, 'Equal', ...operandsOf(call, w)))]),
    toOnnx(binary('SquaredDifference'), (call, w) => {
      const difference = sub(w, ...operandsOf(call, w))
      return [mul(w, difference, difference)]
    }),
    toOnnx(binary('BitShift'), bitShiftToOnnx),
    ...both(unary('IsInf'), isInf),
    toOnnx(unary('IsFinite'), isFiniteToOnnx),
    toOnnx(unary('Round'), roundToOnnx),
    ...FRACTIONAL.map(name => toOnnx(unary(name), ofIntegersToOnnx(name))),
    toOpenvino(unary('Reciprocal'), (call, w) => {
      const x = call.operand('x')
      return [div(w, w.scalar(typeOf(x), 1), x)]
    }),
    toOnnx(activation('HSigmoid'), (call, w) => [
      w.node('HardSigmoid', [call.operand('x')], { alpha: 1 / 6, beta: 0.5 })
    ]),
    toOpenvino(activation('LeakyRelu'), leakyToOpenvino),
    toOpenvino(activation('ThresholdedRelu'), thresholdedToOpenvino),
    first(toOpenvino(activation('Selu'), withTypedParameters('Selu', ['alpha', 'gamma']))),
    first(toOpenvino(activation('HardSigmoid'), withTypedParameters('HardSigmoid', ['alpha', 'beta']))),
    first(toOpenvino(activation('Swish'), withTypedParameters('Swish', ['beta']))),
    toOnnx(activation('Swish'), swishToOnnx),
    toOnnx(convertPromoteTypes, (call, w) =>
      ['a', 'b'].map((name, i) => {
        const [value, result] = [call.operand(name), call.results[i]]
        return result.kind === 'tensor' && result.type ? w.cast(value, result.type) : value
      })
    ),
    within(toOnnx(clip, clampToOnnx)),
    toOpenvino(clip, clipToOpenvino),
    ...both(prelu, preluAligned),
    ...fusedElementwiseRules,
    ...(['Max', 'Min', 'Sum', 'Mean'] as const).map(name =>
      toOpenvino(opNamed(variadicOps, name), variadicToOpenvino(name))
    )
  ],
  leniencies: [
    ...[...withBroadcast, where].map(equalIsNumpy),
    { op: binary('Div'), parameter: 'function', allows: dividesFloats },
    { op: cast, parameter: 'rules', allows: roundsAlike },
    { op: castLike, parameter: 'rules', allows: roundsAlike },
    ...activationOps.map(op => ({ op, parameter: 'function', allows: sameAlpha }))
  ]
}
