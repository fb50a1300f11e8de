import { describe, expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { inDialect } from '../../src/convert/dialect.ts'
import { check, InferenceSession, load, type Model, Tensor } from '../../src/index.ts'
import { ALL_CONVERSIONS } from '../../src/ops/conversions.ts'
import { type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const convert = (model: Model, to: 'onnx' | 'openvino'): Model => inDialect(model, to, registryWith(), ALL_CONVERSIONS)
const onnx = (parts: ModelParts): Promise<Model> => load(onnxBytes(parts))

describe('a model in the other dialect', () => {
  const model = onnx({
    inputs: [port('x', 'float', ['n', 2]), port('i', 'int64', [3])],
    outputs: [port('y', 'float', [3, 2])],
    initializers: [],
    nodes: [node('Gather', ['x', 'i'], ['rows'], { axis: 0 }), node('Add', ['rows', 'rows'], ['y'])]
  })

  test('has the operators of that dialect, the attribute of one an input of the other', async () => {
    const { graph } = convert(await model, 'openvino')
    expect(graph.nodes.map(({ type, version }) => `${type} ${version}`)).toEqual([
      'Parameter opset1',
      'Parameter opset1',
      'Const opset1',
      'Gather opset8',
      'Add opset1',
      'Result opset1'
    ])
  })

  test('keeps the names of values, and dims that are not known', async () => {
    const { graph } = convert(await model, 'openvino')
    expect([...graph.values.values()].map(({ name, declared }) => [name, declared])).toContainEqual([
      'x',
      { kind: 'tensor', type: 'float32', dims: [null, 2] }
    ])
    expect(graph.inputs.map(({ name }) => name)).toEqual(['x', 'i'])
    expect(graph.outputs.map(({ name }) => name)).toEqual(['y'])
  })

  test('gives the same values, there and back', async () => {
    const there = convert(await model, 'openvino')
    const feeds = { x: new Tensor('float32', [1, 2, 3, 4], [2, 2]), i: new Tensor('int64', [1n, 0n, -1n], [3]) }
    for (const one of [there, convert(there, 'onnx')]) {
      expect(check(one).findings.filter(({ severity }) => severity === 'error')).toEqual([])
      const { y } = await new InferenceSession(one).run(feeds)
      expect([...y.data]).toEqual([6, 8, 2, 4, 6, 8])
    }
  })

  test('that cannot be said is refused with every such node', async () => {
    const two = await onnx({
      inputs: [port('x', 'string', [2])],
      outputs: [port('y', 'string')],
      nodes: [node('StringNormalizer', ['x'], ['a']), node('StringNormalizer', ['a'], ['y'])]
    })
    expect(() => convert(two, 'openvino')).toThrow(
      expect.objectContaining({
        code: 'unsupported-op',
        details: {
          nodes: [
            expect.objectContaining({ type: 'StringNormalizer', nodeIndex: 0 }),
            expect.objectContaining({ nodeIndex: 1, reason: expect.any(String) })
          ]
        }
      })
    )
  })

  test('has no nodes that no output needs, so that these are not refused', async () => {
    const dead = await onnx({
      inputs: [port('x', 'string', [2]), port('z', 'float', [2])],
      outputs: [port('y', 'float', [2])],
      nodes: [node('StringNormalizer', ['x'], ['a']), node('Abs', ['z'], ['y'])]
    })
    expect(convert(dead, 'openvino').graph.nodes.map(({ type }) => type)).toEqual([
      'Parameter',
      'Parameter',
      'Abs',
      'Result'
    ])
  })
})
