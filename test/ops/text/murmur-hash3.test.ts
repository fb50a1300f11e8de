import { expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const HASH: Kind = ['onnx', 'MurmurHash3', 1, 'com.microsoft']
const hashed = (type: DType, values: (number | string)[], attributes: Record<string, number> = {}): unknown[] => {
  const items = type === 'int64' || type === 'uint64' ? values.map(BigInt) : values
  const y = runTensor(HASH, [new Tensor(type, items)], { attributes })
  return [y.type, ...y.data]
}

// The hashes are those of ONNX Runtime 1.32.
test('MurmurHash3 hashes the bytes of each element, unsigned or signed', () => {
  expect(hashed('int32', [1, -1])).toEqual(['uint32', 4226891818, 1982413648])
  expect(hashed('int32', [1, -1], { positive: 0 })).toEqual(['int32', -68075478, 1982413648])
  expect(hashed('float32', [1.5], { seed: 42 })).toEqual(['uint32', 4073715768])
  expect(hashed('int64', [1])).toEqual(['uint32', 1392991556])
  expect(hashed('float64', [1.5])).toEqual(['uint32', 4034560987])
  expect(hashed('uint32', [1])).toEqual(['uint32', 4226891818])
  expect(hashed('uint64', [1])).toEqual(['uint32', 1392991556])
})

test('MurmurHash3 hashes strings as UTF-8, whatever is left after whole words', () => {
  expect(hashed('string', ['', 'a', 'abcd', 'héllo'], { seed: 1, positive: 0 })).toEqual([
    'int32',
    1364076727,
    1485495528,
    -1678424686,
    -752730070
  ])
  expect(hashed('string', ['abc'], { seed: -1 })).toEqual(['uint32', 4236296879])
})

test('MurmurHash3 keeps the shape', () => {
  expect(dimsOf(inferOp(HASH, [fact('string', ['n', 2])])[0])).toEqual(['n', 2])
  expect(runTensor(HASH, [new Tensor('int64', [], [0, 3])]).dims).toEqual([0, 3])
})
