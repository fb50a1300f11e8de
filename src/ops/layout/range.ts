import { fail } from '../../errors.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { is, mapped, type } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, toDim, unknownDim } from '../../shapes/dim.ts'
import { isPartial, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { add, ceilDiv, type Int, isSym, maximum, neg } from '../../shapes/sym.ts'
import { convertInto } from '../../tensor/convert.ts'
import { type DType, dtypesOf, is64BitInteger, isHalf, isInteger, type Storage } from '../../tensor/dtype.ts'
import { elementAt, halvesOf } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Type of the output; undefined: that of the inputs. */
  type: DType | undefined
  /** Type in which `start + i * delta` is computed for float16 and bfloat16. */
  stash: 'float32' | 'float64'
  /** Whether the step may be left out, which is 1 then. */
  mayLackStep: boolean
}

const NUMERIC = dtypesOf('float', 'int', 'uint')
const types = { start: NUMERIC, limit: NUMERIC, delta: NUMERIC }

/**
 * `start, start + delta, …`, excluding `limit`: `max(ceil((limit - start) / delta), 0)` elements. Each is computed from
 * its index and rounded once; integers are exact. ONNX Range-11, -27 (float16, bfloat16), OpenVINO Range-1, -4 (inputs
 * of any type; for an integer output they are truncated first); com.microsoft Range-1. A step of 0 is an error.
 */
export const range = defineOp({
  name: 'Range',
  operands: { start: 'tensor', limit: 'tensor', delta: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 11, bind: { type: is(undefined), stash: is('float64'), mayLackStep: is(false) } },
    {
      since: 27,
      bind: { type: is(undefined), stash: mapped(type('stash_type'), stashType), mayLackStep: is(false) }
    },
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { type: is(undefined), stash: is('float64'), mayLackStep: is(true) }
    }
  ],
  openvino: [
    { since: 1, types, bind: { type: is(undefined), stash: is('float64'), mayLackStep: is(false) } },
    {
      since: 4,
      types,
      bind: { type: mapped(type('output_type'), numericType), stash: is('float64'), mayLackStep: is(false) }
    }
  ],

  shape({ start, limit, delta }, p) {
    if (!delta && !p.mayLackStep) fail('wrong-input-count', 'the step is missing')
    const out = p.type ?? commonType({ start, limit, delta })
    const bounds = [
      scalarOf('start', start, out),
      scalarOf('limit', limit, out),
      delta ? scalarOf('delta', delta, out) : 1n
    ] as const
    return [tensorFact(out, [lengthOf(...bounds)])]
  },

  *run({ start, limit, delta }, p, call) {
    const out = call.rawOutput()
    const value = (tensor: Tensor): number | bigint => rounded(elementAt(tensor, 0) as number | bigint, out.type)
    const first = value(start)
    const step = delta ? value(delta) : rounded(1, out.type)
    if (typeof first === 'bigint' && typeof step === 'bigint' && is64BitInteger(out.type))
      yield* fillWide(out, first, step)
    else yield* fill(out, Number(first), Number(step), p.stash === 'float32' && isHalf(limit.type))
  }
})

function stashType(found: DType): 'float32' | 'float64' {
  return found === 'float32' || found === 'float64'
    ? found
    : fail('unknown-attribute-value', `attribute "stash_type" names ${found}; float32 and float64 are allowed`)
}

function numericType(found: DType): DType {
  return NUMERIC.includes(found)
    ? found
    : fail('unknown-attribute-value', `attribute "output_type" is ${found}; a numeric type is expected`)
}

/** The value of a scalar as far as it is known, converted as the output's type requires. */
function scalarOf(name: string, { shape, value }: TensorFact, out: DType | undefined): number | Int | undefined {
  const isScalar =
    shape === undefined ||
    shape.length === 0 ||
    (shape.length === 1 && (shape[0] === 1 || typeof shape[0] !== 'number'))
  if (!isScalar) {
    fail(
      'rank-mismatch',
      `${name} has ${shape.length === 1 ? `${String(shape[0])} elements` : `rank ${shape.length}`}; expected a scalar`
    )
  }
  if (value === undefined) return undefined
  const element = isPartial(value) ? value.data[0] : elementAt(value, 0)
  if (isSym(element)) return element
  const known = typeof element === 'bigint' ? element : Number(element)
  if (typeof known === 'number' && !Number.isFinite(known))
    fail('value-out-of-range', `${name} is ${known}; a finite number is expected`)
  return out === undefined ? known : rounded(known, out)
}

const rounded = (value: number | bigint, type: DType): number | bigint =>
  typeof value === 'number' && isInteger(type) ? BigInt(Math.trunc(value)) : value

/** An integer as bigint or symbol; undefined for a number with a fraction. */
function toBigInt(value: number | Int): Int | undefined {
  return typeof value !== 'number' ? value : Number.isInteger(value) ? BigInt(value) : undefined
}

function lengthOf(
  start: number | Int | undefined,
  limit: number | Int | undefined,
  delta: number | Int | undefined
): Dim {
  if (delta === 0 || delta === 0n) fail('value-out-of-range', 'the step is 0')
  if (start === undefined || limit === undefined || delta === undefined) return unknownDim()
  const [first, end, step] = [toBigInt(start), toBigInt(limit), toBigInt(delta)]
  if (first !== undefined && end !== undefined && step !== undefined) {
    return limited(toDim(maximum(0n, ceilDiv(add(end, neg(first)), step))))
  }
  if (isSym(start) || isSym(limit) || isSym(delta)) return unknownDim()
  return limited(Math.max(0, Math.ceil((Number(limit) - Number(start)) / Number(delta))))
}

const limited = (length: Dim): Dim =>
  typeof length !== 'number' || Number.isSafeInteger(length)
    ? length
    : fail('limit-exceeded', `the range has ${length} elements`)

/** Elements computed at once, so that no temporary array is as large as the output. */
const BLOCK = 2 ** 14

/** @param rounds whether each intermediate result is rounded to float32 */
function* fill(out: Tensor, start: number, delta: number, rounds: boolean): Generator<void> {
  const count = out.data.length
  if (!rounds && (out.data instanceof Float32Array || out.data instanceof Float64Array)) {
    const { data } = out
    return yield* inChunks(count, (from, to) => {
      for (let i = from; i < to; i++) data[i] = start + i * delta
    })
  }
  if (out.data instanceof Int32Array && [start, delta, start + count * delta].every(isNarrow)) {
    const { data } = out
    return yield* inChunks(count, (from, to) => {
      for (let i = from, value = start + from * delta; i < to; i++, value += delta) data[i] = value
    })
  }
  const block = new Float64Array(Math.min(BLOCK, count))
  const pace = new Pace()
  for (let from = 0; from < count; from += BLOCK) {
    const length = Math.min(BLOCK, count - from)
    if (rounds) for (let i = 0; i < length; i++) block[i] = Math.fround(start + Math.fround((from + i) * delta))
    else for (let i = 0; i < length; i++) block[i] = start + (from + i) * delta
    const part = (out.data as Exclude<Storage, string[]>).subarray(from, from + length)
    convertInto(new Tensor('float64', block.subarray(0, length)), new Tensor(out.type, part))
    if (pace.isDue(length * COST.element)) yield
  }
}

const isNarrow = (value: number): boolean => value === (value | 0)

/** The low and the high half of a 64-bit integer. */
type Halves = readonly [low: number, high: number]

const halvesOfOne = (value: bigint): Halves => {
  const [low, high] = halvesOf(new Tensor('int64', [BigInt.asIntN(64, value)]))
  return [low, high]
}

/** Fills 64-bit integers by their halves: BigInts are slow. */
function fillWide(out: Tensor, start: bigint, delta: bigint): Generator<void> {
  const halves = halvesOf(out)
  const step = halvesOfOne(delta)
  let next = halvesOfOne(start)
  const last = start + BigInt(out.data.length) * delta
  if ([start, delta, last].every(value => BigInt.asIntN(32, value) === value))
    return inChunks(out.data.length, (from, to) => countNarrow(halves, from, to, Number(start), Number(delta)))
  return inChunks(out.data.length, (from, to) => {
    next = count(halves.subarray(2 * from, 2 * to), next, step)
  })
}

/** Writes elements `from <= i < to` of `start, start + step, …`, where all are 32-bit integers. */
function countNarrow(halves: Int32Array, from: number, to: number, start: number, step: number): void {
  let value = start + from * step
  let i = 2 * from
  // Two in a turn, which takes less.
  for (; i + 4 <= 2 * to; i += 4) {
    const next = value + step
    halves[i] = value
    halves[i + 1] = value >> 31
    halves[i + 2] = next
    halves[i + 3] = next >> 31
    value = next + step
  }
  if (i < 2 * to) {
    halves[i] = value
    halves[i + 1] = value >> 31
  }
}

/** Writes `start, start + step, …`. @returns what comes next */
function count(halves: Int32Array, start: Halves, step: Halves): Halves {
  let [low, high] = start
  const [lowStep, highStep] = step
  for (let i = 0; i < halves.length; i += 2) {
    halves[i] = low
    halves[i + 1] = high
    low = (low + lowStep) | 0
    const carry = low >>> 0 < lowStep >>> 0 ? 1 : 0
    high = (high + highStep + carry) | 0
  }
  return [low, high]
}
