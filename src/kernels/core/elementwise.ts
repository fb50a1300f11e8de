import { fail } from '../../errors.ts'
import { type DType, DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import { isCodedFloat } from '../../tensor/floats.ts'
import { allocate, areSameDims, product, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { convertedPaced, convertPaced } from './convert-paced.ts'
import { type BigInts, doubles, readNumbers, targetOf } from './numbers.ts'
import { chunkSize, COST, DONE, inChunks, Pace } from './pace.ts'

/** An innermost loop of fewer iterations is exchanged for the longest loop. */
const MIN_INNER_LOOP = 16
/** Elements of an inner loop between two chances to yield. */
const CHUNK = chunkSize(COST.element)

/** Nested loops over a result: sizes from the outermost in, and for each operand its stride in each loop. */
export interface Loops {
  readonly sizes: readonly number[]
  readonly strides: readonly (readonly number[])[]
}

/**
 * The fewest loops that visit every element of a result of `dims` with operands broadcast to it by NumPy's rules.
 * The result itself is the last of `strides`.
 */
export function loopsOf(dims: readonly number[], operands: readonly (readonly number[])[]): Loops {
  return mergedLoops(dims, [...operands.map(own => broadcastStrides(own, dims)), stridesOf(dims)])
}

/** Strides of an operand of dims `own` along `dims`: 0 where it is broadcast. */
export function broadcastStrides(own: readonly number[], dims: readonly number[]): number[] {
  const strides = stridesOf(own)
  const missing = dims.length - own.length
  return dims.map((_, i) => (i < missing || own[i - missing] === 1 ? 0 : strides[i - missing]))
}

/** The offset under `strides` of each position of `dims`, in row-major order. */
export function offsetsOf(dims: readonly number[], strides: readonly number[]): Float64Array {
  let offsets: Float64Array = Float64Array.of(0)
  for (let i = 0; i < dims.length; i++) {
    const before = offsets
    offsets = doubles(before.length * dims[i])
    for (let at = 0; at < offsets.length; at++)
      offsets[at] = before[Math.floor(at / dims[i])] + (at % dims[i]) * strides[i]
  }
  return offsets
}

/**
 * Loops over `dims`: without those of one iteration, neighbours merged where every operand's strides allow it, and with
 * a long loop innermost.
 */
export function mergedLoops(dims: readonly number[], strides: readonly (readonly number[])[]): Loops {
  const sizes: number[] = []
  const merged: number[][] = strides.map(() => [])
  for (let i = 0; i < dims.length; i++) {
    if (dims[i] === 1) continue
    const last = sizes.length - 1
    if (last >= 0 && merged.every((own, k) => own[last] === strides[k][i] * dims[i])) {
      sizes[last] *= dims[i]
      merged.forEach((own, k) => {
        own[last] = strides[k][i]
      })
    } else {
      sizes.push(dims[i])
      merged.forEach((own, k) => own.push(strides[k][i]))
    }
  }
  if (sizes.length > 1 && sizes[sizes.length - 1] < MIN_INNER_LOOP) {
    const longest = sizes.indexOf(Math.max(...sizes))
    for (const list of [sizes, ...merged]) list.push(...list.splice(longest, 1))
  }
  return { sizes, strides: merged }
}

/** Is called with the operands' positions at the start of a run of the innermost loop, and with its length. */
type EachRun = (at: readonly number[], length: number) => void

/**
 * Calls `innerLoop` for each run of the innermost loop, with an array of positions that is used again. Long runs are
 * split. Yields; few elements are visited before this returns.
 */
export function eachInnerLoop(loops: Loops, innerLoop: EachRun): Generator<void> {
  const { sizes, strides } = loops
  if (product(sizes) > CHUNK) return eachPacedLoop(loops, innerLoop)
  if (sizes.includes(0)) return DONE
  const outer = Math.max(0, sizes.length - 1)
  const index = new Array<number>(outer).fill(0)
  const at = strides.map(() => 0)
  do innerLoop(at, sizes[outer] ?? 1)
  while (advance(loops, outer, index, at))
  return DONE
}

function* eachPacedLoop(loops: Loops, innerLoop: EachRun): Generator<void> {
  const { sizes, strides } = loops
  const outer = sizes.length - 1
  const length = sizes[outer]
  const index = new Array<number>(outer).fill(0)
  const at = strides.map(() => 0)
  const pace = new Pace()
  do {
    for (let start = 0; start < length; start += CHUNK) {
      const part = Math.min(CHUNK, length - start)
      innerLoop(start === 0 ? at : at.map((position, k) => position + start * strides[k][outer]), part)
      if (pace.isDue((part + 1) * COST.element)) yield
    }
  } while (advance(loops, outer, index, at))
}

/** Goes to the next iteration of the `outer` loops around the innermost one; false after the last. */
function advance({ sizes, strides }: Loops, outer: number, index: number[], at: number[]): boolean {
  for (let loop = outer - 1; loop >= 0; loop--) {
    index[loop]++
    const wraps = index[loop] === sizes[loop]
    for (let k = 0; k < at.length; k++) at[k] += wraps ? -strides[k][loop] * (sizes[loop] - 1) : strides[k][loop]
    if (!wraps) return true
    index[loop] = 0
  }
  return false
}

/** The stride of each operand in the innermost loop. */
export const innermost = ({ strides }: Loops): number[] => strides.map(own => own.at(-1) ?? 0)

/**
 * The inner loop of one binary operator: `out[o + i*u] = f(a[p + i*s], b[q + i*t])` for `i < n`. Every operator has a
 * loop of its own, since a loop that calls different functions, or meets many types of arrays, is several times slower.
 */
export type InnerLoop<In, Out> = (
  a: In,
  p: number,
  s: number,
  b: In,
  q: number,
  t: number,
  out: Out,
  o: number,
  u: number,
  n: number
) => void
export type NumberInnerLoop = InnerLoop<Numbers, Numbers>

/** The loops of one operator by kind of element; `R` is what 64-bit integers give. */
export interface BinaryLoops<R extends BigInts | Numbers = BigInts> {
  readonly float?: NumberInnerLoop
  /** Integers up to 32 bits and booleans; `float` where it serves both. */
  readonly int?: NumberInnerLoop
  readonly big?: InnerLoop<BigInts, R>
  readonly text?: InnerLoop<readonly string[], Numbers>
}

export type AnyBinaryLoops = BinaryLoops<BigInts> | BinaryLoops<Numbers>

/**
 * `out = f(a, b)`, both broadcast. Both have one type, or are of floats; the result is like them, or boolean. Few
 * elements that one loop visits are computed before this returns.
 */
export function binary(operator: AnyBinaryLoops, a: Tensor, b: Tensor, out: Tensor): Generator<void> {
  const innerLoop = innerLoopFor(operator, a.type)
  const count = out.data.length
  const isCoded = isCodedFloat(a.type) || isCodedFloat(b.type) || isCodedFloat(out.type)
  if (count > CHUNK || isCoded) return binaryByLoops(innerLoop, a, b, out)
  const s = singleStride(a, count)
  const t = singleStride(b, count)
  if (s === undefined || t === undefined) return binaryOfFew(innerLoop, a, b, out)
  innerLoop(a.data as Numbers, 0, s, b.data as Numbers, 0, t, out.data as Numbers, 0, 1, count)
  return DONE
}

/** {@link binary} of few elements, none of which has to be decoded. */
function binaryOfFew(innerLoop: NumberInnerLoop, a: Tensor, b: Tensor, out: Tensor): Generator<void> {
  const { sizes, strides } = loopsOfBoth(out.dims, a.dims, b.dims)
  const [x, y, results] = [a.data as Numbers, b.data as Numbers, out.data as Numbers]
  const [ofA, ofB, ofOut] = strides
  if (sizes.length !== 2) {
    const [s, t, u] = innermost({ sizes, strides })
    return eachInnerLoop({ sizes, strides }, (at, n) => innerLoop(x, at[0], s, y, at[1], t, results, at[2], u, n))
  }
  for (let i = 0; i < sizes[0]; i++)
    innerLoop(x, i * ofA[0], ofA[1], y, i * ofB[0], ofB[1], results, i * ofOut[0], ofOut[1], sizes[1])
  return DONE
}

/** Loops by the dims of the result, which steps that run again have as one frozen list, with those of the operands. */
const KNOWN = new WeakMap<readonly number[], { readonly loops: Loops; readonly a: number[]; readonly b: number[] }>()

/** The loops of {@link loopsOf} for two operands; those that were worked out last for frozen dims are kept. */
function loopsOfBoth(dims: readonly number[], a: readonly number[], b: readonly number[]): Loops {
  const known = KNOWN.get(dims)
  if (known && areSameDims(known.a, a) && areSameDims(known.b, b)) return known.loops
  const loops = loopsOf(dims, [a, b])
  if (Object.isFrozen(dims)) KNOWN.set(dims, { loops, a: a.slice(), b: b.slice() })
  return loops
}

/** The stride with which one loop over all `count` elements of a result reads an operand, where there is one. */
const singleStride = ({ data }: Tensor, count: number): number | undefined =>
  data.length === count ? 1 : data.length === 1 ? 0 : undefined

function* binaryByLoops(innerLoop: NumberInnerLoop, a: Tensor, b: Tensor, out: Tensor): Generator<void> {
  const loops = loopsOf(out.dims, [a.dims, b.dims])
  const [s, t, u] = innermost(loops)
  const readsAsIs = is64BitInteger(a.type) || a.type === 'string'
  const x = (readsAsIs ? a.data : yield* readNumbers(a)) as Numbers
  const y = (readsAsIs ? b.data : yield* readNumbers(b)) as Numbers
  const target = targetOf(out)
  yield* eachInnerLoop(loops, (at, n) => innerLoop(x, at[0], s, y, at[1], t, target.numbers, at[2], u, n))
  yield* target.finish()
}

/** The loop for elements of `type`. All loops are given the arrays of the type that they are for. */
function innerLoopFor(operator: AnyBinaryLoops, type: DType): NumberInnerLoop {
  const { kind } = DTYPES[type]
  const found = is64BitInteger(type)
    ? operator.big
    : kind === 'string'
      ? operator.text
      : kind === 'float'
        ? operator.float
        : (operator.int ?? operator.float)
  return (found as NumberInnerLoop | undefined) ?? fail('internal', `no loop for ${type}`)
}

/** The loop of one unary operator: `out[i] = f(x[i])` for `from <= i < to`. */
export type UnaryLoop<In = Numbers, Out = In> = (x: In, out: Out, from: number, to: number) => void

/** The loops of one unary operator by kind of element, as in {@link BinaryLoops}. */
export interface UnaryLoops<R extends BigInts | Numbers = BigInts> {
  readonly float?: UnaryLoop
  readonly int?: UnaryLoop
  readonly bool?: UnaryLoop
  readonly big?: UnaryLoop<BigInts, R>
  /** Nanoseconds for one element, where more than the usual ones; see {@link COST}. */
  readonly cost?: number
}

export type AnyUnaryLoops = UnaryLoops<BigInts> | UnaryLoops<Numbers>

/**
 * `out = f(x)`. `out` has the type of x, is boolean, or is a float type that holds what `f` gives. Few elements are
 * computed before this returns.
 */
export function unary(operator: AnyUnaryLoops, x: Tensor, out: Tensor): Generator<void> {
  const loop = unaryLoopFor(operator, x.type)
  const cost = operator.cost ?? COST.element + COST.transcendental
  if (isCodedFloat(x.type) || isCodedFloat(out.type)) return unaryOnCodes(loop, cost, x, out)
  const numbers = (is64BitInteger(x.type) ? x.data : toNumbers(x)) as Numbers
  return inChunks(numbers.length, (from, to) => loop(numbers, out.data as Numbers, from, to), cost)
}

/** {@link unary} where one of both is of coded floats. */
function* unaryOnCodes(loop: UnaryLoop, cost: number, x: Tensor, out: Tensor): Generator<void> {
  const numbers = (is64BitInteger(x.type) ? x.data : yield* readNumbers(x)) as Numbers
  const target = targetOf(out)
  yield* inChunks(numbers.length, (from, to) => loop(numbers, target.numbers, from, to), cost)
  yield* target.finish()
}

function unaryLoopFor(operator: AnyUnaryLoops, type: DType): UnaryLoop {
  const { kind } = DTYPES[type]
  const ofNumbers =
    kind === 'bool' ? operator.bool : kind === 'float' ? operator.float : (operator.int ?? operator.float)
  const found = is64BitInteger(type) ? operator.big : ofNumbers
  return (found as UnaryLoop | undefined) ?? fail('internal', `no loop for ${type}`)
}

/** {@link unary} for integers and a function with fractional results: computed in float64, rounded by `whole`. */
export function* unaryOnIntegers(
  loop: UnaryLoop,
  whole: (value: number) => number,
  x: Tensor,
  out: Tensor
): Generator<void> {
  const doubles = yield* convertedPaced(x, 'float64')
  const results = allocate('float64', x.dims)
  yield* unary({ float: loop }, doubles, results)
  yield* inChunks(results.data.length, (from, to) => {
    for (let i = from; i < to; i++) results.data[i] = whole(results.data[i])
  })
  yield* convertPaced(results, out)
}
