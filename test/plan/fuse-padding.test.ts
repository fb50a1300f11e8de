import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { propagate } from '../../src/infer/propagate.ts'
import { planGraph } from '../../src/plan/plan.ts'
import { floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { inOther } from '../ops/converted.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const DIMS = [2, 16, 11, 13]

/** Pad and Conv with weights of `kernel` x `kernel`. */
function model(
  pads: readonly number[],
  {
    kernel = 3,
    conv = {},
    pad = ['x', 'pads'],
    attributes = {},
    more = []
  }: Partial<{
    kernel: number
    conv: Parameters<typeof node>[3]
    pad: string[]
    attributes: Parameters<typeof node>[3]
    more: object[]
  }> = {}
): ModelParts {
  const weights = noise([16, 16, kernel, kernel], 1)
  return {
    inputs: [port('x', 'float', DIMS)],
    outputs: [port('y', 'float')],
    initializers: [
      floats('w', [16, 16, kernel, kernel], [...weights.data]),
      floats('b', [16], [...noise([16], 2).data]),
      floats('zero', [], [0]),
      floats('one', [], [1]),
      int64s('pads', [pads.length], [...pads]),
      int64s('axes', [2], [-2, 3])
    ],
    nodes: [node('Pad', pad, ['p'], attributes), node('Conv', ['p', 'w', 'b'], ['y'], conv), ...more],
    opset: 19
  }
}

describe('a Pad before a convolution', () => {
  test.each([
    ['as many all around', model([0, 0, 1, 1, 0, 0, 1, 1])],
    ['otherwise at the ends', model([0, 0, 0, 1, 0, 0, 2, 0], { conv: { strides: [2, 2] } })],
    ['more than the window', model([0, 0, 4, 5, 0, 0, 6, 3])],
    ['beside those of the convolution', model([0, 0, 1, 2, 0, 0, 3, 0], { conv: { pads: [1, 0, 0, 1] } })],
    ['none of which the convolution has', model([0, 0, 3, 3, 0, 0, 3, 3], { kernel: 7, conv: { auto_pad: 'VALID' } })],
    ['of some axes, by a zero', model([1, 2, 3, 0], { pad: ['x', 'pads', 'zero', 'axes'] })],
    ['with dilations', model([0, 0, 2, 2, 0, 0, 2, 2], { conv: { dilations: [2, 2] } })]
  ])('is part of it: %s', async (_, parts) => {
    const { steps } = await planOf(parts)
    expect(steps.map(({ call }) => call.op.name)).toEqual(['Conv'])
    expect(steps[0].nodes).toHaveLength(2)
    expect(await differenceBetween(parts, { x: DIMS })).toBeLessThan(1e-5)
  })

  test('is part of it where its pads are an attribute', async () => {
    const parts = model([], { pad: ['x'], attributes: { pads: [0, 0, 1, 0, 0, 0, 2, 1], value: { float: 0 } } })
    expect(opsOf(await planOf({ ...parts, opset: 10 }))).toEqual(['Conv'])
    expect(await differenceBetween({ ...parts, opset: 10 }, { x: DIMS })).toBeLessThan(1e-5)
    const other = model([], { pad: ['x'], attributes: { pads: [0, 0, 1, 0, 0, 0, 2, 1], value: { float: 1 } } })
    expect(opsOf(await planOf({ ...other, opset: 10 }))).toContain('Pad')
  })

  test('is part of it in an IR', async () => {
    const parts = model([0, 0, 1, 0, 0, 0, 2, 1])
    const ir = inOther(await onnxModel(parts))
    const found = propagate(bind(ir, registryWith()))
    const names = ir.graph.outputs.map(({ value }) => value)
    expect(opsOf(planGraph(found, names, {}))).toEqual(['Conv'])
    expect(opsOf(planGraph(found, names, { isExact: true }))).toContain('Pad')
  })

  test('is part of it, with an activation', async () => {
    const parts = model([0, 0, 1, 1, 0, 0, 1, 1], { more: [node('Relu', ['y'], ['z'])] })
    const whole = { ...parts, outputs: [port('z', 'float')] }
    expect(opsOf(await planOf(whole))).toEqual(['FusedConv'])
    expect(await differenceBetween(whole, { x: DIMS })).toBeLessThan(1e-5)
  })

  test.each([
    ['by other numbers', model([0, 0, 1, 1, 0, 0, 1, 1], { pad: ['x', 'pads', 'one'] })],
    ['by reflection', model([0, 0, 1, 1, 0, 0, 1, 1], { attributes: { mode: 'reflect' } })],
    ['of a batch', model([1, 0, 1, 1, 0, 0, 1, 1])],
    ['that cuts off', model([0, 0, -1, 1, 0, 0, 1, 1])],
    ['before a convolution that pads by itself', model([0, 0, 1, 1, 0, 0, 1, 1], { conv: { auto_pad: 'SAME_UPPER' } })],
    ['that others read', model([0, 0, 1, 1, 0, 0, 1, 1], { more: [node('Neg', ['p'], ['n'])] })]
  ])('stays what it is: %s', async (name, parts) => {
    const outputs = name.includes('others') ? [...parts.outputs, port('n', 'float')] : parts.outputs
    expect(opsOf(await planOf({ ...parts, outputs }))).toContain('Pad')
    expect(await differenceBetween({ ...parts, outputs }, { x: DIMS })).toBeLessThan(1e-5)
  })

  test('stays what it is in exact precision', async () => {
    expect(opsOf(await planOf(model([0, 0, 1, 1, 0, 0, 1, 1]), { isExact: true }))).toContain('Pad')
  })
})

/** Relu, Pad and MaxPool. */
const pooled = (
  pads: readonly number[],
  pool: Parameters<typeof node>[3] = {},
  first: object = node('Relu', ['x'], ['r']),
  outputs = ['y']
): ModelParts => ({
  inputs: [port('x', 'float', DIMS)],
  outputs: [port('y', 'float')],
  initializers: [
    int64s('pads', [8], [...pads]),
    floats('w', [16, 16, 3, 3], [...noise([16, 16, 3, 3], 1).data]),
    floats('b', [16], [...noise([16], 2).data])
  ],
  nodes: [
    first,
    node('Pad', ['r', 'pads'], ['p']),
    node('MaxPool', ['p'], outputs, { kernel_shape: [3, 3], strides: [2, 2], ...pool })
  ],
  opset: 19
})

describe('a Pad before MaxPool', () => {
  test.each([
    ['as many all around', pooled([0, 0, 1, 1, 0, 0, 1, 1])],
    ['beside those of the pool', pooled([0, 0, 1, 0, 0, 0, 0, 2], { pads: [1, 1, 2, 0] })]
  ])('is part of it where all elements are at least 0: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).toEqual(['Relu', 'MaxPool'])
    expect(await differenceBetween(parts, { x: DIMS })).toBe(0)
  })

  test('is part of it after a convolution with an activation', async () => {
    const nodes = [node('Conv', ['x', 'w', 'b'], ['c']), node('Relu', ['c'], ['r'])]
    const { nodes: rest, ...parts } = pooled([0, 0, 1, 1, 0, 0, 1, 1])
    const whole = { ...parts, nodes: [...nodes, ...rest.slice(1)] }
    expect(opsOf(await planOf(whole))).toEqual(['FusedConv', 'MaxPool'])
    expect(await differenceBetween(whole, { x: DIMS })).toBeLessThan(1e-5)
  })

  test.each([
    ['of numbers below 0', pooled([0, 0, 1, 1, 0, 0, 1, 1], {}, node('Neg', ['x'], ['r']))],
    ['that fills a window', pooled([0, 0, 3, 1, 0, 0, 1, 1])],
    ['that fills a window with pads of the pool', pooled([0, 0, 1, 1, 0, 0, 1, 1], { pads: [2, 0, 0, 0] })],
    ['of windows with gaps', pooled([0, 0, 1, 1, 0, 0, 1, 1], { dilations: [2, 2] })],
    ['of windows that are rounded up', pooled([0, 0, 1, 1, 0, 0, 1, 1], { ceil_mode: 1 })],
    ['whose elements are counted', pooled([0, 0, 1, 1, 0, 0, 1, 1], {}, undefined, ['y', 'i'])]
  ])('stays what it is: %s', async (name, parts) => {
    const outputs = name.includes('counted') ? [...parts.outputs, port('i', 'int64')] : parts.outputs
    expect(opsOf(await planOf({ ...parts, outputs }))).toContain('Pad')
    expect(await differenceBetween({ ...parts, outputs }, { x: DIMS })).toBe(0)
  })
})
