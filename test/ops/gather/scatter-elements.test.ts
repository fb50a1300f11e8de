import { describe, expect, test } from 'vitest'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { named } from '../../../src/shapes/sym.ts'
import { convert } from '../../../src/tensor/convert.ts'
import { ALL_DTYPES, type DType } from '../../../src/tensor/dtype.ts'
import { allocate, stridesOf, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks, randomDims, randomIndices } from '../random.ts'

const ONNX: Kind = ['onnx', 'ScatterElements', 18]
const IR: Kind = ['openvino', 'ScatterElementsUpdate', 12]
const AXIS0 = new Tensor('int64', [0n], [])
const ids = (...values: number[]): Tensor => new Tensor('int64', values)
const list = (type: DType, ...values: number[]): Tensor => convert(new Tensor('float64', values), type)
const numbers = (tensor: Tensor): number[] => [...convert(tensor, 'float64').data]

/** One list of updates brought into another. */
const reduced = (
  type: DType,
  reduction: string,
  data: number[],
  indices: number[],
  updates: number[],
  initial = true
): number[] =>
  numbers(
    runTensor(IR, [list(type, ...data), ids(...indices), list(type, ...updates), AXIS0], {
      attributes: { reduction, use_init_val: initial }
    })
  )

describe('ScatterElements', () => {
  test('agrees with the definition for random dims, axes and indices', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const dims = randomDims(seed, 1, 4)
      const axis = picks(seed, dims.length)
      const indexDims = dims.map((dim, d) => (d === axis ? 1 + picks(seed + d, 6) : 1 + picks(seed + d, dim)))
      const data = counted(seed % 3 === 0 ? 'int64' : seed % 3 === 1 ? 'float32' : 'string', dims)
      const updates = counted(data.type, indexDims)
      const indices = randomIndices(seed, seed % 2 === 0 ? 'int32' : 'int64', indexDims, dims[axis])
      const expected = [...(data.data as Float32Array)]
      const [strides, own] = [stridesOf(dims), stridesOf(indexDims)]
      for (let t = 0; t < indices.data.length; t++) {
        const at = own.map((stride, d) => Math.floor(t / stride) % indexDims[d])
        const index = Number(indices.data[t])
        at[axis] = index < 0 ? index + dims[axis] : index
        expected[at.reduce((sum, c, d) => sum + c * strides[d], 0)] = updates.data[t] as number
      }
      const out = runTensor(ONNX, [data, indices, updates], { attributes: { axis: axis - dims.length } })
      expect([...(out.data as Float32Array)], `seed ${seed}`).toEqual(expected)
    }
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const [data, updates] = [allocate(type, [2]), counted(type, [1])]
      expect(
        [...(runTensor(IR, [data, ids(-2), updates, AXIS0]).data as Float32Array)].slice(0, updates.data.length),
        type
      ).toEqual([...updates.data])
    }
  })

  test('reductions add, multiply and compare', () => {
    for (const type of ['float32', 'float16', 'int32', 'int64', 'uint8'] as const) {
      expect(reduced(type, 'sum', [2, 3, 4, 6], [1, 0, 0, -2, -1, 2], [10, 20, 30, 40, 70, 60]), type).toEqual([
        52, 13, 104, 76
      ])
      expect(reduced(type, 'sum', [2, 3, 4, 6], [1, 0, 0, 2, 3, 2], [10, 20, 30, 40, 70, 60], false)).toEqual([
        50, 10, 100, 70
      ])
      expect(reduced(type, 'prod', [2, 3], [0, 0], [5, 4])).toEqual([40, 3])
      expect(reduced(type, 'prod', [2, 3], [0, 0], [5, 4], false)).toEqual([20, 3])
      expect(reduced(type, 'min', [2, 3], [0, 1, 1], [5, 1, 4])).toEqual([2, 1])
      expect(reduced(type, 'max', [2, 3], [0, 1, 1], [1, 2, 1], false)).toEqual([1, 2])
    }
  })

  test('means count the initial value when it takes part, those of integers are rounded down', () => {
    for (const type of ['int32', 'int64', 'int8'] as const) {
      expect(reduced(type, 'mean', [1, 2, 3], [0, 0, 1], [3, 4, -5])).toEqual([2, -2, 3])
      expect(reduced(type, 'mean', [1, 2, 3], [0, 0, 1], [-3, -4, 7], false)).toEqual([-4, 7, 3])
    }
    expect(reduced('float32', 'mean', [1, 2], [0, 0], [3, 5])).toEqual([3, 2])
    expect(reduced('int8', 'mean', [100, 0], [0, 0], [100, 100])).toEqual([100, 0])
  })

  test('integers wrap, NaN wins, booleans are joined logically', () => {
    const add = { attributes: { reduction: 'add' } }
    expect([...runTensor(ONNX, [new Tensor('int8', [100]), ids(0), new Tensor('int8', [100])], add).data]).toEqual([
      -56
    ])
    expect([
      ...runTensor(ONNX, [new Tensor('int32', [65537]), ids(0), new Tensor('int32', [65537])], {
        attributes: { reduction: 'mul' }
      }).data
    ]).toEqual([131073])
    expect([
      ...runTensor(ONNX, [list('float32', 1), ids(0), list('float32', NaN)], { attributes: { reduction: 'max' } }).data
    ]).toEqual([NaN])
    const flags = new Tensor('bool', [true, false, false])
    const updates = new Tensor('bool', [false, true])
    expect([...runTensor(ONNX, [flags, ids(0, 1), updates], add).data]).toEqual([1, 1, 0])
    expect([...runTensor(ONNX, [flags, ids(0, 1), updates], { attributes: { reduction: 'mul' } }).data]).toEqual([
      0, 0, 0
    ])
    const i = new Tensor('complex64', new Float32Array([0, 1]), [1])
    expect([...runTensor(ONNX, [i, ids(0), i], { attributes: { reduction: 'mul' } }).data]).toEqual([-1, 0])
  })

  test('reductions came bit by bit and not for every type', () => {
    const inputs = [list('float32', 1), ids(0), list('float32', 1)]
    expect([...runTensor(['onnx', 'ScatterElements', 16], inputs, { attributes: { reduction: 'max' } }).data]).toEqual([
      1
    ])
    expect(
      errorOf(() => runTensor(['onnx', 'ScatterElements', 13], inputs, { attributes: { reduction: 'add' } })).code
    ).toBe('unknown-attribute-value')
    const text = new Tensor('string', ['a'])
    expect(errorOf(() => runTensor(ONNX, [text, ids(0), text], { attributes: { reduction: 'add' } })).code).toBe(
      'type-not-allowed'
    )
    const flag = new Tensor('bool', [true])
    expect(errorOf(() => runTensor(IR, [flag, ids(0), flag, AXIS0], { attributes: { reduction: 'mean' } })).code).toBe(
      'type-not-allowed'
    )
  })

  test('Scatter is its old name', () => {
    expect([...runTensor(['onnx', 'Scatter', 9], [list('float32', 1, 2), ids(-1), list('float32', 7)]).data]).toEqual([
      1, 7
    ])
  })

  test('names the first index out of range', () => {
    const error = errorOf(() => runTensor(ONNX, [list('float32', 1, 2), ids(1, 2), list('float32', 7, 8)]))
    expect(error.code).toBe('index-out-of-range')
    expect(error.details).toEqual({ index: '2', position: [1], axis: 0, size: 2 })
    expect(errorOf(() => inferOp(ONNX, [fact('float32', ['0..2']), ids(2), fact('float32', [1])])).code).toBe(
      'index-out-of-range'
    )
  })

  test('updates have the dims of indices, which are not larger than the data off the axis', () => {
    const data = counted('float32', [2, 3])
    const run = (indexDims: number[], updateDims: number[]): unknown =>
      runTensor(ONNX, [data, allocate('int64', indexDims), allocate('float32', updateDims)])
    expect(errorOf(() => run([1, 3], [1, 2])).code).toBe('dims-mismatch')
    expect(errorOf(() => run([1, 4], [1, 4])).code).toBe('dims-mismatch')
    expect(errorOf(() => run([3], [3])).code).toBe('rank-mismatch')
    expect(run([5, 3], [5, 3])).toMatchObject({ dims: [2, 3] })
    expect(
      errorOf(() => runTensor(IR, [data, allocate('int64', [1, 1]), allocate('float16', [1, 1]), AXIS0])).code
    ).toBe('type-mismatch')
    expect(
      dimsOf(
        inferOp(IR, [
          fact('float32', ['n', 3]),
          fact('int64', ['?', 9]),
          fact('float32', ['?', 9]),
          fact('int64', [])
        ])[0]
      )
    ).toEqual(['n', 3])
  })

  test('elements of float32, which have a loop of their own, are summed as those of float64', () => {
    const at = ids(...Array.from({ length: 50 }, (_, i) => (i * i) % 7))
    const values = Array.from({ length: 50 }, (_, i) => i - 20)
    const sums = (type: DType): number[] =>
      numbers(
        runTensor(ONNX, [list(type, 1, 2, 3, 4, 5, 6, 7), at, list(type, ...values)], {
          attributes: { reduction: 'add' }
        })
      )
    expect(sums('float32')).toEqual(sums('float64'))
  })

  test('symbolic elements are moved as they are, never reduced', () => {
    const n = named('n')
    const inputs = [
      tensorFact('int64', [2], { type: 'int64', dims: [2], data: [n, 5n] }),
      ids(1),
      new Tensor('int64', [7n])
    ]
    const value = (reduction: string): unknown =>
      (inferOp(ONNX, inputs, { attributes: { reduction } })[0] as ReturnType<typeof tensorFact>).value?.data
    expect(value('none')).toEqual([n, 7n])
    expect(value('add')).toBeUndefined()
  })
})
