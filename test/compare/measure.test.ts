import { describe, expect, test } from 'vitest'
import { measure } from '../../src/compare/measure.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

const floats = (values: number[], dims?: number[]): Tensor => new Tensor('float32', values, dims)
const STRICT = { rtol: 0, atol: 0 }

describe('the distance of two tensors', () => {
  test('counts what is beyond the tolerance, and names the worst in the first', () => {
    const distance = measure(floats([1, 2, 3, 9], [2, 2]), floats([1, 2.5, 3, 4]), { rtol: 0.1, atol: 0.1 })
    expect(distance).toMatchObject({ equal: false, differing: 2, elements: 4, maxAbsolute: 5, maxRelative: 1.25 })
    expect(distance).toMatchObject({ position: [1, 1], worst: [9, 4] })
  })

  test('is within atol + rtol * |b|', () => {
    expect(measure(floats([1.5]), floats([1]), { rtol: 0.25, atol: 0.25 }).equal).toBe(true)
    expect(measure(floats([1.51]), floats([1]), { rtol: 0.25, atol: 0.25 }).equal).toBe(false)
  })

  test('takes atol from the largest magnitude where none is given', () => {
    const [a, b] = [floats([0.005, 1000]), floats([0, 1000])]
    expect(measure(a, b, { rtol: 0 }).equal).toBe(true)
    expect(measure(a, b, { rtol: 0, atol: 1e-5 }).equal).toBe(false)
  })

  test('counts NaN and infinities as equal to themselves only', () => {
    expect(measure(floats([NaN, Infinity]), floats([NaN, Infinity]), STRICT)).toMatchObject({
      equal: true,
      sqnr: Infinity
    })
    expect(measure(floats([0, 1]), floats([NaN, 1]), { rtol: 1, atol: 1 })).toMatchObject({
      equal: false,
      differing: 1
    })
    expect(measure(floats([NaN, 1]), floats([0, 1]), { rtol: 1, atol: 1 })).toMatchObject({
      equal: false,
      maxAbsolute: Infinity,
      sqnr: -Infinity
    })
  })

  test('is infinite in proportion to an infinity, too', () => {
    const distance = measure(floats([1, Infinity, NaN]), floats([Infinity, 1, Infinity]), STRICT)
    expect(distance).toMatchObject({ maxAbsolute: Infinity, maxRelative: Infinity, differing: 3 })
  })

  test('names the element that is furthest apart where only the signal-to-noise ratio is too low', () => {
    const [a, b] = [floats([1, 2, 3]), floats([1.0001, 2.0005, 3.0002])]
    const found = measure(a, b, { rtol: 1e-3, sqnr: 100 })
    expect(found).toMatchObject({ equal: false, differing: 0, position: [1], worst: [2, expect.closeTo(2.0005)] })
    expect(measure(a, b, { rtol: 1e-3, sqnr: 20 })).not.toHaveProperty('position')
  })

  test('is none of values that are the same bit by bit, of any width and NaN and infinities among them', () => {
    for (const one of [
      floats([NaN, Infinity, -0, 5]),
      new Tensor('bool', [true, false, true]),
      new Tensor('complex64', new Float32Array([1, 2, 3, 4]), [2])
    ])
      expect(measure(one, new Tensor(one.type, one.data.slice() as never, one.dims), STRICT)).toEqual({
        equal: true,
        maxAbsolute: 0,
        maxRelative: 0,
        sqnr: Infinity,
        differing: 0,
        elements: one.size
      })
    expect(measure(new Tensor('complex64', [1, 2], [1]), new Tensor('complex64', [1, 5], [1]), STRICT)).toMatchObject({
      maxAbsolute: 3,
      elements: 1,
      position: [0]
    })
  })

  test('is a signal-to-noise ratio in decibels, which may decide', () => {
    const [a, b] = [floats([10, 10.1]), floats([10, 10])]
    const distance = measure(a, b, { rtol: 0, atol: 0, sqnr: 40 })
    expect(distance.sqnr).toBeCloseTo(10 * Math.log10(200 / 0.01), 1)
    expect(distance.equal).toBe(true)
    expect(measure(a, b, { rtol: 0, atol: 0, sqnr: 50 }).equal).toBe(false)
  })

  test('is taken over other types, and over texts', () => {
    const half = new Tensor('float16', [0x3c00, 0x4000])
    expect(measure(half, floats([1, 2]), STRICT).equal).toBe(true)
    expect(measure(new Tensor('int64', [3n]), new Tensor('int32', [4]), STRICT).maxAbsolute).toBe(1)
    expect(measure(new Tensor(['a', 'b']), new Tensor(['a', 'c']), STRICT)).toMatchObject({
      equal: false,
      position: [1],
      worst: ['b', 'c']
    })
  })
})
