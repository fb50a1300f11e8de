import { fail } from '../../errors.ts'
import { shareAs } from '../../kernels/core/share.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { flag, inputInts, ints, is, mapped } from '../../op-kit/sources.ts'
import {
  asDim,
  type Dim,
  mayMatch,
  printShape,
  productOf,
  sameDim,
  toDim,
  toInt,
  unknownDim
} from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { limitRank, sizes } from '../../shapes/lists.ts'
import { bounded, floorDiv, hasFresh, isSym } from '../../shapes/sym.ts'
import { dtypesOf } from '../../tensor/dtype.ts'

interface Params {
  shape: DataDependent<readonly number[]>
  /** What 0 in the shape means: copy the dim of the data at the same index, or a size of 0. */
  zero: 'copy' | 'size'
  /** Whether -1 is allowed together with a 0 that is a size. */
  inferBesideZero: boolean
}

/**
 * Changes the dims; one -1 in the shape is inferred from the others. ONNX Reshape-1 (attribute), -5 (input), -14
 * (`allowzero`), OpenVINO Reshape-1 (`special_zero`). Dims that are equal at the same index on both sides are left out
 * when -1 is inferred, so that `[0, -1]` keeps the second dim of an empty batch; ONNX Runtime refuses that.
 */
export const reshape = defineOp({
  name: 'Reshape',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { shape: ints('shape'), zero: is('copy'), inferBesideZero: is(true) } },
    { since: 5, bind: { shape: inputInts(1), zero: is('copy'), inferBesideZero: is(true) } },
    {
      since: 14,
      bind: {
        shape: inputInts(1),
        zero: mapped(flag('allowzero'), allow => (allow ? 'size' : 'copy')),
        inferBesideZero: is(false)
      }
    }
  ],
  openvino: [
    {
      since: 1,
      types: { shape: dtypesOf('int', 'uint') },
      bind: {
        shape: inputInts(1),
        zero: mapped(flag('special_zero'), special => (special ? 'copy' : 'size')),
        inferBesideZero: is(true)
      }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    return [tensorFact(data.type, p.shape === 'unknown' ? undefined : newDims(data.shape, p.shape, p))]
  },

  run({ data }, p, call) {
    call.give(0, shareAs(data, call.dimsOf?.(0) ?? sizes(newDims(data.dims, p.shape, p))))
  }
})

/** A dim of the new shape; undefined for -1, and for a symbol that may be -1 or 0. */
type Wanted = Dim | undefined

type Rules = Pick<Params, 'zero' | 'inferBesideZero'>

function newDims(data: readonly Dim[] | undefined, target: readonly Dim[], { zero, inferBesideZero }: Rules): Dim[] {
  limitRank(target.length)
  if (target.filter(dim => dim === -1).length > 1)
    fail('value-out-of-range', `shape ${printShape(target)} has more than one -1`)
  if (zero === 'size' && !inferBesideZero && target.includes(-1) && target.includes(0)) {
    fail('value-out-of-range', `shape ${printShape(target)} has a -1 and a 0 that is a size; the -1 cannot be told`)
  }
  const wanted = target.map((dim, i) => wantedDim(dim, i, data, zero))
  const open = wanted.filter(dim => dim === undefined).length
  if (data === undefined || open > 1) return wanted.map(dim => dim ?? unknownDim())
  if (open === 1) return wanted.map(dim => dim ?? missingDim(data, target, wanted))
  if (!mayMatch(productOf(data), productOf(wanted as Dim[]))) {
    const [given, held] = [countText(data), countText(wanted as Dim[])]
    fail(
      'shape-mismatch',
      `shape ${printShape(target)} holds ${held} elements, data of shape ${printShape(data)} ${given}`
    )
  }
  return wanted as Dim[]
}

const countText = (dims: readonly Dim[]): string => printShape([productOf(dims)]).slice(1, -1)

function wantedDim(dim: Dim, at: number, data: readonly Dim[] | undefined, zero: 'copy' | 'size'): Wanted {
  if (isSym(dim)) return dim.min < 0 && hasFresh(dim) ? undefined : asDim(dim)
  if (dim === -1) return undefined
  if (dim < 0) fail('value-out-of-range', `element ${at} of the shape is ${dim}; sizes, 0 and -1 are allowed`)
  if (dim > 0 || zero === 'size') return dim
  if (data === undefined) return unknownDim()
  if (at < data.length) return data[at]
  fail(
    'value-out-of-range',
    `element ${at} of the shape is 0, which takes over dim ${at} of the data; their rank is ${data.length}`
  )
}

/** The dim for -1. Symbolic divisors are assumed to be positive: an empty shape leaves the dim unknown. */
function missingDim(data: readonly Dim[], target: readonly Dim[], wanted: readonly Wanted[]): Dim {
  const [left, right] = cancel(data, wanted)
  const divisor = productOf(right)
  const count = productOf(left)
  if (typeof divisor === 'number' && typeof count === 'number') {
    if (divisor === 0 && !target.includes(-1)) return unknownDim()
    if (divisor === 0 || count % divisor !== 0) {
      const why = `${count} elements, ${divisor} in each`
      fail(
        'shape-mismatch',
        `the -1 in shape ${printShape(target)} cannot be told from data of shape ${printShape(data)}: ${why}`
      )
    }
    return count / divisor
  }
  const positive = bounded(toInt(divisor), 1, Infinity)
  return positive === undefined ? unknownDim() : asDim(toDim(floorDiv(toInt(count), positive)))
}

/** Removes dims that both lists have: first those at the same index, then equal symbols anywhere. */
function cancel(data: readonly Dim[], wanted: readonly Wanted[]): [Dim[], Dim[]] {
  const isShared = (i: number): boolean => i < data.length && wanted[i] !== undefined && sameDim(data[i], wanted[i])
  const left = data.filter((_, i) => !isShared(i))
  const right: Dim[] = []
  wanted.forEach((dim, i) => {
    if (dim === undefined || isShared(i)) return
    const twin = isSym(dim) ? left.findIndex(other => sameDim(other, dim)) : -1
    if (twin < 0) right.push(dim)
    else left.splice(twin, 1)
  })
  return [left, right]
}
