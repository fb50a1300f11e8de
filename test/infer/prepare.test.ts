import { describe, expect, test } from 'vitest'
import { preparedFor } from '../../src/infer/prepare.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { callOf, type Kind } from '../ops/harness.ts'
import { ints } from '../ops/values.ts'

const data = (...dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), dims)
const RESHAPE: Kind = ['onnx', 'Reshape', 14]

describe('what a call worked out', () => {
  const call = callOf(RESHAPE, [data(2, 3), ints(3, 2)], {})
  const first = preparedFor(undefined, call, [data(2, 3), ints(3, 2)], undefined)!
  const dimsFor = (...inputs: Tensor[]): unknown => {
    const [fact] = preparedFor(first, call, inputs, undefined)!.expected
    return fact.kind === 'tensor' && fact.shape
  }

  test('serves again for inputs of the same types, dims and looked-at elements', () => {
    expect(preparedFor(first, call, [data(2, 3), ints(3, 2)], undefined)).toBe(first)
  })

  test('is worked out anew for other dims or elements', () => {
    expect(dimsFor(data(2, 3), ints(6))).toEqual([6])
    expect(dimsFor(data(2, 3), ints(2, 3))).toEqual([2, 3])
    expect(dimsFor(data(3, 4), ints(6, 2))).toEqual([6, 2])
  })

  test('is worked out anew for another type', () => {
    const other = new Tensor('int32', new Int32Array(6), [2, 3])
    expect(preparedFor(first, call, [other, ints(3, 2)], undefined)!.expected[0]).toMatchObject({ type: 'int32' })
  })

  test('still throws what does not fit', () => {
    expect(() => preparedFor(first, call, [data(2, 3), ints(5)], undefined)).toThrow('5')
  })

  test('does not depend on what a caller does to the tensors afterwards', () => {
    const [tensor, target] = [data(2, 3), ints(3, 2)]
    const made = preparedFor(undefined, call, [tensor, target], undefined)!
    target.data[0] = 6n
    ;(tensor.dims as number[])[0] = 4
    expect(preparedFor(made, call, [data(2, 3), ints(3, 2)], undefined)).toBe(made)
    expect(() => preparedFor(made, call, [data(2, 3), target], undefined)).toThrow('12')
  })

  test('holds no tensor, and dims that nobody can change', () => {
    const identity = callOf(['onnx', 'Identity', 13], [data(2)], {})
    const [fact] = preparedFor(undefined, identity, [data(2)], undefined)!.expected
    expect(fact).not.toHaveProperty('value')
    expect(fact.kind === 'tensor' && Object.isFrozen(fact.shape)).toBe(true)
  })

  test('is not kept where many elements were looked at', () => {
    const repeats = ints(...new Array<number>(65).fill(1))
    const split = callOf(['onnx', 'Split', 13], [data(65), repeats], { outputs: 65 })
    expect(preparedFor(undefined, split, [data(65), repeats], undefined)).toBeUndefined()
  })

  test('is not kept where an input is no tensor', () => {
    const sequence = { type: 'sequence', values: [data(1)] } as const
    expect(
      preparedFor(undefined, callOf(['onnx', 'SequenceLength', 11], [sequence], {}), [sequence], undefined)
    ).toBeUndefined()
  })
})
