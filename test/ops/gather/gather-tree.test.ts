import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { dtypesOf } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const TREE: Kind = ['openvino', 'GatherTree', 1]
const END = 9

/** `[time][beam]` of one batch. */
const steps = (rows: number[][]): Tensor => new Tensor('int32', rows.flat(), [rows.length, 1, rows[0].length])
const lengths = (...values: number[]): Tensor => new Tensor('int32', values)
const end = new Tensor('int32', [END], [])

const IDS = steps([
  [1, 2, 3],
  [4, 5, 6],
  [7, 8, 1]
])
const PARENTS = steps([
  [0, 0, 0],
  [1, 1, 0],
  [2, 0, 1]
])

describe('GatherTree', () => {
  test('follows parents from the last step to the first', () => {
    const out = runTensor(TREE, [IDS, PARENTS, lengths(3), end])
    expect(out.dims).toEqual([3, 1, 3])
    // Beam 0: step 2 came from beam 2, that from beam 0. Beam 1: from 0, from 1. Beam 2: from 1, from 1.
    expect([...out.data]).toEqual([1, 2, 2, 6, 4, 5, 7, 8, 1])
  })

  test('what follows the first end token is end tokens', () => {
    const ids = steps([
      [1, END],
      [2, 3],
      [4, 5]
    ])
    const parents = steps([
      [0, 0],
      [1, 0],
      [0, 1]
    ])
    expect([...runTensor(TREE, [ids, parents, lengths(3), end]).data]).toEqual([END, 1, END, 3, END, 5])
  })

  test('a short length ends the sequence, one below 1 empties it, a long one counts as the number of steps', () => {
    expect([...runTensor(TREE, [IDS, PARENTS, lengths(2), end]).data]).toEqual([2, 2, 1, 4, 5, 6, END, END, END])
    for (const length of [0, -4])
      expect([...runTensor(TREE, [IDS, PARENTS, lengths(length), end]).data]).toEqual(new Array(9).fill(END))
    expect([...runTensor(TREE, [IDS, PARENTS, lengths(100), end]).data]).toEqual([
      ...runTensor(TREE, [IDS, PARENTS, lengths(3), end]).data
    ])
  })

  test('only parents that are followed are checked; the first bad one is named', () => {
    const parents = steps([
      [-7, -7, -7],
      [1, 3, -1],
      [2, 1, 1]
    ])
    const error = errorOf(() => runTensor(TREE, [IDS, parents, lengths(3), end]))
    expect(error.code).toBe('index-out-of-range')
    expect(error.details).toEqual({ index: '-1', position: [1, 0, 2], axis: 2, size: 3 })
    expect(runTensor(TREE, [IDS, parents, lengths(1), end]).dims).toEqual([3, 1, 3])
  })

  test('a parent that is no integer is no beam', () => {
    const floats = [IDS, PARENTS, lengths(3), end].map(tensor => convert(tensor, 'float32'))
    floats[1].data[6] = 0.5
    expect(errorOf(() => runTensor(TREE, floats)).details).toMatchObject({ index: '0.5', position: [2, 0, 0] })
  })

  test('works for every numeric type alike', () => {
    const small = [
      steps([
        [1, 0],
        [0, 1]
      ]),
      steps([
        [0, 0],
        [1, 1]
      ]),
      lengths(1),
      new Tensor('int32', [1], [])
    ]
    const expected = [...runTensor(TREE, small).data].map(Number)
    for (const type of dtypesOf('int', 'uint', 'float')) {
      if (['int2', 'uint1', 'nf4', 'float8e8m0'].includes(type)) continue
      const out = runTensor(
        TREE,
        small.map(tensor => convert(tensor, type))
      )
      expect([...convert(out, 'float64').data], type).toEqual(expected)
    }
  })

  test('refuses mixed types, wrong ranks and dims that differ', () => {
    expect(errorOf(() => runTensor(TREE, [IDS, convert(PARENTS, 'int64'), lengths(3), end])).code).toBe(
      'type-not-allowed'
    )
    expect(errorOf(() => runTensor(TREE, [allocate('bool', [1, 1, 1]), PARENTS, lengths(3), end])).code).toBe(
      'type-not-allowed'
    )
    expect(errorOf(() => runTensor(TREE, [IDS, PARENTS, lengths(3), lengths(9)])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(TREE, [allocate('int32', [3, 3]), PARENTS, lengths(3), end])).code).toBe(
      'rank-mismatch'
    )
    expect(errorOf(() => runTensor(TREE, [IDS, PARENTS, lengths(3, 3), end])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(TREE, [IDS, allocate('int32', [3, 1, 2]), lengths(3), end])).code).toBe(
      'dims-mismatch'
    )
  })

  test('the shape is what the inputs say together', () => {
    const infer = (...dims: ((number | string)[] | undefined)[]): unknown =>
      dimsOf(
        inferOp(
          TREE,
          dims.map(each => fact('int32', each))
        )[0]
      )
    expect(infer(['2..5', '?', 4], ['3..9', '?', 4], [2], [])).toEqual(['3..5', 2, 4])
    expect(infer(undefined, undefined, [7], undefined)).toEqual(['?', 7, '?'])
    expect(errorOf(() => infer(['0..2', 1, 4], ['3..9', 1, 4], [1], [])).code).toBe('dims-mismatch')
  })

  test('no steps take no time, however many batches there are', () => {
    const none = allocate('int32', [0, 2 ** 40, 3])
    expect(errorOf(() => runTensor(TREE, [none, none, lengths(3), end])).code).toBe('dims-mismatch')
    const empty = allocate('int32', [2 ** 40, 0, 3])
    expect(runTensor(TREE, [empty, empty, lengths(), end]).dims).toEqual([2 ** 40, 0, 3])
  })

  test('known parents are checked before the run', () => {
    const parents = steps([
      [0, 0, 0],
      [0, 0, 0],
      [5, 0, 0]
    ])
    expect(errorOf(() => inferOp(TREE, [fact('int32', [3, 1, 3]), parents, lengths(3), fact('int32', [])])).code).toBe(
      'index-out-of-range'
    )
  })
})
