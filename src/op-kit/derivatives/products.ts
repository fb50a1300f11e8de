import type { Attribute, ValueId } from '../../graph/graph.ts'
import { type Derivative, without } from './backward.ts'
import { rule } from './elementwise.ts'
import { int, type Writer } from './writer.ts'

const transposed = (w: Writer, x: ValueId): ValueId => w.einsum('...ij->...ji', x)

/** A list of one: 1 for a vector, 0 for a matrix or more. */
const isVector = (w: Writer, x: ValueId): ValueId => w.call('Max', [w.call('Sub', [w.list(2), w.rank(x)]), w.list(0)])

/** Both operands and the derivative as matrices: a vector is a row on the left and a column on the right. */
const matmul = rule((w, { x: [a, b], y: [y], d, wants }) => {
  const [isRow, isColumn] = [isVector(w, a), isVector(w, b)]
  const left = w.reshape(a, w.join(w.ones(isRow), w.shape(a)))
  const right = w.reshape(b, w.join(w.shape(b), w.ones(isColumn)))
  const [dims, rank] = [w.shape(y), w.rank(y)]
  const columnsAt = w.call('Add', [w.call('Sub', [rank, w.list(1)]), isColumn])
  const [rows, columns] = [w.part(dims, w.list(0), columnsAt), w.part(dims, columnsAt, rank)]
  const product = w.reshape(d, w.join(rows, w.ones(isRow), columns, w.ones(isColumn)))
  const part = (wanted: boolean, id: ValueId, to: ValueId, make: () => ValueId): ValueId | undefined =>
    wanted ? w.reshapeLike(w.sumTo(make(), to), id) : undefined
  return [
    part(wants(0), a, left, () => w.call('MatMul', [product, transposed(w, right)])),
    part(wants(1), b, right, () => w.call('MatMul', [transposed(w, left), product]))
  ]
})

const gemm = rule((w, { node, x: [a, b, c], d, float, int: read, wants }) => {
  const alpha: Attribute = { kind: 'float', value: float('alpha', 1) }
  const [isLeftTurned, isRightTurned] = [read('transA', 0) !== 0, read('transB', 0) !== 0]
  const product = (left: ValueId, right: ValueId, turnsLeft: boolean, turnsRight: boolean): ValueId =>
    w.call('Gemm', [left, right], { alpha, transA: int(Number(turnsLeft)), transB: int(Number(turnsRight)) })
  return [
    isLeftTurned ? product(b, d, isRightTurned, true) : product(d, b, false, !isRightTurned),
    isRightTurned ? product(d, a, true, isLeftTurned) : product(a, d, !isLeftTurned, false),
    node.inputs[2] !== undefined && wants(2) ? w.sumTo(w.mul(d, float('beta', 1)), c) : undefined
  ]
})

/** Terms of an equation, the one of the result last: without an arrow it has the letters that occur once. */
function termsOf(equation: string): string[] {
  const [left, right] = equation.replace(/\s/g, '').split('->')
  const terms = left.split(',')
  const letters = [...left.replace(/[.,]/g, '')].sort()
  const once = letters.filter(letter => letters.indexOf(letter) === letters.lastIndexOf(letter))
  return [...terms, right ?? (left.includes('...') ? '...' : '') + once.join('')]
}

/** The same sum with the derivative in the place of the operand. */
const einsumRule = rule((w, { node, x, d, text: read, wants }) => {
  const terms = termsOf(read('equation', ''))
  const result = terms.pop()!
  return x.map((id, i) => {
    if (!wants(i)) return undefined
    const term = terms[i]
    if (new Set(term.replace(/\./g, '')).size < term.replace(/\./g, '').length) return without(node, ' with a diagonal')
    const others = [...x.keys()].filter(k => k !== i)
    const inputs = [d, ...others.map(k => x[k])]
    const given = [result, ...others.map(k => terms[k])]
    // What is only in this operand is summed: its derivative is the same all along.
    const isThere = (part: string): boolean => given.some(other => other.includes(part))
    const isComplete = (term.match(/\.\.\.|[a-z]/gi) ?? []).every(isThere)
    if (!isComplete) {
      inputs.push(w.filled(1, id))
      given.push(term)
    }
    // Axes that are broadcast come first, since they are added up from the first on.
    const front = term.includes('...') ? `...${term.replace('...', '')}` : term
    const whole = w.einsum(`${given.join()}->${front}`, ...inputs)
    const summed = (to: ValueId): ValueId => w.sumTo(w.expandLike(whole, to), to)
    // Where another operand repeats an axis of size 1, the derivative is the same all along this operand's.
    if (front === term) return summed(id)
    return w.einsum(`${front}->${term}`, summed(w.einsum(`${term}->${front}`, id)))
  })
})

/** Products of matrices. */
export const PRODUCTS: Readonly<Record<string, Derivative>> = { MatMul: matmul, Gemm: gemm, Einsum: einsumRule }
