import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'MaxUnpool', 22]
const x = new Tensor('float32', [5, 6, 7, 8], [1, 1, 2, 2])
const attributes = { kernel_shape: [2, 2], strides: [2, 2] }
const run = (indices: Tensor, shape?: Tensor, more = {}): Tensor =>
  runTensor(KIND, shape ? [x, indices, shape] : [x, indices], { attributes: { ...attributes, ...more } })
const at = (...indices: (number | bigint)[]): Tensor => new Tensor('int64', indices.map(BigInt), [1, 1, 2, 2])

describe('MaxUnpool', () => {
  test('puts elements where their indices say, zeros elsewhere', () => {
    const out = run(at(5, 7, 13, 15))
    expect(out.dims).toEqual([1, 1, 4, 4])
    expect([...out.data]).toEqual([0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8])
  })

  test('a larger output shape has room at the end of its axes', () => {
    const out = run(at(5, 7, 13, 15), ints(1, 1, 5, 6))
    expect(out.dims).toEqual([1, 1, 5, 6])
    expect([7, 9, 19, 21].map(i => out.data[i])).toEqual([5, 6, 7, 8])
  })

  test('gives back what MaxPool took, through batches and channels', () => {
    const data = iota([2, 3, 4, 6])
    const pool = { kernel_shape: [2, 2], strides: [2, 2] }
    const [values, indices] = runOp(['onnx', 'MaxPool', 22], [data], { attributes: pool, outputs: 2 }) as Tensor[]
    const out = runTensor(KIND, [values, indices], { attributes: pool })
    const again = runTensor(['onnx', 'MaxPool', 22], [out], { attributes: pool })
    expect([...again.data]).toEqual([...values.data])
  })

  test.each(['float32', 'float64', 'float16'] as const)('%s go where an index into the smaller shape says', type => {
    const dims = fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 })
    )
    fc.assert(
      fc.property(dims, fc.nat(2), fc.nat(1000), ([channels, h, w], more, seed) => {
        const [rows, columns] = [2 * h, 2 * w]
        const count = channels * h * w
        const indices = Array.from({ length: count }, (_, i) => 4 * i + ((i * 7 + seed) % 4))
        const data = convert(iota([1, channels, h, w]), type)
        const wide = columns + more
        const shape = more === 0 ? [] : [ints(1, channels, rows, wide)]
        const index = new Tensor('int64', indices.map(BigInt), data.dims)
        const out = runTensor(KIND, [data, index, ...shape], { attributes })
        const wanted = new Array<number>(channels * rows * wide).fill(0)
        indices.forEach((at, i) => {
          wanted[Math.floor(at / columns) * wide + (at % columns)] = i
        })
        expect([...convert(out, 'float64').data]).toEqual(wanted)
      }),
      { numRuns: 25, seed: 8 }
    )
  })

  test('pads make the result smaller, unless its shape is given', () => {
    expect(run(at(0, 1, 2, 3), undefined, { pads: [1, 1, 1, 1] }).dims).toEqual([1, 1, 2, 2])
    expect(run(at(0, 1, 2, 3), ints(1, 1, 4, 4), { pads: [1, 1, 1, 1] }).dims).toEqual([1, 1, 4, 4])
  })

  test('names the index that is out of range', () => {
    for (const wrong of [16, -1, 2n ** 40n]) {
      const error = errorOf(() => run(at(0, 1, wrong, 3)))
      expect(error.code).toBe('index-out-of-range')
      expect(error.message).toContain(`${wrong}`)
    }
    expect(errorOf(() => run(at(0, 1, 2, 15), ints(1, 1, 3, 3))).code).toBe('index-out-of-range')
  })

  test('refuses shapes that do not fit', () => {
    expect(errorOf(() => run(ints(1, 2))).code).toBe('shape-mismatch')
    expect(errorOf(() => run(at(0, 1, 2, 3), ints(4, 4))).code).toBe('dims-mismatch')
    expect(errorOf(() => run(at(0, 1, 2, 3), ints(1, 2, 4, 4))).code).toBe('shape-mismatch')
    expect(errorOf(() => run(at(0, 1, 2, 3), undefined, { pads: [9, 0, 0, 0] })).code).toBe('shape-mismatch')
    expect(errorOf(() => run(at(0, 1, 2, 3), undefined, { kernel_shape: [2] })).code).toBe('rank-mismatch')
    expect(errorOf(() => run(at(0, 1, 2, 3), undefined, { strides: [2] })).code).toBe('dims-mismatch')
    expect(
      errorOf(() => runTensor(KIND, [allocate('float32', [1, 1, 2]), allocate('int64', [1, 1, 2])], { attributes }))
        .code
    ).toBe('rank-mismatch')
  })

  test('keeps names in its shape', () => {
    const infer = (...inputs: Parameters<typeof inferOp>[1]): unknown =>
      dimsOf(inferOp(KIND, inputs, { attributes })[0])
    expect(infer(fact('float32', ['n', 'c', 'h', 3]), fact('int64'))).toEqual(['n', 'c', '2*h', 6])
    expect(infer(fact('float32', ['n', 'c', 'h', 3]), fact('int64'), fact('int64', [4]))).toEqual(['n', 'c', '?', '?'])
  })
})
