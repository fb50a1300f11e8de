import { allocate, elementCount, stridesOf } from '../../tensor/tensor.ts'
import { eachInnerLoop, innermost, mergedLoops } from '../core/elementwise.ts'
import { doubles } from '../core/numbers.ts'
import { Pace } from '../core/pace.ts'
import { nextContraction } from './contraction-order.ts'
import { type Gemm, gemm, matrix } from './gemm.ts'
import { bigGemm } from './matmul.ts'

/** Sums are doubles for floats and wrapping 64-bit integers for integers. */
type Sums = Float64Array | BigInt64Array

/** An operand with a label for each dim; a label that occurs twice selects the diagonal. */
export interface Labelled<A extends Sums> {
  readonly data: A
  readonly labels: readonly string[]
  readonly strides: readonly number[]
}

/** The size of each label. */
export type Sizes = ReadonlyMap<string, number>

/** Sums of one kind of element. */
interface Arithmetic<A extends Sums> {
  /** `count` zeros. */
  make(count: number): A
  /** `out[o + i*u] += x[p + i*s]` for `i < n` */
  add(x: A, p: number, s: number, out: A, o: number, u: number, n: number): void
  readonly multiply: Gemm<A>
}

export const DOUBLES: Arithmetic<Float64Array> = {
  make: doubles,
  add: (x, p, s, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, o += u) out[o] += x[p]
  },
  multiply: gemm
}

export const BIG_INTEGERS: Arithmetic<BigInt64Array> = {
  make: count => allocate('int64', [count]).data,
  add: (x, p, s, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, o += u) out[o] += x[p]
  },
  multiply: bigGemm
}

/**
 * The Einstein sum of the operands: their product, summed over all labels that `output` lacks. Operands are contracted
 * one pair at a time, as matrix products.
 * @param sizes of all labels; an operand that is broadcast along a label has the stride 0 there
 * @throws NodewiseError `limit-exceeded` when an intermediate product has too many elements
 */
export function* einsum<A extends Sums>(
  operands: readonly Labelled<A>[],
  output: readonly string[],
  sizes: Sizes,
  on: Arithmetic<A>
): Generator<void, A> {
  const pace = new Pace()
  let left = operands
  while (left.length > 1) {
    const terms = left.map(({ labels }) => labels)
    const { pair, kept } = nextContraction(terms, output, label => sizeOf(label, sizes))
    const product = yield* contract(left[pair[0]], left[pair[1]], kept, sizes, on, pace)
    left = [...left.filter((_, i) => !pair.includes(i)), product]
  }
  return (yield* sumTo(left[0], output, sizes, on)).data
}

/** The product of two operands, summed over the labels that are not in `later`. */
function* contract<A extends Sums>(
  a: Labelled<A>,
  b: Labelled<A>,
  later: ReadonlySet<string>,
  sizes: Sizes,
  on: Arithmetic<A>,
  pace: Pace
): Generator<void, Labelled<A>> {
  const inA = new Set(a.labels)
  const inB = new Set(b.labels)
  const shared = [...inA].filter(label => inB.has(label))
  const batch = shared.filter(label => later.has(label))
  const summed = shared.filter(label => !later.has(label))
  const rows = [...inA].filter(label => !inB.has(label) && later.has(label))
  const columns = [...inB].filter(label => !inA.has(label) && later.has(label))
  const left = yield* sumTo(a, [...batch, ...rows, ...summed], sizes, on)
  const right = yield* sumTo(b, [...batch, ...summed, ...columns], sizes, on)
  const count = (labels: readonly string[]): number => elementCount(labels.map(label => sizeOf(label, sizes)))
  const [m, n, k] = [count(rows), count(columns), count(summed)]
  const labels = [...batch, ...rows, ...columns]
  const data = on.make(count(labels))
  for (let i = 0; i < count(batch); i++) {
    yield* on.multiply(
      m,
      n,
      k,
      matrix(left.data, i * m * k, k),
      matrix(right.data, i * k * n, n),
      matrix(data, i * m * n, n),
      pace
    )
  }
  return { data, labels, strides: stridesOf(labels.map(label => sizeOf(label, sizes))) }
}

/**
 * The operand copied into row-major order of the labels `kept`: summed over its other labels, the diagonal of a label
 * that occurs twice.
 */
function* sumTo<A extends Sums>(
  { data, labels, strides }: Labelled<A>,
  kept: readonly string[],
  sizes: Sizes,
  on: Arithmetic<A>
): Generator<void, Labelled<A>> {
  const dims = kept.map(label => sizeOf(label, sizes))
  const result = on.make(elementCount(dims))
  const resultStrides = stridesOf(dims)
  const all = [...kept, ...new Set(labels.filter(label => !kept.includes(label)))]
  const strideOf = (label: string): number =>
    labels.reduce((sum, own, i) => (own === label ? sum + strides[i] : sum), 0)
  const loops = mergedLoops(
    all.map(label => sizeOf(label, sizes)),
    [all.map(strideOf), all.map((_, i) => resultStrides[i] ?? 0)]
  )
  const [s, u] = innermost(loops)
  yield* eachInnerLoop(loops, (at, n) => on.add(data, at[0], s, result, at[1], u, n))
  return { data: result, labels: kept, strides: resultStrides }
}

const sizeOf = (label: string, sizes: Sizes): number => sizes.get(label) ?? 1
