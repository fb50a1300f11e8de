import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks } from '../random.ts'

const TRILU: Kind = ['onnx', 'Trilu', 14]

test('Trilu keeps the elements on and beyond a diagonal of each matrix', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const dims = [1 + picks(seed, 2), 1 + picks(seed + 1, 4), 1 + picks(seed + 2, 4)]
    const [k, upper] = [picks(seed + 3, 11) - 5, seed % 2]
    const data = counted(seed % 3 === 0 ? 'int64' : seed % 3 === 1 ? 'complex64' : 'string', dims)
    const slots = data.type === 'complex64' ? 2 : 1
    const expected = Array.from(data.data as string[], (value, at) => {
      const [i, j] = [Math.floor(at / slots / dims[2]) % dims[1], Math.floor(at / slots) % dims[2]]
      const zero = data.type === 'string' ? '' : data.type === 'int64' ? 0n : 0
      return (upper ? j >= i + k : j <= i + k) ? value : zero
    })
    expect(
      [...(runTensor(TRILU, [data, new Tensor('int64', [BigInt(k)], [])], { attributes: { upper } }).data as string[])],
      `seed ${seed}`
    ).toEqual(expected)
  }
})

test.each(['bool', 'float16', 'float32', 'float64'] as const)('Trilu of long lines and of many: %s', type => {
  for (const dims of [
    [2, 90, 700],
    [700, 5, 3],
    [1, 3, 20_000]
  ])
    for (const [k, upper] of [
      [0, 0],
      [0, 1],
      [37, 0],
      [-2, 1]
    ]) {
      const count = dims[0] * dims[1] * dims[2]
      const ones = convert(new Tensor('float32', new Float32Array(count).fill(1), dims), type)
      const one = ones.data[0]
      const result = runTensor(TRILU, [ones, new Tensor('int64', [BigInt(k)], [])], { attributes: { upper } })
      const expected = Array.from({ length: count }, (_, at) => {
        const [i, j] = [Math.floor(at / dims[2]) % dims[1], at % dims[2]]
        return (upper ? j >= i + k : j <= i + k) ? one : 0
      })
      expect(Array.from(result.data as Float32Array)).toEqual(expected)
    }
})

test('Trilu takes the main diagonal by default, and diagonals far away', () => {
  const data = counted('int32', [2, 2])
  expect([...runTensor(TRILU, [data]).data]).toEqual([0, 1, 0, 3])
  expect([...runTensor(TRILU, [data, new Tensor('int64', [-(2n ** 63n)], [])]).data]).toEqual([0, 1, 2, 3])
})

test('Trilu wants matrices', () => {
  expect(errorOf(() => runTensor(TRILU, [counted('int32', [2])])).code).toBe('rank-mismatch')
  expect(dimsOf(inferOp(TRILU, [fact('int32', ['n', 3]), undefined])[0])).toEqual(['n', 3])
})

test('Trilu of com.microsoft is that of the standard', () => {
  const kind: Kind = ['onnx', 'Trilu', 1, 'com.microsoft']
  const k = new Tensor('int64', [1n], [1])
  expect([...runTensor(kind, [counted('float32', [3, 4]), k]).data]).toEqual([0, 1, 2, 3, 0, 0, 6, 7, 0, 0, 0, 11])
  expect([...runTensor(kind, [counted('int64', [2, 2])], { attributes: { upper: 0 } }).data]).toEqual([0n, 0n, 2n, 3n])
})
