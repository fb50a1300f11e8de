import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { isCall } from '../../src/bind/call.ts'
import { createRegistry } from '../../src/bind/registry.ts'
import { onnxSchema, openvinoSchema } from '../../src/bind/schema.ts'
import { gather } from '../../src/ops/gather/gather.ts'
import { node, onnxModel, port } from '../fixtures/onnx.ts'
import { callOf, errorOf } from '../ops/harness.ts'

describe('the version in force', () => {
  test('for ONNX is the highest that the opset import allows', () => {
    expect(onnxSchema('ai.onnx', 'Gather', 10)?.version).toBe(1)
    expect(onnxSchema('ai.onnx', 'Gather', 12)?.version).toBe(11)
    expect(onnxSchema('ai.onnx', 'Gather', 21)?.version).toBe(13)
    expect(onnxSchema('ai.onnx', 'GatherND', 10)).toBeUndefined()
  })

  test('says of names that no table has the same each time, however many there are and however long', () => {
    const names = [...Array.from({ length: 300 }, (_, i) => `Own${i}`), 'o'.repeat(300), '']
    for (const name of [...names, ...names]) expect(onnxSchema('own', name, 1)).toBeUndefined()
    expect(onnxSchema('ai.onnx', 'Gather', 12)?.version).toBe(11)
  })

  test("for IR is what the layer's opset holds, whatever the case of the type", () => {
    expect(openvinoSchema('Gather', 'opset6')?.schema.version).toBe(1)
    expect(openvinoSchema('Gather', 'opset7')?.schema.version).toBe(7)
    expect(openvinoSchema('gather', 'opset12')?.schema.version).toBe(8)
    expect(openvinoSchema('GatherND', 'opset4')).toBeUndefined()
    expect(openvinoSchema('Gather', 'OPSET8')).toBeUndefined()
  })

  test('picks the operator version of the last change of meaning', () => {
    const registry = createRegistry([gather])
    expect(registry.find('onnx', 'ai.onnx', 'Gather', 13)?.opVersion.since).toBe(1)
    expect(registry.find('openvino', 'openvino', 'Gather', 8)?.opVersion.since).toBe(8)
    expect(registry.find('openvino', 'openvino', 'Gather', 0)).toBeUndefined()
  })
})

describe('a node is refused', () => {
  const ids = [1, 1]
  test('with an attribute that its version does not have', () => {
    expect(errorOf(() => callOf(['onnx', 'Gather', 13], ids, { attributes: { batch_dims: 1 } })).code).toBe(
      'unknown-attribute-value'
    )
  })

  test('with too few or too many inputs', () => {
    expect(errorOf(() => callOf(['onnx', 'Gather', 13], [1], {})).code).toBe('wrong-input-count')
    expect(errorOf(() => callOf(['onnx', 'Gather', 13], [1, 1, 1], {})).code).toBe('wrong-input-count')
    expect(errorOf(() => callOf(['openvino', 'Gather', 8], [1, 1], {})).code).toBe('wrong-input-count')
    expect(errorOf(() => callOf(['onnx', 'Gather', 13], [undefined, 1], {})).code).toBe('wrong-input-count')
  })

  test('with an attribute whose number does not parse', () => {
    for (const text of ['1.5', '0x1', '', '99999999999999999999']) {
      expect(
        errorOf(() => callOf(['openvino', 'Gather', 8], [1, 1, 1], { attributes: { batch_dims: text } })).code
      ).toBe('unknown-attribute-value')
    }
    expect(callOf(['openvino', 'Gather', 8], [1, 1, 1], { attributes: { batch_dims: ' 1 ' } }).known.batchDims).toBe(1)
  })

  test('where its opset is newer than what is known', () => {
    expect(errorOf(() => callOf(['onnx', 'Gather', 99], ids, {})).code).toBe('unsupported-op')
  })
})

test('nodes that have no operator stay in the graph, each with its error', async () => {
  const model = await onnxModel({
    inputs: [port('x', 'float', [1])],
    outputs: [port('z', 'float')],
    nodes: [node('NoSuchOp', ['x'], ['y']), node('Identity', ['y'], ['z'])]
  })
  const { items } = bind(model, createRegistry([]))
  expect(items.map(item => (isCall(item) ? 'call' : item.error.code))).toEqual(['unsupported-op', 'unsupported-op'])
})

test('a Constant has no attributes but those that hold its value', async () => {
  const parts = {
    outputs: [port('c', 'int64', [1])],
    nodes: [node('Constant', [], ['c'], { value_ints: [1], axis: 0 })]
  }
  const [item] = bind(await onnxModel(parts), createRegistry([])).items
  expect(isCall(item) ? undefined : item.error).toMatchObject({
    code: 'unknown-attribute-value',
    reason: 'Constant has no attribute "axis"'
  })
})
