import { expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { errorOf, fact, inferOp, runOp } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const promote = (a: DType, b: DType, attributes = {}, ranks: [number, number] = [1, 1]): unknown => {
  const [first, second] = inferOp(
    ['openvino', 'ConvertPromoteTypes', 14],
    [fact(a, new Array<number>(ranks[0]).fill(2)), fact(b, new Array<number>(ranks[1]).fill(2))],
    { attributes, outputs: 2 }
  )
  expect(second).toMatchObject({ type: (first as { type: DType }).type })
  return (first as { type: DType }).type
}
const refused = (a: DType, b: DType): unknown => errorOf(() => promote(a, b)).code

test('floats come before integers, integers before booleans', () => {
  expect(promote('int8', 'float32')).toBe('float32')
  expect(promote('bool', 'float16')).toBe('float16')
  expect(promote('uint8', 'bool')).toBe('uint8')
})

test('types of one kind give the narrowest that holds both', () => {
  expect(promote('int32', 'uint8')).toBe('int32')
  expect(promote('float16', 'float64')).toBe('float64')
  expect(promote('int64', 'int64')).toBe('int64')
})

test('what loses or widens needs promote_unsafe', () => {
  const unsafe = { promote_unsafe: true }
  expect(refused('float16', 'int64')).toBe('type-not-allowed')
  expect(promote('float16', 'int64', unsafe)).toBe('float16')
  expect(refused('float64', 'uint64')).toBe('type-not-allowed')
  expect(refused('int8', 'uint8')).toBe('type-not-allowed')
  expect(promote('int8', 'uint8', unsafe)).toBe('int16')
  expect(promote('float16', 'bfloat16', unsafe)).toBe('float32')
  expect(promote('float8e4m3fn', 'float8e5m2', unsafe)).toBe('float16')
  expect(promote('uint64', 'int8', unsafe)).toBe('float32')
  expect(promote('uint64', 'int8', { ...unsafe, u64_integer_promotion_target: 'f64' })).toBe('float64')
})

test('a scalar yields to a tensor of the same kind, if asked to', () => {
  const attributes = { promote_unsafe: true, pytorch_scalar_promotion: true }
  expect(promote('int64', 'uint8', attributes, [0, 1])).toBe('uint8')
  expect(promote('float16', 'int8', attributes, [0, 1])).toBe('float16')
  expect(promote('int32', 'int8', attributes, [1, 2])).toBe('int32')
  expect(errorOf(() => promote('int64', 'uint8', { pytorch_scalar_promotion: true }, [0, 1])).code).toBe(
    'type-not-allowed'
  )
})

test('both results are converted', () => {
  const results = runOp(['openvino', 'ConvertPromoteTypes', 14], [scalar(3, 'int8'), ints(4)], { outputs: 2 })
  expect(results).toMatchObject([
    { type: 'int64', dims: [] },
    { type: 'int64', dims: [1] }
  ])
})
