import { expect, test } from 'vitest'
import { classesOf } from '../src/tensors/classification.ts'

test('classes are the greatest elements of a row, NaN after all others', () => {
  const data = Float32Array.of(1, NaN, 3, 2, NaN, -1, 0, 5)
  expect(classesOf('y', { type: 'float32', dims: [2, 2, 2], data }, 3)).toEqual({
    type: 'string',
    dims: [2, 3],
    data: ['3:2', '2:3', '1:0', '5:3', '0:2', '-1:1']
  })
  expect(classesOf('y', { type: 'int64', dims: [2], data: BigInt64Array.of(-1n, 2n ** 60n) }, 9).data).toEqual([
    `${2n ** 60n}:1`,
    '-1:0'
  ])
})

test.each(['float8e4m3fn', 'float4e2m1', 'nf4'] as const)('elements of %s are codes, which have no order', type => {
  const tensor = { type, dims: [2], data: Uint8Array.of(1, 9) }
  expect(() => classesOf('y', tensor, 1)).toThrow(expect.objectContaining({ code: 'bad-request' }))
})
