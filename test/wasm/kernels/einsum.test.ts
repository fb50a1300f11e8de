import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

const EINSUM = ['onnx', 'Einsum', 12] as const
const SIZES: Readonly<Record<string, number>> = { a: 5, b: 1, c: 7, d: 19, e: 4, f: 9 }

/** Shares of the largest magnitude that sums may be off by; integers wrap. */
const ERROR = { float32: 2e-6, float64: 1e-14, int32: 0, int64: 0 } as const
type Type = keyof typeof ERROR
/** Magnitudes of elements. */
const SCALES: Readonly<Record<Type, number>> = { float32: 1, float64: 1, int32: 1e5, int64: 1e12 }

const operands = (equation: string, type: Type = 'float32'): Tensor[] =>
  equation
    .split('->')[0]
    .split(',')
    .map((term, i) =>
      convert(
        noise(
          [...term].map(label => SIZES[label]),
          i + 1,
          SCALES[type]
        ),
        type
      )
    )

/** Labels in any order, none twice. */
const term = fc.shuffledSubarray([...'abcdef'], { minLength: 2, maxLength: 5 })

describe.each([
  ['float32', 'heap'],
  ['float32', 'array'],
  ['float64', 'heap'],
  ['float64', 'array'],
  ['int32', 'heap'],
  ['int64', 'array']
] as const)('Einsum of %s in WebAssembly, operands in an %s', (type, region) => {
  const error = ERROR[type]

  test('of two operands equals the reference, or is left to it', () => {
    let served = 0
    const equations = fc.record({ left: term, right: term, output: fc.shuffledSubarray([...'abcdef']) })
    fc.assert(
      fc.property(equations, ({ left, right, output }) => {
        const known = output.filter(label => left.includes(label) || right.includes(label))
        const equation = `${left.join('')},${right.join('')}->${known.join('')}`
        try {
          expectEqual(EINSUM, operands(equation, type), { region, attributes: { equation } }, error)
          served++
        } catch (fault) {
          if (!String(fault).includes('no accelerated kernel')) throw fault
        }
      }),
      { numRuns: 250, seed: 5 }
    )
    expect(served).toBeGreaterThan(60)
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
              expectEqual(EINSUM, operands(equation, type), { region, attributes: { equation } }, error)
              served++
            } catch (fault) {
              if (!String(fault).includes('no accelerated kernel')) throw fault
            }
          }
        }
      ),
      { numRuns: 100, seed: 9 }
    )
    expect(served).toBeGreaterThan(60)
  })

  test('of three to five operands equals the reference, or is left to it', () => {
    let served = 0
    const terms = fc.array(fc.shuffledSubarray([...'abcdef'], { minLength: 1, maxLength: 3 }), {
      minLength: 3,
      maxLength: 5
    })
    fc.assert(
      fc.property(terms, fc.shuffledSubarray([...'abcdef'], { maxLength: 3 }), (left, output) => {
        const known = output.filter(label => left.some(own => own.includes(label)))
        const equation = `${left.map(own => own.join('')).join()}->${known.join('')}`
        try {
          expectEqual(EINSUM, operands(equation, type), { region, attributes: { equation } }, error)
          served++
        } catch (fault) {
          if (!String(fault).includes('no accelerated kernel')) throw fault
        }
      }),
      { numRuns: 300, seed: 3 }
    )
    expect(served).toBeGreaterThan(7)
  })

  test('of several operands with a dim of one equals the reference', () => {
    const equation = 'ij,jk,kl->il'
    const shapes = [
      [20, 30],
      [30, 40],
      [40, 1]
    ]
    const given = shapes.map((dims, i) => convert(noise(dims, i + 1, SCALES[type]), type))
    expectEqual(EINSUM, given, { region, attributes: { equation } }, error)
  })

  test.each([
    'acd,acd->acd',
    'ad,df,fe->ae',
    'dda->a',
    'acd,df,fe->ace',
    'abd,acd->abc',
    'abdc,abcf->abdf',
    'acd,adf->acf',
    'ca,da->cd',
    'aacd,adf->acf',
    '...d,df->...f',
    'acd,acd->ac',
    'acd,acd->',
    'ade,ade->ad',
    'eda,eda->ad',
    'dcf,dcf->d',
    'acd,cad->acd',
    'aac,cd->dac',
    'adfc,aefc->adec',
    'dacf,eacf->deac',
    'ecaf,efd->cad',
    'adc,dfc->afc',
    'acfd,efd->acef',
    'aadc,fdc->afc',
    'adc,dfc,fe->aec',
    'acdf,cafd,dac->fcad'
  ])('of %s equals the reference', equation => {
    const shaped = equation.replaceAll('...', 'ac')
    expectEqual(EINSUM, operands(shaped, type), { region, attributes: { equation } }, error)
  })
})

test.each(['float32', 'float64', 'int32', 'int64'] as const)(
  'sums of %s whose labels stand in another order equal the reference',
  type => {
    for (const equation of ['acdf->fa', 'bacdf->fab', 'acdf->dca', 'acdf->fda'])
      expectEqual(EINSUM, operands(equation, type), { attributes: { equation } }, ERROR[type])
  }
)

test('Einsum of float16 is that of float32 for the same numbers, rounded', () => {
  for (const equation of ['acd,acd->ac', 'acd,adf->acf', 'acdf->fa', 'acd,df,fe->ace']) {
    const given = operands(equation).map(tensor => convert(tensor, 'float16'))
    const wide = given.map(tensor => convert(tensor, 'float32'))
    const [expected] = runOp(EINSUM, wide, { attributes: { equation } }) as Tensor[]
    for (const region of ['heap', 'array'] as const) {
      const [found] = runAccelerated(EINSUM, given, { region, attributes: { equation } }) as Tensor[]
      expect(found.type).toBe('float16')
      expect(differenceOf(convert(found, 'float32'), expected)).toBeLessThanOrEqual(2 ** -11 + 2 ** -16)
    }
  }
})

test.each(['aacd->acd', 'acdf->cf', 'ac->ca', 'acd,dd->a', 'acd,ef,f->cd'])('%s is left to the reference', equation => {
  expect(() => runAccelerated(EINSUM, operands(equation), { attributes: { equation } })).toThrow()
})
