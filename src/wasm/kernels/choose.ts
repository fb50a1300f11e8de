import type { Broadcast } from '../../op-kit/broadcast.ts'
import type { Selection } from '../../op-kit/define.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { type Candidate, jobSelection, type Selector, selectorFor, widthOf } from '../selector.ts'
import type { KernelName } from '../wasm.ts'
import { broadcastTemplate } from './broadcast-loops.ts'
import { INTEGERS } from './integers.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** In lines of fewer elements the reference, which exchanges loops, is as fast. */
const MIN_LINE = 8
/** Elements of a tile. */
const TILE = 1 << 15
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4

/** Numbers of the functions in ../assembly/f32/compare.ts: those of floats, and of integers of one byte. */
const FLOATS: Readonly<Partial<Record<DType, { equal: number; greater: number; greaterEqual: number }>>> = {
  float32: { equal: 0, greater: 1, greaterEqual: 2 },
  float64: { equal: 3, greater: 4, greaterEqual: 5 }
}
const EQUAL = 6
const GREATER = 10
const LOGICAL = { and: 14, or: 15, xor: 16, not: 17 } as const
/** Tests of floats. */
const TESTS: Readonly<Partial<Record<DType, { nan: number; infinite: number }>>> = {
  float32: { nan: 18, infinite: 20 },
  float64: { nan: 19, infinite: 21 },
  float16: { nan: 22, infinite: 23 },
  bfloat16: { nan: 22, infinite: 23 }
}
/** Bits of infinity of floats of two bytes, and the kernel that compares two bytes. */
const INFINITIES: Readonly<Partial<Record<DType, number>>> = { float16: 0x7c00, bfloat16: 0x7f80 }
const EQUAL_BITS = 7

type Comparison = 'equal' | 'notEqual' | 'greater' | 'greaterEqual' | 'less' | 'lessEqual'

/** A comparison as the kernels have it. */
interface Compared {
  readonly kind: number
  /** Whether the operands change places. */
  readonly isSwapped?: boolean
  readonly isNegated?: boolean
  readonly isUnsigned?: boolean
}

/** NaN compares as nothing, so that of floats only equality may be negated. */
function comparedFloats(name: Comparison, kinds: NonNullable<(typeof FLOATS)[DType]>): Compared {
  if (name === 'notEqual') return { kind: kinds.equal, isNegated: true }
  if (name === 'less') return { kind: kinds.greater, isSwapped: true }
  if (name === 'lessEqual') return { kind: kinds.greaterEqual, isSwapped: true }
  return { kind: kinds[name] }
}

function comparedIntegers(name: Comparison, shift: number, isUnsigned: boolean): Compared {
  if (name === 'equal' || name === 'notEqual') return { kind: EQUAL + shift, isNegated: name === 'notEqual' }
  const isSwapped = name === 'less' || name === 'greaterEqual'
  return { kind: GREATER + shift, isSwapped, isNegated: name.endsWith('Equal'), isUnsigned }
}

function compared(name: Comparison, type: DType): Compared | undefined {
  const floats = FLOATS[type]
  const integers = INTEGERS[type]
  if (floats) return comparedFloats(name, floats)
  return integers && comparedIntegers(name, ...integers)
}

interface Params {
  readonly broadcast?: Broadcast
}

/** A comparison of numbers of up to eight bytes, but for floats of 16 bits, broadcast by NumPy's rules. */
export const selectComparison = (name: Comparison): Selector =>
  selectorFor<Params>(call => {
    const { a, b } = call.operands
    const how = a?.type === b?.type ? a && compared(name, a.type) : undefined
    return how && comparisonSelection(call, ['a', 'b'], how)
  })

const comparisonSelection = (
  call: Candidate<Params>,
  names: readonly [string, string],
  { kind, isSwapped = false, isNegated = false, isUnsigned = false }: Compared
): Selection | undefined => {
  const [a, b] = names
  return linesSelection(call, 'compare', isSwapped ? [b, a] : names, 1, [kind, Number(isUnsigned), Number(isNegated)])
}

/** A function of one operand. The kernel is of two: the second is one number, which some of them compare with. */
const testSelection = (call: Candidate<Params>, kind: number, other: NumericArray): Selection | undefined =>
  linesSelection(call, 'compare', ['x', other], 1, [kind, 0, 0])

/** A logical function of two booleans, broadcast by NumPy's rules. */
export const selectLogical = (name: 'and' | 'or' | 'xor'): Selector =>
  selectorFor<Params>(call => comparisonSelection(call, ['a', 'b'], { kind: LOGICAL[name] }))

export const selectNot: Selector = selectorFor<Params>(call => testSelection(call, LOGICAL.not, new Uint8Array(1)))

export const selectIsNaN: Selector = selectorFor<Params>(call => {
  const type = call.operands.x?.type
  const kinds = type && TESTS[type]
  return kinds && testSelection(call, kinds.nan, infinityOf(type, Infinity))
})

/** IsInf: of both infinities by magnitude, of one by equality. */
export const selectIsInf: Selector = selectorFor<IsInfParams>(call => {
  const type = call.operands.x?.type
  const infinities = call.parameters.function.infinities ?? []
  const kinds = type && TESTS[type]
  const equal = type && (FLOATS[type]?.equal ?? EQUAL_BITS)
  if (!kinds || equal === undefined || infinities.length === 0) return undefined
  const kind = infinities.length === 2 ? kinds.infinite : equal
  return testSelection(call, kind, infinityOf(type, infinities[0]))
})

interface IsInfParams extends Params {
  readonly function: { readonly infinities?: readonly number[] }
}

function infinityOf(type: DType, infinity: number): NumericArray {
  const bits = INFINITIES[type]
  if (bits !== undefined) return Uint16Array.of(infinity > 0 ? bits : bits | 0x8000)
  return type === 'float32' ? Float32Array.of(infinity) : Float64Array.of(infinity)
}

/** The operator Where, for elements of any type of up to eight bytes. */
export const selectWhere: Selector = selectorFor<Params>(call => {
  const { whenTrue } = call.operands
  if (whenTrue === undefined || whenTrue.type === 'string' || product(whenTrue.dims) === 0) return undefined
  const width = widthOf(whenTrue)
  if (width > 8) return undefined
  return linesSelection(call, 'choose', ['condition', 'whenTrue', 'whenFalse'], width, [width])
})

/**
 * The arguments are those of CompareArguments in ../assembly/f32/compare.ts and of ChooseArguments in
 * ../assembly/f32/choose.ts.
 * @param sources operands by name, and single numbers
 * @param width bytes of an element of the output
 */
function linesSelection(
  { op, operands, parameters, dims }: Candidate<Params>,
  kernel: KernelName,
  sources: readonly (string | NumericArray)[],
  width: number,
  first: readonly number[]
): Selection | undefined {
  if (parameters.broadcast?.mode === 'aligned' || product(dims) < MIN_ELEMENTS) return undefined
  const strided = sources.map(source =>
    typeof source === 'string'
      ? { dims: operands[source]!.dims, width: widthOf(operands[source]!) }
      : { dims: [], width: source.BYTES_PER_ELEMENT }
  )
  const cost = { width, tile: TILE, work: ELEMENT_WORK * Math.max(1, width / 4) }
  const template = broadcastTemplate(kernel, strided, dims, cost, first)
  if (template === undefined || template.args[first.length] < MIN_LINE) return undefined
  return jobSelection(op, template, sources)
}
