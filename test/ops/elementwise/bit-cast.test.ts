import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, type DType, DTYPES } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'

const KIND: Kind = ['onnx', 'BitCast', 26]
const cast = (input: Tensor, to: DType): Tensor =>
  runTensor(KIND, [input], { attributes: { to: DTYPES[to].onnx ?? 0 } })

describe('BitCast', () => {
  test('keeps the bits', () => {
    expect([...cast(new Tensor('float32', [1, -0]), 'int32').data]).toEqual([0x3f800000, -(2 ** 31)])
    expect([...cast(new Tensor('int64', [-1n]), 'uint64').data]).toEqual([2n ** 64n - 1n])
    expect([...cast(new Tensor('complex64', new Float32Array([0, 1.875]), [1]), 'float64').data]).toEqual([1])
    expect([...cast(new Tensor('float16', [0x3c00]), 'int16').data]).toEqual([0x3c00])
  })

  test('narrow integers get or lose their sign', () => {
    expect([...cast(new Tensor('int4', [-1, -8, 7]), 'uint4').data]).toEqual([15, 8, 7])
    expect([...cast(new Tensor('uint4', [15, 8, 7]), 'int4').data]).toEqual([-1, -8, 7])
    expect([...cast(new Tensor('int2', [-2]), 'uint2').data]).toEqual([2])
    expect([...cast(new Tensor('int4', [-7]), 'float4e2m1').data]).toEqual([9])
  })

  test('any byte but 0 is true', () => {
    expect([...cast(new Tensor('int8', [0, 1, -128]), 'bool').data]).toEqual([0, 1, 1])
  })

  test('goes there and back for all types of a width', () => {
    const types = ALL_DTYPES.filter(type => DTYPES[type].onnx !== undefined && type !== 'string' && type !== 'bool')
    for (const from of types) {
      for (const to of types.filter(type => DTYPES[type].bits === DTYPES[from].bits)) {
        const input = counted(from, [2, 3])
        const output = cast(input, to)
        expect(output).toMatchObject({ type: to, dims: [2, 3] })
        expect([...cast(output, from).data], `${from} ${to}`).toEqual([...input.data])
      }
    }
  })

  test('refuses another width, and strings', () => {
    expect(errorOf(() => cast(new Tensor('float32', [1]), 'int64')).code).toBe('type-mismatch')
    expect(errorOf(() => cast(new Tensor('int32', [1]), 'string')).code).toBe('type-not-allowed')
    expect(dimsOf(inferOp(KIND, [fact('float32', ['n'])], { attributes: { to: 6 } })[0])).toEqual(['n'])
  })
})
