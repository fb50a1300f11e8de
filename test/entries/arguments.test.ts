import { expect, test } from 'vitest'
import {
  castTensor,
  check,
  compare,
  compareStructure,
  convert,
  fix,
  InferenceSession,
  load,
  meaningOf,
  modelFiles,
  printModel,
  propagate,
  Tensor
} from '../../src/index.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'

const RELU = onnxBytes({
  inputs: [port('x', 'float', ['n'])],
  outputs: [port('y', 'float', ['n'])],
  nodes: [node('Relu', ['x'], ['y'])]
})

const refusal = (what: string): object =>
  expect.objectContaining({ code: 'bad-usage', reason: `a model is what \`load\` gives, not ${what}` }) as object

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['model.onnx', 'string'],
  [5, 'number'],
  [new Uint8Array(3), 'another object'],
  [Promise.resolve(), 'a promise, which has to be awaited']
])('%s is no model, and refused by whatever takes one', async (given, what) => {
  const model = given as never
  const calls: readonly (() => unknown)[] = [
    () => check(model),
    () => propagate(model),
    () => fix(model),
    () => convert(model),
    () => convert(model, { dialect: 'openvino' }),
    () => compareStructure(model, model),
    () => printModel(model),
    () => modelFiles(model, 'x.onnx'),
    () => new InferenceSession(model)
  ]
  for (const call of calls) expect(call).toThrow(refusal(what))
  if (what !== 'another object') await expect(compare(model, model, {})).rejects.toEqual(refusal(what))
})

test('operators that are no list of operators are refused', async () => {
  const model = await load(RELU)
  for (const ops of [null, 5, {}, [null], [5]]) {
    const options = { ops: ops as never }
    for (const call of [() => check(model, options), () => new InferenceSession(model, options)])
      expect(call).toThrow(
        expect.objectContaining({ code: 'bad-usage', reason: '`ops` is a list of what `defineOp` gives' }) as Error
      )
  }
})

test('a type of elements, a suffix and a code of a finding that do not exist are refused', async () => {
  const model = await load(RELU)
  const type = 'float31' as never
  const unknown = expect.objectContaining({ code: 'type-mismatch', reason: 'unknown element type "float31"' }) as Error
  expect(() => castTensor(new Tensor('float32', [1]), type)).toThrow(unknown)
  expect(() => new InferenceSession(model).allocate(type, [1])).toThrow(unknown)
  for (const path of [undefined, 'x.pb'])
    expect(() => modelFiles(model, path as never)).toThrow(expect.objectContaining({ code: 'bad-usage' }) as Error)
  expect(() => meaningOf('nothing' as never)).toThrow(expect.objectContaining({ code: 'bad-usage' }) as Error)
})
