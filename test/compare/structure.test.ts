import { describe, expect, test } from 'vitest'
import { constantsApart } from '../../src/compare/explain.ts'
import type { Constant } from '../../src/graph/graph.ts'
import { compareStructure, load, type StructureComparison, Tensor } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const parts = (changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', [2, 'n'])],
  initializers: [floats('w', [2, 2], [1, 2, 3, 4])],
  outputs: [port('y', 'float', [2, 'n'])],
  nodes: [node('Relu', ['x'], ['r']), node('MatMul', ['r', 'w'], ['m']), node('Softmax', ['m'], ['y'], { axis: 1 })],
  ...changes
})
const diff = async (a: ModelParts, b: ModelParts): Promise<StructureComparison> =>
  compareStructure(await load(onnxBytes(a)), await load(onnxBytes(b)))

describe('the structures of two models', () => {
  test('are equal where the files say the same, also by a default', async () => {
    expect(await diff(parts(), parts())).toEqual({ equal: true, differences: [], nodes: { a: 3, b: 3, pairs: 3 } })
    const byDefault = parts({
      nodes: [
        node('Relu', ['x'], ['r']),
        node('MatMul', ['r', 'w'], ['m']),
        node('Softmax', ['m'], ['y'], { axis: -1 })
      ]
    })
    const left = parts({
      nodes: [node('Relu', ['x'], ['r']), node('MatMul', ['r', 'w'], ['m']), node('Softmax', ['m'], ['y'])]
    })
    expect((await diff(byDefault, left)).equal).toBe(true)
  })

  test('differ in an attribute that one of them leaves out, but for one that repeats what is taken then', async () => {
    const convolution = (attributes: Parameters<typeof node>[3]): ModelParts => ({
      inputs: [port('x', 'float', [1, 1, 4, 4])],
      initializers: [floats('w', [1, 1, 3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9])],
      outputs: [port('y', 'float', ['n', 1, 'h', 'w'])],
      nodes: [node('Conv', ['x', 'w'], ['y'], attributes)]
    })
    const padded = convolution({ pads: [1, 1, 1, 1] })
    const changes = [{ what: 'attribute pads', b: '["1","1","1","1"]' }]
    expect((await diff(convolution({}), padded)).differences).toMatchObject([{ changes }])
    expect((await diff(padded, convolution({}))).differences).toMatchObject([{ changes: [{ a: changes[0].b }] }])
    const usual = convolution({
      pads: [0, 0, 0, 0],
      strides: [1, 1],
      dilations: [1, 1],
      kernel_shape: [3, 3],
      group: 1
    })
    expect(await diff(convolution({}), usual)).toMatchObject({ equal: true })
    expect(await diff(usual, convolution({}))).toMatchObject({ equal: true })
    const transposed = (perm?: readonly number[]): ModelParts =>
      parts({ nodes: [node('Transpose', ['x'], ['y'], perm && { perm: [...perm] })], initializers: [] })
    expect((await diff(transposed(), transposed([0, 1]))).equal).toBe(false)
    expect((await diff(transposed(), transposed([1, 0]))).equal).toBe(true)
  })

  test('differ in constants that are texts', async () => {
    const suffixed = (...texts: readonly string[]): ModelParts => ({
      opset: 20,
      inputs: [port('x', 'string', [2])],
      initializers: [
        { name: 'k', dims: [texts.length], dataType: 8, stringData: texts.map(text => new TextEncoder().encode(text)) }
      ],
      outputs: [port('y', 'string', [2])],
      nodes: [node('StringConcat', ['x', 'k'], ['y'])]
    })
    expect((await diff(suffixed('a', 'b'), suffixed('a', 'b'))).equal).toBe(true)
    expect((await diff(suffixed('a', 'b'), suffixed('a', 'c'))).differences).toMatchObject([
      { changes: [{ b: 'differs in 1 of 2 elements, the first of them "b" and "c"' }] }
    ])
  })

  test('differ in attributes, weights and operators of nodes of one name', async () => {
    const other = parts({
      initializers: [floats('w', [2, 2], [1, 2, 3, 5])],
      nodes: [node('Abs', ['x'], ['r']), node('MatMul', ['r', 'w'], ['m']), node('Softmax', ['m'], ['y'], { axis: 0 })]
    })
    const { differences } = await diff(parts(), other)
    expect(differences.map(({ a, changes }) => [a?.nodeIndex, changes])).toEqual([
      [0, [{ what: 'operator', a: 'Relu', b: 'Abs' }]],
      [1, [{ what: 'constant b', b: expect.stringMatching(/^differs in 1 of 4 elements/) as string }]],
      [2, [{ what: 'attribute axis', a: '"1"', b: '"0"' }]]
    ])
  })

  test('differ in attributes that part behind their first hundred characters, which are left out', async () => {
    const padded = (last: number): ModelParts =>
      parts({
        opset: 10,
        inputs: [port('x', 'float', new Array<number>(50).fill(1))],
        outputs: [port('y', 'float')],
        nodes: [node('Pad', ['x'], ['y'], { pads: [...new Array<number>(99).fill(0), last] })]
      })
    const { equal, differences } = await diff(padded(1), padded(2))
    expect(equal).toBe(false)
    expect(differences.flatMap(({ changes }) => changes)).toMatchObject([
      {
        what: 'attribute pads',
        a: expect.stringMatching(/^….{1,80}"1"\]$/) as string,
        b: expect.stringMatching(/"2"\]$/) as string
      }
    ])
  })

  test.each([
    ['labels', 'LabelEncoder', 'keys_strings', '["a"], values_int64s = [1]', '["a"], values_int64s = [2]'],
    ['categories', 'CategoryMapper', 'cats_strings', '["a"], cats_int64s = [1]', '["a"], cats_int64s = [2]'],
    ['coefficients', 'LinearRegressor', 'coefficients', `[${'0.5, '.repeat(40)}1.0]`, `[${'0.5, '.repeat(40)}2.0]`]
  ])('differ in %s of classical models', async (_, type, name, one, other) => {
    const [from, to] = type === 'LinearRegressor' ? ['float', 'float'] : ['string', 'int64']
    const loaded = (list: string) =>
      load(
        new TextEncoder().encode(
          '<ir_version: 9, opset_import: ["" : 17, "ai.onnx.ml" : 2]> ' +
            `g (${from}[n, 41] x) => (${to}[n, m] y) { y = ai.onnx.ml.${type}<${name} = ${list}>(x) }`
        ),
        { name: 'm.onnxtxt' }
      )
    expect(compareStructure(await loaded(one), await loaded(one)).equal).toBe(true)
    expect(compareStructure(await loaded(one), await loaded(other)).equal).toBe(false)
  })

  test('differ in bounds that JSON has no number for', async () => {
    const clipped = (max: number): ModelParts =>
      parts({
        opset: 10,
        outputs: [port('y', 'float')],
        nodes: [node('Clip', ['x'], ['y'], { min: { float: -Infinity }, max: { float: max } })]
      })
    expect((await diff(clipped(Infinity), clipped(-Infinity))).differences).toMatchObject([
      { changes: [{ what: 'attribute max', a: '"Infinity"', b: '"-Infinity"' }] }
    ])
  })

  test('differ in nodes that one of them lacks, and in what comes from elsewhere then', async () => {
    const longer = parts({
      nodes: [
        node('Relu', ['x'], ['r']),
        node('Neg', ['r'], ['new']),
        node('MatMul', ['new', 'w'], ['m']),
        node('Softmax', ['m'], ['y'], { axis: 1 })
      ]
    })
    const { differences, nodes } = await diff(parts(), longer)
    expect(nodes).toEqual({ a: 3, b: 4, pairs: 3 })
    expect(differences).toMatchObject([
      { b: { node: 'Neg_new', inputs: ['r'], outputs: ['new'] }, changes: [] },
      { a: { node: 'MatMul_m' }, b: { nodeIndex: 2 }, changes: [{ what: 'input 0', a: 'r', b: 'new' }] }
    ])
    expect((await diff(longer, parts())).differences[0]).toMatchObject({ a: { node: 'Neg_new' }, changes: [] })
  })

  test('differ in inputs, outputs, opsets and declared values', async () => {
    const other = parts({ opset: 18, inputs: [port('x', 'float', [2, 3])], values: [port('m', 'float', [2, 3])] })
    const { differences } = await diff(parts({ values: [port('m', 'float', [2, 4])] }), other)
    expect(differences).toMatchObject([
      {
        changes: [
          { what: 'opset ai.onnx', a: '17', b: '18' },
          { what: 'input 0', a: 'x float32 [2, n]', b: 'x float32 [2, 3]' }
        ]
      },
      { a: { node: 'MatMul_m' }, changes: [{ what: 'declared m', a: 'float32 [2, 4]', b: 'float32 [2, 3]' }] }
    ])
  })

  test('differ in constants that are too large to measure', () => {
    const large = (value: number): Constant => {
      const { type, dims, read } = {
        type: 'float32' as const,
        dims: [2],
        read: () => new Tensor('float32', [1, value])
      }
      return { type, dims, byteLength: 2 ** 30, place: {}, read }
    }
    expect(constantsApart([large(2)], [large(2)])).toEqual([])
    expect(constantsApart([large(2)], [large(3)])).toEqual([
      { name: 'input 0', how: 'differs, and is too large to measure' }
    ])
  })

  test('differ in constants of operators that are not known', async () => {
    const unknown = (weight: number): ModelParts =>
      parts({ initializers: [floats('w', [1], [weight])], nodes: [node('Mystery', ['x', 'w'], ['y'])] })
    expect((await diff(unknown(1), unknown(1))).equal).toBe(true)
    expect((await diff(unknown(1), unknown(2))).differences).toMatchObject([
      { changes: [{ what: 'constant input 1', b: expect.stringMatching(/^differs in 1 of 1/) as string }] }
    ])
  })

  test('are compared where operators are not known, and within bodies', async () => {
    const looping = (step: number, mode: number): ModelParts => ({
      inputs: [port('x', 'float', [2])],
      initializers: [int64s('n', [], [2])],
      outputs: [port('y', 'float', [2])],
      nodes: [
        node('Loop', ['n', '', 'x'], ['l'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('s', 'float', [2])],
              outputs: [port('c2', 'bool', []), port('t', 'float', [2])],
              initializers: [floats('step', [1], [step])],
              nodes: [node('Identity', ['c'], ['c2']), node('Add', ['s', 'step'], ['t'])]
            }
          }
        }),
        node('Mystery', ['l'], ['y'], { mode })
      ]
    })
    expect((await diff(looping(1, 1), looping(1, 1))).equal).toBe(true)
    const { differences } = await diff(looping(1, 1), looping(2, 5))
    expect(differences).toMatchObject([
      { a: { graphPath: '0:body', type: 'Add' }, changes: [{ what: 'constant b' }] },
      { a: { type: 'Mystery' }, changes: [{ what: 'attribute mode', a: '"1"', b: '"5"' }] }
    ])
  })
})
