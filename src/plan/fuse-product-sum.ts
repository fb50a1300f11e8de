import type { Call } from '../bind/call.ts'
import type { Dim } from '../shapes/dim.ts'
import { areDims, isFloat32, type PlanGraph, shapeOf } from './graph.ts'
import type { Pattern } from './match.ts'
import { alignsEnds, numbersOf, standardCall, textAttribute } from './patterns.ts'

/** A sum of this many products for each element that is read or written takes less as a product of matrices. */
const LEAST_REUSE = 4

/** A sum of fewer products takes no time worth a plan of its own. */
const LEAST_PRODUCTS = 4096

/** As many axes as there are letters for: each has one of its own where an operand has one element. */
const MOST_AXES = 26

/** One axis of products: its letter, and those that the operands have for it. */
interface Axis {
  readonly dim: Dim
  readonly letter: string
  readonly labels: readonly [a: string, b: string]
}

/**
 * The sum over axes that both operands of a Mul have, where each of them lacks others, is Einsum, which never makes the
 * products: `[c,l,1,h,n] * [c,1,s,h,n]` summed over `n` is `clAhn,cBshn->clsh`. Mamba 2 and what is made of its layers
 * (Bamba, Falcon-H1, Granite 4) say their scans so.
 */
export const productSumPattern: Pattern = {
  name: 'sum of products',
  calls: {
    mul: { ops: ['Mul'], where: alignsEnds, reads: { a: 'a', b: 'b' } },
    sum: { ops: ['ReduceSum'], reads: { data: 'mul' } }
  },
  root: 'sum',
  guard: ({ calls, values }, graph) =>
    ['a', 'b'].every(name => isFloat32(graph, values.get(name))) &&
    equationOf(calls.get('sum')!.call, [values.get('a')!, values.get('b')!], graph) !== undefined,
  fuse({ calls, values }, graph) {
    const inputs = [values.get('a')!, values.get('b')!]
    const { call } = calls.get('sum')!
    const equation = textAttribute(equationOf(call, inputs, graph)!)
    const einsum = standardCall(graph, call, { type: 'Einsum', opset: 12, inputs, attributes: { equation } })
    return einsum && { call: einsum }
  }
}

function equationOf(sum: Call, factors: readonly string[], graph: PlanGraph): string | undefined {
  const shapes = factors.map(id => shapeOf(graph, id)).filter(shape => shape !== undefined)
  const given = numbersOf(graph, sum, 'axes')
  const axes = shapes.length === 2 ? axesOf(shapes[0], shapes[1]) : undefined
  if (axes === undefined || given === undefined || given.length === 0) return undefined
  const summed = new Set(given.map(at => axes[at < 0 ? at + axes.length : at]))
  const kept = axes.filter(axis => !summed.has(axis))
  const isProduct = [...summed].every(({ labels: [x, y] }) => x === y)
  if (!isProduct || !isWorthIt(axes, kept, shapes)) return undefined
  const terms = shapes.map((shape, i) => axes.slice(axes.length - shape.length).map(({ labels }) => labels[i]))
  // An axis that the sum keeps has one element, as those have that stand for all.
  const single = sum.known.keepDims === true ? terms.flat().filter(isSingle) : []
  if (sum.known.keepDims === true && single.length < summed.size) return undefined
  const output = axes.map(axis => (summed.has(axis) ? (single.pop() ?? '') : axis.letter))
  return `${terms.map(term => term.join('')).join()}->${output.join('')}`
}

/** The axes of products of two values; undefined where they are not known to be broadcast as the dims say. */
function axesOf(a: readonly Dim[], b: readonly Dim[]): readonly Axis[] | undefined {
  const rank = Math.max(a.length, b.length)
  if (rank > MOST_AXES) return undefined
  const axes: Axis[] = []
  for (let at = 0; at < rank; at++) {
    const [x, y] = [a, b].map(shape => shape[at - rank + shape.length] ?? 1)
    const letter = String.fromCharCode(97 + at)
    const single = letter.toUpperCase()
    if (areDims([x], [y])) axes.push({ dim: x, letter, labels: [letter, letter] })
    else if (x === 1) axes.push({ dim: y, letter, labels: [single, letter] })
    else if (y === 1) axes.push({ dim: x, letter, labels: [letter, single] })
    else return undefined
  }
  return axes
}

const isSingle = (label: string): boolean => label !== label.toLowerCase()

/**
 * Whether there are many products for each element that is read or written. A dim that is not known counts as 1: each
 * of the products has it, so that they are only more for others.
 */
function isWorthIt(axes: readonly Axis[], kept: readonly Axis[], factors: readonly (readonly Dim[])[]): boolean {
  const products = countOf(axes.map(({ dim }) => dim))
  const others = [...factors, kept.map(({ dim }) => dim)].map(countOf)
  return products >= LEAST_PRODUCTS && products >= LEAST_REUSE * others.reduce((sum, count) => sum + count, 0)
}

const countOf = (dims: readonly Dim[]): number =>
  dims.reduce<number>((count, dim) => count * (typeof dim === 'number' ? dim : 1), 1)
