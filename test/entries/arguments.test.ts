import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import * as core from '../../src/entries/core.ts'
import {
  castTensor,
  check,
  chromeTrace,
  compare,
  compareStructure,
  convert,
  dataToJson,
  fix,
  htmlReport,
  InferenceSession,
  isTensor,
  load,
  meaningOf,
  modelFiles,
  parseJsonExact,
  parseModel,
  parseTensor,
  printModel,
  profiledStep,
  propagate,
  readNpy,
  readNpz,
  readTensorProto,
  Tensor,
  tensorFromJson,
  writeNpy,
  writeNpz
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

const badUsage = expect.objectContaining({ name: 'NodewiseError', code: 'bad-usage' }) as Error

test.each([null, 5, 'strict'])('options that are %s are refused by whatever takes some', async given => {
  const model = await load(RELU)
  const options = given as never
  const calls: readonly (() => unknown)[] = [
    () => check(model, options),
    () => core.check(model, options),
    () => propagate(model, options),
    () => core.propagate(model, options),
    () => fix(model, options),
    () => convert(model, options),
    () => compareStructure(model, model, options),
    () => htmlReport(model, options),
    () => new InferenceSession(model, options),
    () => new core.InferenceSession(model, options),
    () => readNpz(writeNpz(new Map()), options),
    () => writeNpz(new Map(), options),
    () => tensorFromJson([1], options),
    () => castTensor(new Tensor('float32', [1]), 'int32', options)
  ]
  for (const call of calls) expect(call).toThrow(badUsage)
  await expect(compare(model, model, {}, options)).rejects.toEqual(badUsage)
})

test('options that do not exist, and options of another kind, are refused', async () => {
  const model = await load(RELU)
  const calls: readonly (() => unknown)[] = [
    () => convert(model, { simplfy: true } as never),
    () => convert(model, { dialect: 'tensorflow' as never }),
    () => compareStructure(model, model, { values: { a: 'b' } as never }),
    () => check(model, { inputShapes: null as never }),
    () => check(model, { inputShapes: { x: 5 as never } }),
    () => htmlReport(model, {} as never)
  ]
  for (const call of calls) expect(call).toThrow(badUsage)
  await expect(compare(model, model, {}, { values: { a: 'b' } as never })).rejects.toEqual(badUsage)
  await expect(compare(model, model, {}, { inputs: [] as never })).rejects.toEqual(badUsage)
})

test.each([null, undefined, 5, 'text', {}, [], new ArrayBuffer(8)])('readers and writers refuse %o', given => {
  const what = given as never
  const bytes: readonly ((what: never) => unknown)[] = [readNpy, readNpz, readTensorProto]
  const tensors: readonly ((what: never) => unknown)[] = [
    writeNpy,
    writeNpz,
    dataToJson,
    tensor => castTensor(tensor, 'int32'),
    tensor => writeNpz(new Map([['x', tensor]]))
  ]
  const texts: readonly ((what: never) => unknown)[] = [parseJsonExact, parseTensor, parseModel]
  for (const call of [...bytes, ...tensors, ...(given === 'text' ? [] : texts)])
    expect(() => call(what)).toThrow(badUsage)
})

test('readers take bytes of another realm, and writers whatever has the form of a tensor', () => {
  const written = writeNpy({ type: 'float32', dims: [2], data: Float32Array.of(1, 2) } as never)
  const foreign = runInNewContext('Uint8Array.from(list)', { list: [...written] }) as Uint8Array
  expect([...readNpy(foreign).data]).toEqual([1, 2])
  expect(() => readNpy(written, 'float31' as never)).toThrow(
    expect.objectContaining({ code: 'type-mismatch', reason: 'unknown element type "float31"' }) as Error
  )
})

test.each([null, undefined, 5, 'text', {}, [5], [[null]], [[{}]]])(
  '%o is no step, no runs of steps and no tensor',
  given => {
    const what = given as never
    for (const call of [() => profiledStep(what), () => chromeTrace(what, 'title')]) expect(call).toThrow(badUsage)
    expect(isTensor(what)).toBe(false)
  }
)

test('what has the form of a tensor is one, and no other value is', () => {
  const tensor = new Tensor('float32', [1, 2])
  expect(isTensor(tensor)).toBe(true)
  expect(isTensor({ type: 'float32', dims: [2], data: Float32Array.of(1, 2) })).toBe(true)
  expect(isTensor({ type: 'sequence', element: { kind: 'tensor' }, values: [tensor] })).toBe(false)
})
