import { expect, test } from 'vitest'
import { ELEMENTS, type Elements, pairJobs } from '../../../src/wasm/kernels/einsum-product.ts'

const SIZES: Readonly<Record<string, number>> = { b: 2, i: 20, j: 24, k: 16, c: 12, d: 1 }

/** The kernels of the jobs for an equation. */
function kernelsOf(equation: string, elements: Elements = ELEMENTS.float32): string[] | undefined {
  const [terms, output] = equation.split('->')
  const operands = terms.split(',').map(term => ({ labels: [...term], dims: [...term].map(label => SIZES[label]) }))
  return pairJobs(operands, [...output], elements)?.map(({ template }) => template.kernel)
}

test.each([
  ['bik,bkj->bij', 'nothing is transposed where matrices lie one after the other', ['matrix']],
  ['bick,bjck->bcij', 'rows of products may lie apart', ['matrix']],
  ['bick,bjck->bicj', 'the result alone is transposed where operands have contiguous rows', ['matrix', 'lines']],
  [
    'bikc,bjkc->bijc',
    'labels of the batch that come last are moved',
    ['transpose', 'transpose', 'matrix', 'transpose']
  ],
  ['bikc,ckj->bicj', 'the operand with contiguous rows stays', ['transpose', 'matrix', 'lines']],
  ['bi,ijb->bj', 'a row by a matrix is computed as it lies', ['matrix']],
  ['kbci,kcj->bij', 'labels that are summed over are brought together in one operand', ['transpose', 'matrix']],
  ['bikd,bjkd->bijd', 'dims of one element count for nothing', ['matrix']],
  ['bkc,bkc->bc', 'dot products stay', ['matrix']],
  ['bic,bjc->bijc', 'products without sums are those of elements', ['binary']],
  ['bic,cib->ibc', 'and transpose what lies otherwise', ['lines', 'transpose', 'binary']],
  ['bdic,bc->bic', 'but for dims of one element', ['binary']]
])('%s: %s', (equation, _, kernels) => {
  expect(kernelsOf(equation)).toEqual(kernels)
})

test.each([
  ['bik,bkj->bij', 'nothing is transposed where columns lie side by side', ['wideProduct']],
  ['bik,bjk->bij', 'or where both lie along the depth', ['wideProduct']],
  ['bikc,bjkc->bijc', 'else operands are', ['transpose', 'transpose', 'wideProduct', 'transpose']],
  ['bkc,bkc->bc', 'dot products of elements that lie apart are of rows then', ['wideProduct']],
  ['bic,bjc->bijc', 'products without sums are those of elements', ['arithmetic']]
])('%s of float64: %s', (equation, _, kernels) => {
  expect(kernelsOf(equation, ELEMENTS.float64)).toEqual(kernels)
})

test('labels that one operand alone has and that are summed over have no product', () => {
  expect(kernelsOf('bikc,kj->bij')).toBeUndefined()
})
