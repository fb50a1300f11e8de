import { describe, expect, test } from 'vitest'
import { compare, type CompareOptions, type Comparison, load, type Model, Tensor } from '../../src/index.ts'
import { floats, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { layer, net } from '../openvino/ir.ts'

const x = new Tensor('float32', [1, 2, -3, 4], [2, 2])

/** y = softmax(relu(x) * w) */
const parts = (changes: Partial<ModelParts> = {}, axis = 1): ModelParts => ({
  inputs: [port('x', 'float', [2, 2])],
  initializers: [floats('w', [2, 2], [1, 2, 3, 4])],
  outputs: [port('y', 'float', [2, 2])],
  nodes: [node('Relu', ['x'], ['r']), node('MatMul', ['r', 'w'], ['m']), node('Softmax', ['m'], ['y'], { axis })],
  ...changes
})
const model = (of: ModelParts): Promise<Model> => load(onnxBytes(of))
const run = async (a: ModelParts, b: ModelParts, options: CompareOptions = {}): Promise<Comparison> =>
  compare(await model(a), await model(b), { x }, options)

describe('two models', () => {
  test('that are the same are equal, value by value', async () => {
    const result = await run(parts(), parts())
    expect(result).toMatchObject({ equal: true, first: undefined, unpaired: { a: 0, b: 0 } })
    expect(result.pairs.map(({ a }) => a.value)).toEqual(['r', 'm', 'y'])
    expect(result.outputs).toMatchObject([{ a: 'y', b: 'y', distance: { equal: true } }])
  })

  test('part at the node whose weight differs, which is named with the weight', async () => {
    const result = await run(parts(), parts({ initializers: [floats('w', [2, 2], [1, 2, 3, 5])] }))
    expect(result.equal).toBe(false)
    expect(result.first).toMatchObject({ a: { type: 'MatMul', nodeIndex: 1, value: 'm' }, b: { value: 'm' } })
    expect(result.first?.why).toEqual([
      expect.stringMatching(/^its constant b differs in 1 of 4 elements, by up to 1 /)
    ])
  })

  test('get inputs of other names by position, in whatever order they are given', async () => {
    const difference = (...names: readonly string[]): ModelParts => ({
      inputs: names.map(name => port(name, 'float', [1])),
      outputs: [port('d', 'float', [1])],
      nodes: [node('Sub', [...names], ['d'])]
    })
    const [a, b] = [await model(difference('10', '9')), await model(difference('p', 'q'))]
    const [five, three] = [new Tensor('float32', [5]), new Tensor('float32', [3])]
    expect((await compare(a, b, { '9': three, '10': five })).equal).toBe(true)
  })

  test('are paired by the inputs that get the same, though these stand in another order', async () => {
    const distance = (ins: readonly string[], [x, z]: readonly string[], inner: string): ModelParts => ({
      inputs: ins.map(name => port(name, 'float', [1])),
      outputs: [port(`${inner}y`, 'float', [1])],
      nodes: [
        node('Abs', [x], [`${inner}x`]),
        node('Abs', [z], [`${inner}z`]),
        node('Sub', [`${inner}x`, `${inner}z`], [`${inner}y`])
      ]
    })
    const feeds = { x: new Tensor('float32', [5]), z: new Tensor('float32', [3]) }
    const a = await model(distance(['x', 'z'], ['x', 'z'], 'm'))
    const named = await compare(a, await model(distance(['z', 'x'], ['x', 'z'], 'n')), feeds)
    expect([named.equal, named.pairs.length]).toEqual([true, 3])
    const inputs = new Map([
      ['x', 's'],
      ['z', 'r']
    ])
    const mapped = await compare(a, await model(distance(['r', 's'], ['s', 'r'], 'n')), feeds, { inputs })
    expect([mapped.equal, mapped.pairs.length]).toEqual([true, 3])
  })

  test('get an input that has a default by its name', async () => {
    const scaled = (x: string): ModelParts => ({
      inputs: [port(x, 'float', [1]), port('scale', 'float', [1])],
      initializers: [floats('scale', [1], [2])],
      outputs: [port('y', 'float', [1])],
      nodes: [node('Mul', [x, 'scale'], ['y'])]
    })
    const feeds = { scale: new Tensor('float32', [7]), x: new Tensor('float32', [3]) }
    const { equal, outputs } = await compare(await model(scaled('x')), await model(scaled('z')), feeds)
    expect([equal, outputs.length]).toEqual([true, 1])
  })

  test('have outputs that belong to one output of the other each', async () => {
    const giving = (...names: readonly (readonly [op: string, name: string])[]): ModelParts => ({
      inputs: [port('x', 'float', [2, 2])],
      outputs: names.map(([, name]) => port(name, 'float', [2, 2])),
      nodes: names.map(([op, name]) => node(op, ['x'], [name]))
    })
    const neg = ['Neg', 'n'] as const
    const abs = ['Abs', 'm'] as const
    expect((await run(giving(neg, abs), giving(abs))).outputs).toMatchObject([
      { a: 'n', b: '', problem: 'the second model has no such output' },
      { a: 'm', b: 'm', distance: { equal: true } }
    ])
    const renamed = await run(giving(neg, abs), giving(abs, ['Neg', 'other']))
    expect(renamed.outputs).toMatchObject([
      { a: 'n', b: 'other' },
      { a: 'm', b: 'm' }
    ])
    expect(renamed.equal).toBe(true)
  })

  test('of a classifier are equal, whose probabilities are a sequence of maps', async () => {
    const [a, b] = [await load('models/iris.onnx'), await load('models/iris.onnx')]
    const feeds = { X: new Tensor('float32', [5.1, 3.5, 1.4, 0.2, 6, 3, 5, 2], [2, 4]) }
    const { equal, outputs } = await compare(a, b, feeds)
    expect(outputs).toMatchObject([
      { distance: { equal: true, elements: 2 } },
      { a: 'output_probability', distance: { equal: true, elements: 6 } }
    ])
    expect(equal).toBe(true)
  })

  test('give sequences that are measured as one list, or are told to be built otherwise', async () => {
    const listing = (op: string, ...names: readonly string[]): ModelParts =>
      parts({
        initializers: [],
        outputs: [{ name: 'y', type: { sequenceType: { elemType: { tensorType: { elemType: 1 } } } } }],
        nodes: [node(op, ['x'], ['r']), node('SequenceConstruct', names, ['y'])]
      })
    expect((await run(listing('Abs', 'r', 'x'), listing('Abs', 'r', 'x'))).equal).toBe(true)
    const { equal, outputs } = await run(listing('Abs', 'r', 'x'), listing('Neg', 'r', 'x'))
    expect(equal).toBe(false)
    expect(outputs[0].distance).toMatchObject({ equal: false, maxAbsolute: 8, differing: 3, elements: 8 })
    expect(outputs[0].distance).not.toHaveProperty('position')
    const longer = await run(listing('Abs', 'r', 'x'), listing('Abs', 'r', 'x', 'x'))
    expect(longer).toMatchObject({ equal: false, outputs: [{ problem: 'sequences of 2 and 3 values' }] })
  })

  test('part at the node whose attribute differs', async () => {
    const result = await run(parts(), parts({}, 0))
    expect(result.first).toMatchObject({ a: { type: 'Softmax', value: 'y' } })
    expect(result.first?.why).toEqual(['axis 1 and 0'])
  })

  test('may keep a weight the other way round, which is no difference of it', async () => {
    const turned = (value: number): ModelParts =>
      parts({
        initializers: [floats('w', [2, 2], [1, 3, 2, value])],
        nodes: [
          node('Relu', ['x'], ['r']),
          node('Gemm', ['r', 'w'], ['m'], { transB: 1 }),
          node('Softmax', ['m'], ['y'])
        ]
      })
    const straight = parts({
      nodes: [node('Relu', ['x'], ['r']), node('Gemm', ['r', 'w'], ['m']), node('Softmax', ['m'], ['y'])]
    })
    expect((await run(straight, turned(4))).equal).toBe(true)
    expect((await run(straight, turned(5))).first?.why).toContainEqual(
      expect.stringMatching(/^its constant b differs in 1 of 4 elements, by up to 1 /)
    )
  })

  test('tell a weight and a bias apart where one has the bias in a node of its own', async () => {
    const of = (nodes: ModelParts['nodes'], last: number, bias: number): ModelParts =>
      parts({ initializers: [floats('w', [2, 2], [1, 2, 3, last]), floats('b', [2], [bias, 1])], nodes })
    const apart = [node('Gemm', ['x', 'w'], ['m']), node('Add', ['b', 'm'], ['y'])]
    const joined = [node('Gemm', ['x', 'w', 'b'], ['y'])]
    const isWeight = [expect.stringMatching(/^its constant b differs in 1 of 4 elements, by up to 1 /)]
    const isBias = [expect.stringMatching(/^its constant bias differs in 1 of 2 elements, by up to 2 /)]
    expect((await run(of(apart, 4, 1), of(joined, 5, 1))).first?.why).toEqual(isWeight)
    expect((await run(of(joined, 4, 1), of(apart, 5, 1))).first?.why).toEqual(isWeight)
    expect((await run(of(apart, 4, 1), of(joined, 4, 3))).first?.why).toEqual(isBias)
  })

  test('are equal within what the caller allows', async () => {
    const near = parts({ initializers: [floats('w', [2, 2], [1, 2, 3, 4.001])] })
    expect((await run(parts(), near, { rtol: 0, atol: 1e-6 })).equal).toBe(false)
    expect((await run(parts(), near, { rtol: 0, atol: 0.1 })).equal).toBe(true)
    expect((await run(parts(), near, { sqnr: 40 })).equal).toBe(true)
  })

  test('of other names are paired by how values are computed', async () => {
    const renamed = (factor: number): ModelParts => ({
      inputs: [port('in', 'float', [2, 2])],
      initializers: [floats('weight', [2, 2], [1, 2, 3, factor])],
      outputs: [port('out', 'float', [2, 2])],
      nodes: [node('Relu', ['in'], ['q']), node('MatMul', ['q', 'weight'], ['p']), node('Softmax', ['p'], ['out'])]
    })
    expect(await run(parts(), renamed(4))).toMatchObject({ equal: true, pairs: { length: 3 } })
    expect((await run(parts(), renamed(5))).first).toMatchObject({ a: { value: 'm' }, b: { value: 'p' } })
  })

  test('may have values that are known before a run', async () => {
    const shaped = (value: number): ModelParts => ({
      inputs: [port('x', 'float', [2, 2])],
      initializers: [floats('one', [1], [value])],
      outputs: [port('y', 'float', [2, 2])],
      nodes: [node('Neg', ['one'], ['n']), node('Add', ['x', 'n'], ['y'])]
    })
    expect((await run(shaped(1), shaped(2))).first).toMatchObject({ a: { type: 'Neg', value: 'n' } })
  })

  test('whose inputs do not fit are refused', async () => {
    const none = parts({
      inputs: [],
      initializers: [floats('x', [2, 2], [1, 2, 3, 4]), floats('w', [2, 2], [1, 2, 3, 4])]
    })
    await expect(run(parts(), none)).rejects.toMatchObject({ code: 'unexpected-input' })
  })
})

test('an ONNX model and its IR are compared by the names that the IR has kept', async () => {
  const ir = net(
    [
      layer(0, 'Parameter', { name: 'x', data: 'shape="2,2" element_type="f32"', out: ['0:FP32[2,2]'] }),
      layer(1, 'ReLU', { name: 'relu', in: ['0'], out: ['1:FP32[2,2]'], names: 'r' }),
      layer(2, 'Result', { name: 'y', in: ['0'] })
    ],
    ['0:0>1:0', '1:1>2:0']
  )
  const onnx = await model({
    inputs: [port('x', 'float', [2, 2])],
    outputs: [port('r', 'float', [2, 2])],
    nodes: [node('Relu', ['x'], ['r'])]
  })
  const result = await compare(onnx, await load({ xml: new TextEncoder().encode(ir) }), { x })
  expect(result).toMatchObject({ equal: true, pairs: [{ a: { value: 'r' }, b: { layer: '1', type: 'ReLU' } }] })
})
