import { fail } from '../errors.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, printDim, printShape } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'

/**
 * Checks that an operand, where it is given and its rank is known, has one of these ranks.
 * @throws NodewiseError `rank-mismatch`
 */
export function checkRank(name: string, fact: TensorFact | undefined, ...ranks: readonly number[]): void {
  const shape = fact?.shape
  if (shape === undefined || ranks.includes(shape.length)) return
  const others = ranks.filter(rank => rank > 0)
  const expected = [
    ...(ranks.includes(0) ? ['a scalar'] : []),
    ...(others.length > 0 ? [`rank ${others.join(' or ')}`] : [])
  ]
  fail('rank-mismatch', `${name} has shape ${printShape(shape)}; ${expected.join(' or ')} is expected`)
}

/** {@link checkRank} for operands that may have more axes. */
export function checkRankAtLeast(name: string, { shape }: TensorFact, lowest: number): void {
  if (shape === undefined || shape.length >= lowest) return
  fail('rank-mismatch', `${name} has shape ${printShape(shape)}; rank ${lowest} or more is expected`)
}

/**
 * Checks one dim of an operand whose rank is known to suffice.
 * @throws NodewiseError `dims-mismatch`
 */
export function checkDim(name: string, { shape }: TensorFact, axis: number, size: number): void {
  if (shape !== undefined && !mayMatch(shape[axis], size))
    fail('dims-mismatch', `dim ${axis} of ${name} is ${printDim(shape[axis])}; ${size} is expected`)
}

/**
 * Checks that an operand has a single element and rank 0 or 1.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkSingle(name: string, { shape }: TensorFact): void {
  if (shape === undefined || shape.length === 0) return
  if (shape.length > 1)
    fail('rank-mismatch', `${name} has shape ${printShape(shape)}; a scalar or a list of one is expected`)
  if (!mayMatch(shape[0], 1)) fail('dims-mismatch', `${name} has shape ${printShape(shape)}; one element is expected`)
}

/**
 * The shape of an operand combined with what it must be, which is all that is known of an operand that is left out.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function meetShape(name: string, fact: TensorFact | undefined, expected: readonly Dim[]): readonly Dim[] {
  checkRank(name, fact, expected.length)
  const shape = fact?.shape
  if (shape === undefined) return expected
  return shape.map(
    (dim, i) =>
      meetDims(dim, expected[i]) ??
      fail('dims-mismatch', `${name} has shape ${printShape(shape)}; dim ${i} must be ${printDim(expected[i])}`)
  )
}

/**
 * The size of each of several heads that lie side by side in columns.
 * @throws NodewiseError `unknown-attribute-value` for no heads, `shape-mismatch`
 */
export function sizeOfHeads(name: string, columns: Dim, heads: number): Dim {
  if (heads < 1) fail('unknown-attribute-value', `the number of heads is ${heads}; expected 1 or more`)
  if (typeof columns === 'number' && columns % heads !== 0)
    fail('shape-mismatch', `${columns} columns of ${name} are no multiple of ${heads} heads`)
  return floorDivDims(columns, heads)
}

/**
 * What dims of several operands, whose ranks suffice, say together of a size that they share. Operands by the names
 * that the message is to have, each with its axis (from the end where negative); those left out say nothing.
 * @throws NodewiseError `dims-mismatch`
 */
export function sharedDim(
  operands: Readonly<Record<string, readonly [operand: TensorFact | undefined, axis: number]>>
): Dim | undefined {
  let common: Dim | undefined
  let first = ''
  for (const name in operands) {
    const [operand, axis] = operands[name]
    const dim = operand?.shape?.at(axis)
    if (dim === undefined) continue
    const met = common === undefined ? dim : meetDims(common, dim)
    if (met === undefined)
      fail(
        'dims-mismatch',
        `dim ${axis} of ${name} is ${printDim(dim)}, that of ${first} ${printDim(common!)}; they must be the same`
      )
    if (common === undefined) first = name
    common = met
  }
  return common
}

/**
 * Checks the dims of an operand that may come in several forms.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkForms(name: string, { shape }: TensorFact, ...forms: readonly (readonly Dim[])[]): void {
  if (shape === undefined) return
  const ofRank = forms.filter(form => form.length === shape.length)
  if (ofRank.some(form => form.every((dim, i) => mayMatch(shape[i], dim)))) return
  const expected = forms.map(printShape).join(' or ')
  fail(
    ofRank.length === 0 ? 'rank-mismatch' : 'dims-mismatch',
    `${name} has shape ${printShape(shape)}; ${expected} is expected`
  )
}

/**
 * Checks that two dims can be equal.
 * @param what they are, in the plural
 * @throws NodewiseError `shape-mismatch`
 */
export function checkEqual(what: string, a: Dim, b: Dim): void {
  if (!mayMatch(a, b)) fail('shape-mismatch', `the ${what} must be equal; they are ${printDim(a)} and ${printDim(b)}`)
}

/**
 * Checks the last dim of an operand, which has at least one.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkLastDim(name: string, fact: TensorFact, size: Dim): void {
  checkRankAtLeast(name, fact, 1)
  const last = fact.shape?.at(-1)
  if (last !== undefined && !mayMatch(last, size))
    fail('dims-mismatch', `the last dim of ${name} is ${printDim(last)}; ${printDim(size)} is expected`)
}
