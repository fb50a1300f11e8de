import { allocate, elementCount, stridesOf } from '../../tensor/tensor.ts'
import { eachInnerLoop, innermost, mergedLoops } from '../core/elementwise.ts'
import { doubles } from '../core/numbers.ts'
import { gemm, type Matrix, type Pace } from './gemm.ts'
import { bigGemm, matrix } from './matmul.ts'

/** Sums are doubles for floats and wrapping 64-bit integers for integers. */
type Sums = Float64Array | BigInt64Array

/** An operand whose dims have labels; a label may occur twice, for a diagonal. */
export interface Labelled<A extends Sums> {
  readonly data: A
  readonly labels: readonly string[]
  readonly strides: readonly number[]
}

export type Sizes = ReadonlyMap<string, number>

/** How to make arrays of sums, add to them and multiply matrices of them. */
interface Arithmetic<A extends Sums> {
  make(count: number): A
  add(x: A, p: number, s: number, out: A, o: number, u: number, n: number): void
  multiply(m: number, n: number, k: number, a: Matrix<A>, b: Matrix<A>, out: Matrix<A>, pace: Pace): Generator<void>
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
 * The sum over all labels that `output` lacks of the product of the operands, two operands at a time as products of
 * matrices.
 * @param sizes of all labels; an operand of size 1 along one stretches, its stride is 0
 * @throws NodewiseError `limit-exceeded` when an intermediate product has too many elements
 */
export function* einsum<A extends Sums>(
  operands: readonly Labelled<A>[],
  output: readonly string[],
  sizes: Sizes,
  on: Arithmetic<A>
): Generator<void, A> {
  const pace = { work: 0 }
  let product = operands[0]
  for (let i = 1; i < operands.length; i++) {
    const later = new Set([...output, ...operands.slice(i + 1).flatMap(({ labels }) => labels)])
    product = yield* contract(product, operands[i], later, sizes, on, pace)
  }
  return (yield* sumTo(product, output, sizes, on)).data
}

/** The product of two operands, summed over the labels that nobody needs later. */
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
 * The operand with its labels in this order, without gaps; labels that are not kept are summed, doubled ones give the
 * diagonal.
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
  const stepOf = (label: string): number => labels.reduce((sum, own, i) => (own === label ? sum + strides[i] : sum), 0)
  const loops = mergedLoops(
    all.map(label => sizeOf(label, sizes)),
    [all.map(stepOf), all.map((_, i) => resultStrides[i] ?? 0)]
  )
  const [s, u] = innermost(loops)
  yield* eachInnerLoop(loops, (at, n) => on.add(data, at[0], s, result, at[1], u, n))
  return { data: result, labels: kept, strides: resultStrides }
}

const sizeOf = (label: string, sizes: Sizes): number => sizes.get(label) ?? 1
