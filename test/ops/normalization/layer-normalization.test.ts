import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const ones = (dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(1), dims)
/** Of 0, 1, 2: mean 1, variance 2/3. */
const inverse = 1 / Math.sqrt(2 / 3 + 1e-5)

describe('LayerNormalization', () => {
  test('normalizes the last axis and gives mean and inverse deviation', () => {
    const scale = new Tensor('float32', [1, 2, 3])
    const bias = new Tensor('float32', [0, 0, 10])
    const [y, mean, deviation] = runOp(['onnx', 'LayerNormalization', 17], [iota([2, 3]), scale, bias], {
      outputs: 3
    }) as Tensor[]
    expectNear(y, [-inverse, 0, 3 * inverse + 10, -inverse, 0, 3 * inverse + 10])
    expect(mean.dims).toEqual([2, 1])
    expectNear(mean, [1, 4])
    expectNear(deviation, [inverse, inverse])
  })

  test('normalizes all axes from the given one on; the scale is broadcast', () => {
    const out = runTensor(['onnx', 'LayerNormalization', 17], [iota([1, 3, 1]), ones([1])], { attributes: { axis: 1 } })
    expectNear(out, [-inverse, 0, inverse])
  })

  test('statistics have the stash type', () => {
    const [y, mean] = runOp(['onnx', 'LayerNormalization', 17], [iota([2, 3]), ones([3])], {
      outputs: 2,
      attributes: { stash_type: 16 }
    })
    expect(y).toMatchObject({ type: 'float32' })
    expect(mean).toMatchObject({ type: 'bfloat16', dims: [2, 1] })
  })

  test('a scale that does not fit is refused', () => {
    expect(errorOf(() => runTensor(['onnx', 'LayerNormalization', 17], [iota([2, 3]), ones([2])])).code).toBe(
      'shape-mismatch'
    )
    expect(
      errorOf(() =>
        runTensor(['onnx', 'LayerNormalization', 17], [iota([2, 3]), ones([3])], { attributes: { axis: 2 } })
      ).code
    ).toBe('axis-out-of-range')
  })

  test('shapes stay symbolic', () => {
    const inputs = [fact('float16', ['n', 's', 8]), fact('float16', [8])]
    const facts = inferOp(['onnx', 'LayerNormalization', 17], inputs, { outputs: 3, attributes: { axis: 1 } })
    expect(facts.map(dimsOf)).toEqual([
      ['n', 's', 8],
      ['n', 1, 1],
      ['n', 1, 1]
    ])
    expect(facts).toMatchObject([{ type: 'float16' }, { type: 'float32' }, { type: 'float32' }])
  })
})

describe('RMSNormalization', () => {
  test('divides by the root of the mean square and has the type of the scale', () => {
    const factor = 1 / Math.sqrt(5 / 3 + 1e-5)
    const out = runTensor(['onnx', 'RMSNormalization', 23], [iota([3]), new Tensor('float64', [1, 1, 2])])
    expect(out.type).toBe('float64')
    expectNear(out, [0, factor, 4 * factor])
  })
})

// What follows is of ONNX Runtime, with numbers of its version 1.32.
const rows = new Tensor('float32', [1, -2, 4, 0, 3, -1, 2, 2, 1, -3, 0, 5], [2, 2, 3])

test('LayerNormalization before opset 17 has the type of the scale', () => {
  const inputs = [rows, new Tensor('float64', [1, 2, -1]), new Tensor('float64', [0.5, 0, 1])]
  const outputs = runOp(['onnx', 'LayerNormalization', 13], inputs, { outputs: 3 }) as Tensor[]
  expect(outputs.map(({ type, dims }) => [type, ...dims])).toEqual([
    ['float64', 2, 2, 3],
    ['float32', 2, 2, 1],
    ['float32', 2, 2, 1]
  ])
  expectNear(
    outputs[0],
    [
      0.5, -2.4494877, -0.2247438, 0.1077684, 2.745621, 1.980579, 1.207091, 1.414182, 2.4141817, -0.6111673, -0.4040609,
      -0.3131976
    ]
  )
  expect(errorOf(() => runTensor(['onnx', 'LayerNormalization', 17], inputs)).code).toBe('type-mismatch')
})

describe('SimplifiedLayerNormalization', () => {
  const KIND = ['onnx', 'SimplifiedLayerNormalization', 13] as const

  test('is RMSNormalization, with the inverse root mean squares as a second result', () => {
    const [y, scales] = runOp(KIND, [rows, new Tensor('float32', [1, 2, -1])], { outputs: 2 }) as Tensor[]
    expectNear(
      y,
      [
        0.3779642, -1.5118568, -1.5118568, 0, 3.2863305, 0.5477217, 1.1546986, 2.3093972, -0.5773493, -0.8911324, 0,
        -1.4852207
      ]
    )
    expect(scales.dims).toEqual([2, 2, 1])
    expectNear(scales, [0.3779642, 0.5477217, 0.5773493, 0.2970442])
  })

  test('epsilon is a number of float32 where the file leaves it out, too', () => {
    const [small, one] = [new Tensor('float64', [0.01], [1, 1]), new Tensor('float64', [1], [1])]
    const y = Number(runTensor(KIND, [small, one]).data[0])
    expect(y).toBeCloseTo(0.01 / Math.sqrt(0.01 ** 2 + Math.fround(1e-5)), 14)
  })

  test('keeps symbols; a scale that does not fit is refused', () => {
    const facts = inferOp(KIND, [fact('float16', ['n', 4, 8]), fact('float16', [4, 8])], {
      outputs: 2,
      attributes: { axis: 1 }
    })
    expect(facts.map(dimsOf)).toEqual([
      ['n', 4, 8],
      ['n', 1, 1]
    ])
    expect(facts).toMatchObject([{ type: 'float16' }, { type: 'float32' }])
    expect(errorOf(() => runTensor(KIND, [rows, ones([2])])).code).toBe('shape-mismatch')
  })
})
