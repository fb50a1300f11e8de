import { fail } from '../../errors.ts'
import { unary, type UnaryLoops } from '../../kernels/core/elementwise.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { derive, float, is } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { printShape } from '../../shapes/dim.ts'
import { maxElems, minElems } from '../../shapes/elem.ts'
import { type Elem, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { isSym } from '../../shapes/sym.ts'
import { type DType, DTYPES, is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import { toNumbers } from '../../tensor/elements.ts'

interface Params {
  /** Bounds that are attributes; infinite where they are inputs or absent. */
  low: number
  high: number
  hasMin: boolean
  hasMax: boolean
}

const hasInput = (index: number) => derive(node => node.hasInput(index))
const fromInputs = { low: is(-Infinity), high: is(Infinity), hasMin: hasInput(1), hasMax: hasInput(2) }
const withoutInputs = { hasMin: is(false), hasMax: is(false) }

/**
 * `min(max(x, low), high)`: where the lower bound is above the upper one, the upper one (Clip-13). For integers, bounds
 * that are attributes (Clamp) are rounded inwards. NaN stays NaN, and bounds nothing, as in ONNX Runtime. ONNX Clip-1,
 * -6, -11, -12, -13; OpenVINO Clamp-1.
 */
export const clip = defineOp({
  name: 'Clip',
  operands: { x: 'tensor', min: 'optional', max: 'optional' },
  inPlace: ['x'],
  params: params<Params>(),
  onnx: [
    { since: 1, in: { x: 0 }, bind: { low: float('min', -Infinity), high: float('max', Infinity), ...withoutInputs } },
    { since: 11, bind: fromInputs }
  ],
  openvino: [
    {
      type: 'Clamp',
      since: 1,
      in: { x: 0 },
      types: { x: NUMERIC },
      bind: { low: float('min'), high: float('max'), ...withoutInputs }
    }
  ],

  shape({ x, min, max }) {
    demandScalar('min', min)
    demandScalar('max', max)
    return [tensorFact(commonType({ input: x, min, max }), x.shape)]
  },

  elem([x, ...bounds], { low, high, hasMin, hasMax }) {
    // A symbol may be of a float type, which a bound with a fraction does not leave a whole number.
    if (isSym(x) && !hasMin && !hasMax && [low, high].some(bound => bound % 1 !== 0 && Number.isFinite(bound)))
      return undefined
    const whole = typeof x !== 'number'
    const lower = hasMin ? bounds[0] : attributeElem(Math.ceil(low), low, whole)
    const upper = hasMax ? bounds[hasMin ? 1 : 0] : attributeElem(Math.floor(high), high, whole)
    const raised = isNoBound(lower) ? x : maxElems([x, lower])
    return raised === undefined || isNoBound(upper) ? raised : minElems([raised, upper])
  },

  run({ x, min, max }, { low, high }, call) {
    const { type } = x
    if (is64BitInteger(type)) {
      const lower = min ? (min.data[0] as bigint) : wideBound(Math.ceil(low), type, true)
      const upper = max ? (max.data[0] as bigint) : wideBound(Math.floor(high), type, false)
      return unary(clipBigInts(lower, upper), x, call.rawOutput())
    }
    const lower = min ? toNumbers(min)[0] : isInteger(type) ? wholeBound(Math.ceil(low), type) : low
    const upper = max ? toNumbers(max)[0] : isInteger(type) ? wholeBound(Math.floor(high), type) : high
    return unary(clipNumbers(lower, upper), x, call.rawOutput())
  }
})

const isNoBound = (bound: Elem | undefined): bound is undefined => bound === undefined || Number.isNaN(bound)

const attributeElem = (whole: number, bound: number, isWhole: boolean): Elem | undefined =>
  !Number.isFinite(bound) ? undefined : isWhole ? BigInt(whole) : bound

/** A bound clamped to the range of an integer type of up to 32 bits. */
function wholeBound(bound: number, type: DType): number {
  const { kind, bits } = DTYPES[type]
  const lowest = kind === 'int' ? -(2 ** (bits - 1)) : 0
  return Math.max(lowest, Math.min(lowest + 2 ** bits - 1, bound))
}

/** A bound clamped to the range of a 64-bit integer type. */
function wideBound(bound: number, type: DType, isLower: boolean): bigint {
  const lowest = type === 'int64' ? -(2n ** 63n) : 0n
  const highest = lowest + 2n ** 64n - 1n
  if (Number.isNaN(bound)) return isLower ? lowest : highest
  return bound <= Number(lowest) ? lowest : bound >= Number(highest) ? highest : BigInt(bound)
}

function demandScalar(name: string, fact: TensorFact | undefined): void {
  const isList = fact?.shape?.some(dim => typeof dim === 'number' && dim !== 1)
  if (isList) fail('shape-mismatch', `${name} has dims ${printShape(fact?.shape)}; a scalar is expected`)
}

function clipNumbers(low: number, high: number): UnaryLoops {
  const least = Number.isNaN(low) ? -Infinity : low
  const most = Number.isNaN(high) ? Infinity : high
  return {
    float: (x, out, i, to) => {
      for (; i < to; i++) out[i] = Math.min(Math.max(x[i], least), most)
    }
  }
}

const clipBigInts = (low: bigint, high: bigint): UnaryLoops => ({
  big: (x, out, i, to) => {
    for (; i < to; i++) {
      const raised = x[i] < low ? low : x[i]
      out[i] = raised > high ? high : raised
    }
  }
})
