import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const EINSUM = ['onnx', 'Einsum', 12] as const
const SIZES: Readonly<Record<string, number>> = { a: 5, b: 1, c: 7, d: 19, e: 4, f: 9 }

const operands = (equation: string): ReturnType<typeof noise>[] =>
  equation
    .split('->')[0]
    .split(',')
    .map((term, i) =>
      noise(
        [...term].map(label => SIZES[label]),
        i + 1
      )
    )

/** Labels in any order, none twice. */
const term = fc.shuffledSubarray([...'abcdef'], { minLength: 2, maxLength: 5 })

describe.each(['heap', 'array'] as const)('Einsum in WebAssembly, operands in an %s', region => {
  test('of two operands equals the reference, or is left to it', () => {
    let served = 0
    const equations = fc.record({ left: term, right: term, output: fc.shuffledSubarray([...'abcdef']) })
    fc.assert(
      fc.property(equations, ({ left, right, output }) => {
        const known = output.filter(label => left.includes(label) || right.includes(label))
        const equation = `${left.join('')},${right.join('')}->${known.join('')}`
        try {
          expectEqual(EINSUM, operands(equation), { region, attributes: { equation } }, 2e-6)
          served++
        } catch (error) {
          if (!String(error).includes('no accelerated kernel')) throw error
        }
      }),
      { numRuns: 250, seed: 5 }
    )
    expect(served).toBeGreaterThan(25)
  })

  test('of one operand equals the reference, or is left to it', () => {
    let served = 0
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...'abcdf'], { minLength: 3 }),
        fc.infiniteStream(fc.boolean()),
        (left, kept) => {
          const output = left.filter(() => kept.next().value)
          for (const equation of [
            `${left.join('')}->${output.join('')}`,
            `${left.join('')}->${left.toSorted().join('')}`
          ]) {
            try {
              expectEqual(EINSUM, operands(equation), { region, attributes: { equation } }, 2e-6)
              served++
            } catch (error) {
              if (!String(error).includes('no accelerated kernel')) throw error
            }
          }
        }
      ),
      { numRuns: 100, seed: 9 }
    )
    expect(served).toBeGreaterThan(60)
  })

  test.each([
    'abd,acd->abc',
    'abdc,abcf->abdf',
    'acd,adf->acf',
    'ca,da->cd',
    'aacd,adf->acf',
    '...d,df->...f',
    'acd,acd->ac',
    'acd,acd->',
    'dcf,dcf->d'
  ])('of %s equals the reference', equation => {
    const shaped = equation.replaceAll('...', 'ac')
    expectEqual(EINSUM, operands(shaped), { region, attributes: { equation } }, 2e-6)
  })
})

test.each(['acd,acd->acd', 'aacd->acd', 'acdf->fa', 'acdf->cf', 'ac->ca', 'acd,df,fe->ace', 'acd,ef->cd'])(
  '%s is left to the reference',
  equation => {
    expect(() => runAccelerated(EINSUM, operands(equation), { attributes: { equation } })).toThrow()
  }
)
