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
  defineOp,
  fix,
  htmlReport,
  InferenceSession,
  isTensor,
  load,
  meaningOf,
  modelFiles,
  params,
  parseJsonExact,
  parseModel,
  parseTensor,
  printModel,
  profiledStep,
  propagate,
  readNpy,
  readNpz,
  readTensorProto,
  shapes,
  sources,
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

const SCALED = `<ir_version: 10, opset_import: ["" : 17, "my.domain" : 1]>
scaled (float[n] x) => (float[n] y) { y = my.domain.Scale <factor: float = 3.0> (x) }`

const SCALE = defineOp({
  name: 'Scale',
  operands: { x: 'tensor' },
  params: params<{ factor: number }>(),
  onnx: [{ domain: 'my.domain', since: 1, bind: { factor: sources.float('factor', 2) } }],
  shape: ({ x }) => [shapes.tensorFact('float32', x.shape)],
  run({ x }, { factor }, call) {
    const scaled = x.toFloat32().map(value => value * factor)
    call.give(0, new Tensor('float32', scaled, x.dims))
  }
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

test('an operator that lacks something is refused, and says what', async () => {
  const model = parseModel(SCALED)
  const onnx = SCALE.onnx ?? []
  const wrong: readonly [object, string][] = [
    [{ name: undefined }, 'it has no name'],
    [{ operands: undefined }, 'it has no operands'],
    [
      { operands: { x: 'tensr' } },
      'its operand "x" is none of tensor, optional, variadic, any, any-optional, any-variadic'
    ],
    [{ onnx: undefined }, 'it has no versions, neither "onnx" nor "openvino"'],
    [{ onnx: onnx[0] }, 'its "onnx" and "openvino" are lists of versions'],
    [
      { onnx: [{ domain: 'my.domain', since: 1 }] },
      'each of its versions needs "since", a number, and "bind", an object'
    ],
    [
      { onnx: [{ domain: 'my.domain', since: 1, bind: { factor: 3 } }] },
      'its parameter "factor" is bound to none of the sources of `sources`'
    ],
    [{ shape: undefined }, 'it has no function "shape"'],
    [{ run: undefined }, 'it has no function "run"']
  ]
  for (const [change, why] of wrong) {
    const options = { ops: [{ ...SCALE, ...change } as never] }
    for (const call of [
      () => check(model, options),
      () => propagate(model, options),
      () => new InferenceSession(model, options),
      () => new core.InferenceSession(model, options)
    ])
      expect(call).toThrow(
        expect.objectContaining({ code: 'bad-usage', reason: expect.stringMatching(/ is none: /) as string }) as Error
      )
    expect(() => check(model, options)).toThrow(why)
  }
  expect(() => new core.InferenceSession(model, { ops: 5 as never })).toThrow(
    '`ops` is a list of what `defineOp` gives'
  )
  const { y } = await new InferenceSession(model, { ops: [SCALE] }).run({ x: new Tensor('float32', [1, 2]) })
  expect(y.data).toEqual(Float32Array.of(3, 6))
})

test('a shape rule and a kernel that return something else are told at their node', async () => {
  const model = parseModel(SCALED)
  const wrong: readonly [object, string, string][] = [
    [{ shape: () => undefined }, 'bad-usage', '"shape" of the operator "Scale" returns no list of facts'],
    [{ shape: () => shapes.tensorFact('float32', [2]) }, 'bad-usage', 'returns no list of facts, one for each output'],
    [{ shape: () => [shapes.tensorFact('float' as never, [2])] }, 'type-mismatch', 'unknown element type "float"'],
    [{ run: async () => undefined }, 'bad-usage', '"run" of the operator "Scale" returns a promise'],
    [{ run: ({ x }: { x: Tensor }) => x }, 'bad-usage', 'outputs are given to `call.give`']
  ]
  for (const [change, code, why] of wrong) {
    const session = new InferenceSession(model, { ops: [{ ...SCALE, ...change }] })
    await expect(session.run({ x: new Tensor('float32', [1, 2]) })).rejects.toEqual(
      expect.objectContaining({
        code,
        place: expect.objectContaining({ type: 'Scale' }) as object,
        reason: expect.stringContaining(why) as string
      })
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

test('dims, tensors and element types that are none are refused', async () => {
  const session = new InferenceSession(await load(RELU))
  for (const dims of [undefined, null, 5, -1, 'ab', {}])
    expect(() => session.allocate('float32', dims as never)).toThrow(
      expect.objectContaining({
        code: 'type-mismatch',
        reason: expect.stringContaining('a list of sizes') as string
      }) as Error
    )
  expect(() => session.allocate('float32', [-1])).toThrow(expect.objectContaining({ code: 'shape-mismatch' }) as Error)
  for (const tensor of [undefined, null, 5, {}, [], Float32Array.of(1)])
    expect(() => session.free(tensor as never)).toThrow(badUsage)
  for (const type of ['float', null, 5] as never[])
    for (const call of [() => parseTensor('[1]', type), () => tensorFromJson([1], { type })])
      expect(call).toThrow(expect.objectContaining({ code: 'type-mismatch' }) as Error)
})

test('the dims of an input are sizes, names, intervals or null', async () => {
  const model = await load(RELU)
  for (const dim of [undefined, -1, 1.5, NaN, 1e20, 5n, true, [], {}, { min: 3, max: 2 }, { min: -1, max: 2 }])
    for (const call of [
      () => check(model, { inputShapes: { x: [dim as never] } }),
      () => convert(model, { inferShapes: true, inputShapes: new Map([['x', [dim as never]]]) })
    ])
      expect(call).toThrow(badUsage)
  for (const dim of [0, 4, 'batch', { min: 1, max: Infinity }, { min: 2, max: 2 }, null])
    expect(check(model, { inputShapes: { x: [dim] } }).summary.errors).toBe(0)
})

test('a tolerance that is no number, and inputs that are none, are refused by compare', async () => {
  const model = await load(RELU)
  const feeds = { x: new Tensor('float32', [1]) }
  for (const name of ['rtol', 'atol', 'sqnr'])
    for (const given of [NaN, '5', null, {}])
      await expect(compare(model, model, feeds, { [name]: given })).rejects.toEqual(badUsage)
  await expect(compare(model, model, feeds, { rtol: -1 })).rejects.toEqual(badUsage)
  for (const given of [undefined, null, 5])
    await expect(compare(model, model, given as never)).rejects.toEqual(badUsage)
})

test('a controller in place of its signal is refused, since nothing would ever end', async () => {
  const model = await load(RELU)
  const session = new InferenceSession(model)
  const feeds = { x: new Tensor('float32', [1]) }
  for (const given of [new AbortController(), true, 'signal', 5, {}]) {
    const signal = given as never
    await expect(session.run(feeds, ['y'], { signal })).rejects.toEqual(badUsage)
    await expect(session.walk(feeds, { signal }).next()).rejects.toEqual(badUsage)
    await expect(compare(model, model, feeds, { signal })).rejects.toEqual(badUsage)
    await expect(load(RELU, { signal })).rejects.toEqual(badUsage)
    await expect(InferenceSession.create(RELU, { signal })).rejects.toEqual(badUsage)
  }
  await expect(session.run(feeds, { signal: new AbortController() as never })).rejects.toThrow(
    'give the `signal` of the AbortController'
  )
  for (const signal of [new AbortController().signal, null, { aborted: false }])
    expect(await session.run(feeds, ['y'], { signal: signal as never })).toHaveProperty('y')
})

test('names, operator sets and options of files that cannot be are refused', async () => {
  const model = await load(RELU)
  const calls: readonly (() => unknown)[] = [
    ...['x', null, 5, [null], [5], {}].flatMap(names => [
      () => convert(model, { from: names as never }),
      () => convert(model, { to: names as never })
    ]),
    ...[NaN, 0, -1, 1.5, '17', 17n, null].map(opset => () => convert(model, { opset: opset as never })),
    ...[NaN, -1, '1', null].map(bytes => () => modelFiles(model, 'x.onnx', { externalBytes: bytes as never })),
    () => modelFiles(model, 'x.onnx', { externalData: 0 } as never),
    () => modelFiles(model, 'x.onnx', null as never),
    ...[NaN, -1, '1', null].map(count => () => printModel(model, { maxElements: count as never })),
    () => printModel(model, { maxElement: 1 } as never),
    () => printModel(model, null as never),
    () => new InferenceSession(model, { precision: 5n as never })
  ]
  for (const call of calls) expect(call).toThrow(badUsage)
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
