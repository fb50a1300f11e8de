import { describe, expect, test } from 'vitest'
import { inferCall } from '../../src/infer/infer.ts'
import { type Elem, factOf, type TensorFact, tensorFact } from '../../src/shapes/fact.ts'
import { add, fresh, named } from '../../src/shapes/sym.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { callOf, errorOf, inferOp, type Kind } from '../ops/harness.ts'
import { ints } from '../ops/values.ts'

/** A list of integers, the first of which is not known. */
const partial = (...rest: number[]): TensorFact =>
  tensorFact('int64', [rest.length + 1], {
    type: 'int64',
    dims: [rest.length + 1],
    data: [fresh(), ...rest.map(BigInt)]
  })

const valueOf = (...given: Parameters<typeof inferOp>): unknown => {
  const [fact] = inferOp(...given)
  return fact.kind === 'tensor' && fact.value?.data
}

const noBody = (): never => {
  throw new Error('no bodies here')
}

test('complex elements beside symbols are not followed', () => {
  const z = new Tensor('complex64', new Float32Array(6), [3])
  expect(inferOp(['onnx', 'Gather', 13], [z, partial(1)], {}, false)).toEqual([tensorFact('complex64', [2])])
})

test('an operator that moves or computes, as its parameters say, is followed where it moves', () => {
  const scatter: Kind = ['onnx', 'ScatterElements', 18]
  const inputs = [partial(5, 6), ints(1), ints(7)]
  expect(valueOf(scatter, inputs, { attributes: { reduction: 'none' } })).toEqual([expect.anything(), 7n, 6n])
  expect(valueOf(scatter, inputs, { attributes: { reduction: 'add' } })).toBeUndefined()
})

test('a kernel that breaks its shape rule is a fault, not an unknown value', () => {
  const call = callOf(['onnx', 'Identity', 13], [ints(1)], {})
  const broken = { ...call, op: { ...call.op, shape: () => [tensorFact('int64', [2])] } }
  expect(errorOf(() => inferCall(broken, [factOf(ints(1))], noBody)).code).toBe('internal')
})

describe('floats beside symbols', () => {
  const floats = (type: 'float32' | 'float64', data: readonly Elem[]): TensorFact =>
    tensorFact(type, [data.length], { type, dims: [data.length], data })
  const n = named('n', 1)

  test('are rounded to their type, as kernels round them', () => {
    const scales = new Tensor('float32', [2, 0.7, 1.1])
    const product = valueOf(['onnx', 'Mul', 14], [floats('float32', [n, 10, 20]), scales])
    expect(product).toEqual([expect.objectContaining({ key: '2*n' }), 7, 22])
  })

  test('stay numbers where symbols cancel out, so that a quotient has its fraction', () => {
    const sum = floats('float32', [add(n, 5n), n])
    const [five] = inferOp(['onnx', 'Sub', 14], [sum, floats('float32', [n, 1])])
    expect(five).toMatchObject({ value: { data: [5, expect.anything()] } })
    const two = floats('float32', [2, 1])
    expect(valueOf(['onnx', 'Div', 14], [five as TensorFact, two])).toEqual([2.5, expect.anything()])
  })

  test('a 0 divided by a size that may be 0 is not known, since it may be NaN', () => {
    const zero = new Tensor('float32', [0])
    const div = (by: Elem): unknown => inferOp(['onnx', 'Div', 14], [zero, floats('float32', [by])])[0]
    expect(div(named('m'))).toEqual(tensorFact('float32', [1]))
    expect(div(n)).toMatchObject({ value: { data: new Float32Array([0]) } })
  })
})

describe('integers beside symbols', () => {
  const integers = (type: 'int32' | 'uint32' | 'int64', ...data: readonly Elem[]): TensorFact =>
    tensorFact(type, [data.length], { type, dims: [data.length], data })
  const n = named('n')

  test('wrap as those of kernels do', () => {
    const product = [integers('int32', n, 4n), integers('int32', 1n, 2n ** 30n)]
    expect(valueOf(['onnx', 'Mul', 14], product)).toEqual([n, 0n])
    const difference = [integers('uint32', n, 4n), integers('uint32', 0n, 5n)]
    expect(valueOf(['onnx', 'Sub', 14], difference)).toEqual([n, 2n ** 32n - 1n])
  })

  test('are any where a symbol may have wrapped', () => {
    const difference = [integers('uint32', n), integers('uint32', 5n)]
    expect(valueOf(['onnx', 'Sub', 14], difference)).toEqual([expect.objectContaining({ min: 0, max: 2 ** 32 - 1 })])
    const signed = [integers('int32', n), integers('int32', 5n)]
    expect(valueOf(['onnx', 'Sub', 14], signed)).toEqual([expect.objectContaining({ key: 'n+-5' })])
  })

  test('stay integers where they are raised to a float', () => {
    const powers = inferOp(['onnx', 'Pow', 15], [integers('int64', n, 7n), new Tensor('float32', [1])])[0]
    expect(powers).toMatchObject({ value: { data: [n, 7n] } })
    const halves = valueOf(['onnx', 'Div', 14], [powers, integers('int64', 2n, 2n)])
    expect(halves).toEqual([expect.anything(), 3n])
  })
})
