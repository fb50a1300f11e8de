import { describe, expect, test } from 'vitest'
import { maxDim, minDim, namedDim } from '../../../src/shapes/dim.ts'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'
import { valuesOf } from '../values.ts'

const KIND: Kind = ['openvino', 'ExtractImagePatches', 3]
const counting = (dims: number[]): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => i + 1),
    dims
  )
const run = (x: Tensor, sizes: number[], strides: number[], rates: number[], autoPad: string): Tensor =>
  runTensor(KIND, [x], { attributes: { sizes, strides, rates, auto_pad: autoPad } })

describe('ExtractImagePatches', () => {
  test('puts what one tap reads of every channel side by side', () => {
    const out = run(counting([1, 2, 5, 5]), [2, 2], [3, 3], [1, 1], 'valid')
    expect(out.dims).toEqual([1, 8, 2, 2])
    expect([...out.data]).toEqual([
      1, 4, 16, 19, 26, 29, 41, 44, 2, 5, 17, 20, 27, 30, 42, 45, 6, 9, 21, 24, 31, 34, 46, 49, 7, 10, 22, 25, 32, 35,
      47, 50
    ])
  })

  test('pads with zeros, the odd cell at the end or the beginning', () => {
    const patches = (autoPad: string): number[] =>
      [...run(counting([1, 1, 10, 10]), [4, 4], [9, 9], [1, 1], autoPad).data.slice(0, 24)] as number[]
    expect(patches('same_upper')).toEqual([
      0, 0, 0, 89, 0, 0, 81, 90, 0, 0, 82, 0, 0, 0, 83, 0, 0, 9, 0, 99, 1, 10, 91, 100
    ])
    expect([...run(counting([1, 1, 2, 2]), [2, 2], [1, 1], [1, 1], 'same_lower').data]).toEqual([
      0, 0, 0, 1, 0, 0, 1, 2, 0, 1, 0, 3, 1, 2, 3, 4
    ])
  })

  test('rates spread the cells of a patch', () => {
    const out = run(counting([1, 1, 10, 10]), [3, 3], [5, 5], [2, 2], 'valid')
    expect([...out.data.slice(0, 12)]).toEqual([1, 6, 51, 56, 3, 8, 53, 58, 5, 10, 55, 60])
  })

  test('data smaller than a window without padding have no patches', () => {
    expect(run(counting([1, 2, 6, 4]), [1, 3], [3, 4], [1, 2], 'valid').dims).toEqual([1, 6, 2, 0])
    expect(run(counting([1, 1, 2, 3]), [3, 1], [2, 1], [3, 1], 'valid').dims).toEqual([1, 3, 0, 3])
    const attributes = { sizes: [3, 1], strides: [1, 1], rates: [1, 1], auto_pad: 'valid' }
    const [patches] = inferOp(KIND, [fact('float32', [1, 1, 'h', 2])], { attributes })
    const rows = patches.kind === 'tensor' ? patches.shape?.[2] : undefined
    expect(rows !== undefined && [minDim(rows), maxDim(rows)]).toEqual([0, Infinity])
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const x = counted(type, [1, 1, 2, 2])
      const { slots } = DTYPES[type]
      const out = run(x, [1, 1], [1, 2], [1, 1], 'valid')
      expect([...out.data], type).toEqual([...x.data.slice(0, slots), ...x.data.slice(2 * slots, 3 * slots)])
    }
  })

  test('symbolic elements are moved as they are', () => {
    const n = namedDim('n') as never
    const x = tensorFact('int64', [1, 1, 1, 2], { type: 'int64', dims: [1, 1, 1, 2], data: [n, 5n] })
    expect(
      valuesOf(
        inferOp(KIND, [x], { attributes: { sizes: [1, 2], strides: [1, 1], rates: [1, 1], auto_pad: 'same_upper' } })[0]
      )
    ).toEqual(['n', 5n, 5n, 0n])
  })

  test('refuses what cannot be', () => {
    const x = counting([1, 1, 3, 3])
    expect(errorOf(() => run(x, [2], [1, 1], [1, 1], 'valid')).code).toBe('dims-mismatch')
    expect(errorOf(() => run(x, [], [1, 1], [1, 1], 'valid')).code).toBe('dims-mismatch')
    expect(errorOf(() => run(x, [2, 2], [0, 1], [1, 1], 'valid')).code).toBe('value-out-of-range')
    expect(errorOf(() => run(x, [2, 2], [1, 1], [1, 1], 'explicit')).code).toBe('unknown-attribute-value')
    expect(errorOf(() => run(counting([1, 3, 3]), [2, 2], [1, 1], [1, 1], 'valid')).code).toBe('rank-mismatch')
    expect(run(allocate('float32', [2 ** 40, 1, 0, 4]), [2, 2], [1, 1], [1, 1], 'same_upper').data.length).toBe(0)
  })

  test('keeps names in its shape', () => {
    const attributes = { sizes: [2, 3], strides: [1, 2], rates: [1, 1], auto_pad: 'same_upper' }
    expect(dimsOf(inferOp(KIND, [fact('float32', ['n', 'c', 'h', 9])], { attributes })[0])).toEqual([
      'n',
      '6*c',
      'h',
      5
    ])
    expect(dimsOf(inferOp(KIND, [fact('float32')], { attributes })[0])).toEqual(['?', '?', '?', '?'])
  })
})
