import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['openvino', 'ReorgYolo', 2]
const run = (dims: number[], stride: number): ReturnType<typeof runTensor> =>
  runTensor(KIND, [iota(dims)], { attributes: { stride } })

describe('ReorgYolo', () => {
  test('reads the data as planes larger by the stride', () => {
    const out = run([1, 4, 2, 4], 2)
    expect(out.dims).toEqual([1, 16, 1, 2])
    expect([...out.data]).toEqual([
      0, 2, 4, 6, 16, 18, 20, 22, 1, 3, 5, 7, 17, 19, 21, 23, 8, 10, 12, 14, 24, 26, 28, 30, 9, 11, 13, 15, 25, 27, 29,
      31
    ])
  })

  test('each batch by itself', () => {
    const out = run([2, 4, 2, 2], 2)
    expect([...out.data.slice(16)]).toEqual([...out.data.slice(0, 16)].map(value => Number(value) + 16))
  })

  test('channels that the square of the stride does not divide read on into the next rows', () => {
    expect([...run([1, 5, 2, 2], 2).data]).toEqual([
      0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15, 8, 10, 16, 18
    ])
    expect([...run([1, 9, 4, 4], 2).data].every(value => Number(value) < 144)).toBe(true)
  })

  test('a stride of 1 changes nothing', () => {
    expect([...run([1, 2, 3, 3], 1).data]).toEqual([...iota([1, 2, 3, 3]).data])
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const x = counted(type, [1, 4, 2, 2])
      const { slots } = DTYPES[type]
      const out = runTensor(KIND, [x], { attributes: { stride: 2 } })
      expect([...out.data.slice(slots, 2 * slots)], type).toEqual([...x.data.slice(2 * slots, 3 * slots)])
    }
  })

  test('refuses what the stride does not fit', () => {
    expect(errorOf(() => run([1, 3, 2, 2], 2)).code).toBe('dims-mismatch')
    expect(errorOf(() => run([1, 4, 3, 2], 2)).code).toBe('dims-mismatch')
    expect(errorOf(() => run([1, 4, 2, 2], 0)).code).toBe('value-out-of-range')
    expect(errorOf(() => run([1, 4, 2], 2)).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(KIND, [iota([1, 4, 2, 2])], { attributes: { stride: [2, 1] } })).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => runTensor(KIND, [iota([1, 4, 2, 2])])).code).toBe('missing-attribute')
    expect(runTensor(KIND, [allocate('float32', [2 ** 40, 4, 0, 2])], { attributes: { stride: 2 } }).data.length).toBe(
      0
    )
  })

  test('keeps names in its shape', () => {
    expect(dimsOf(inferOp(KIND, [fact('float32', ['n', 'c', 'h', 26])], { attributes: { stride: 2 } })[0])).toEqual([
      'n',
      '4*c',
      'floor(h/2)',
      13
    ])
  })
})
