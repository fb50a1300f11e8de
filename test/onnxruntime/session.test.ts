import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import * as ort from '../../src/entries/onnxruntime.ts'
import { Tensor as OwnTensor } from '../../src/index.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-onnxruntime-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const model = (file: string): string => join(import.meta.dirname, '../../models', file)

/** A model that gives its input back. */
const same = (type: Parameters<typeof port>[1], dims: readonly (number | string)[] = ['n']): Uint8Array =>
  onnxBytes({
    opset: 21,
    inputs: [port('x', type, dims)],
    outputs: [port('y', type, dims)],
    nodes: [node('Identity', ['x'], ['y'])]
  })

describe('a session of the API of onnxruntime', () => {
  test('gives what a session of Nodewise gives, as tensors of onnxruntime-common', async () => {
    const session = await ort.InferenceSession.create(model('palette.onnx'))
    const { name, rgb } = await session.run({ ids: new ort.Tensor('int64', [1n, 5n], [2]) })
    expect(name).toBeInstanceOf(ort.Tensor)
    expect([name.type, name.dims, name.data]).toEqual(['string', [2], ['white', 'yellow']])
    expect([rgb.type, rgb.dims, [...(rgb.data as Uint8Array)]]).toEqual([
      'uint8',
      [2, 3],
      [255, 255, 255, 250, 210, 50]
    ])
    await session.release()
    await expect(session.run({ ids: new ort.Tensor('int64', [1n], [1]) })).rejects.toThrow(/disposed/)
  })

  test('reads a buffer, and a part of one', async () => {
    const bytes = readFileSync(model('palette.onnx'))
    const buffer = new ArrayBuffer(bytes.length + 16)
    new Uint8Array(buffer).set(bytes, 8)
    const session = await ort.InferenceSession.create(buffer, 8, bytes.length)
    expect(session.outputNames).toEqual(['name', 'rgb'])
  })

  test('describes inputs and outputs as onnxruntime does', async () => {
    const session = await ort.InferenceSession.create(model('iris.onnx'))
    expect(session.inputMetadata).toEqual([{ name: 'X', isTensor: true, type: 'float32', shape: ['n', 4] }])
    expect(session.outputMetadata).toEqual([
      { name: 'output_label', isTensor: true, type: 'string', shape: ['n'] },
      { name: 'output_probability', isTensor: false }
    ])
  })

  test('gives the outputs that are asked for, and refuses one that is no tensor', async () => {
    const session = await ort.InferenceSession.create(model('iris.onnx'))
    const X = new ort.Tensor('float32', [5.1, 3.5, 1.4, 0.2], [1, 4])
    const { output_label: label } = await session.run({ X }, ['output_label'])
    expect(label.data).toEqual(['setosa'])
    await expect(session.run({ X })).rejects.toMatchObject({ code: 'type-mismatch' })
  })

  test('writes into a tensor that is given for an output', async () => {
    const session = await ort.InferenceSession.create(same('float'))
    const y = new ort.Tensor('float32', new Float32Array(2), [2])
    const outputs = await session.run({ x: new ort.Tensor('float32', [1, 2], [2]) }, { y })
    expect(outputs.y).toBe(y)
    expect([...y.data]).toEqual([1, 2])
  })

  test('takes tensors of Nodewise', async () => {
    const session = await ort.InferenceSession.create(same('float'))
    const x = new OwnTensor('float32', [3], [1]) as unknown as ort.Tensor
    expect([...((await session.run({ x })).y.data as Float32Array)]).toEqual([3])
  })
})

test('tensors of another copy of onnxruntime-common are taken, what only looks like one is not', async () => {
  const session = await ort.InferenceSession.create(same('float'))
  const { Tensor } = createRequire(import.meta.url)('onnxruntime-common') as typeof ort
  expect(Tensor).not.toBe(ort.Tensor)
  const { y } = await session.run({ x: new Tensor('float32', [3], [1]) })
  expect(y).toBeInstanceOf(ort.Tensor)
  expect([...(y.data as Float32Array)]).toEqual([3])
  for (const x of [null, [3], { type: 'float32', dims: [1], data: [3] }])
    await expect(session.run({ x: x as never })).rejects.toMatchObject({ code: 'type-mismatch' })
})

describe('elements', () => {
  test.each([
    ['float', 'float32', new Float32Array([1.5, NaN])],
    ['double', 'float64', new Float64Array([1e300, -0])],
    ['float16', 'float16', new Uint16Array([0x3c00, 0xfc00])],
    ['int64', 'int64', new BigInt64Array([2n ** 62n, -1n])],
    ['uint64', 'uint64', new BigUint64Array([2n ** 64n - 1n])],
    ['int8', 'int8', new Int8Array([-128])],
    ['bool', 'bool', new Uint8Array([1, 0, 1])],
    ['string', 'string', ['', 'ü']],
    ['float', 'float32', new Float32Array(0)]
  ] as const)('of type %s come back', async (type, name, data) => {
    const session = await ort.InferenceSession.create(same(type as 'float'))
    const { y } = await session.run({ x: new ort.Tensor(name as 'float32', data as never, [data.length]) })
    expect(y.type).toBe(name)
    const bytes = (array: unknown): unknown =>
      ArrayBuffer.isView(array) ? new Uint8Array(array.buffer, array.byteOffset, array.byteLength) : array
    expect(bytes(y.data)).toEqual(bytes(data))
  })

  test('of 4 bits come back, two in a byte', async () => {
    const session = await ort.InferenceSession.create(same('int4' as never))
    const x = new ort.Tensor('int4', new Uint8Array([0x8f, 0x07]), [3])
    const { y } = await session.run({ x })
    expect([y.type, y.dims, y.data]).toEqual(['int4', [3], new Uint8Array([0x8f, 0x07])])
  })
})

describe('options', () => {
  const bytes = same('float', ['batch', 2])
  const create = (options: object): Promise<ort.InferenceSession> => ort.InferenceSession.create(bytes, options)

  test('of onnxruntime are taken', async () => {
    await create({
      executionProviders: ['cpu', { name: 'wasm' }],
      graphOptimizationLevel: 'all',
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      enableCpuMemArena: true,
      executionMode: 'sequential',
      logSeverityLevel: 3,
      preferredOutputLocation: { y: 'cpu' },
      extra: { session: {} }
    })
  })

  test.each([
    [{ graphOptimisationLevel: 'all' }, /no option "graphOptimisationLevel"; did you mean "graphOptimizationLevel"/],
    [{ graphOptimizationLevel: 'most' }, /one of disabled, basic/],
    [{ logSeverityLevel: 9 }, /one of 0, 1, 2, 3, 4/],
    [{ optimizedModelFilePath: 'a.onnx' }, /nodewise convert --simplify/],
    [{ enableGraphCapture: true }, /no graphs of a GPU/],
    [{ preferredOutputLocation: 'gpu-buffer' }, /no output lies in a gpu-buffer/]
  ])('that cannot be met are refused: %j', async (options, message) => {
    await expect(create(options)).rejects.toThrow(message)
  })

  test('an engine that is not there gives way to one that is', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    await create({ executionProviders: ['webgpu', 'wasm'] })
    expect(warned).toHaveBeenCalledOnce()
    warned.mockRestore()
    await expect(create({ executionProviders: ['webgpu'] })).rejects.toThrow(/no available backend/)
  })

  test('sizes for names of dims hold', async () => {
    const session = await create({ freeDimensionOverrides: { batch: 3, other: 1 } })
    expect(session.inputMetadata[0]).toMatchObject({ shape: [3, 2] })
    const x = new ort.Tensor('float32', [1, 2], [1, 2])
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'shape-mismatch' })
  })

  test.each([-1, 1.5, '3'])('the size %j for a dim is refused', async size => {
    await expect(create({ freeDimensionOverrides: { batch: size as number } })).rejects.toMatchObject({
      code: 'bad-usage',
      message: expect.stringContaining('"batch"')
    })
  })

  test('of a run are checked; a run that is to be terminated ends', async () => {
    const session = await create({})
    const x = new ort.Tensor('float32', [1, 2], [1, 2])
    await expect(session.run({ x }, { tagg: 'a' } as never)).rejects.toThrow(/did you mean "tag"/)
    await expect(session.run({ x }, { terminate: true })).rejects.toMatchObject({ code: 'aborted' })
  })

  test('a profile is written where the prefix says', async () => {
    const session = await create({ enableProfiling: true, profileFilePrefix: join(folder, 'profile_') })
    await session.run({ x: new ort.Tensor('float32', [1, 2], [1, 2]) })
    session.endProfiling()
    const [file] = readdirSync(folder).filter(name => /^profile_.*\.json$/.test(name))
    const { traceEvents } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { traceEvents: { cat?: string }[] }
    expect(traceEvents.some(({ cat }) => cat === 'Identity')).toBe(true)
  })
})

test('everything that onnxruntime-common exports is there', async () => {
  const common = await import('onnxruntime-common')
  expect(Object.keys(ort)).toEqual(expect.arrayContaining(Object.keys(common)))
  expect(ort.listSupportedBackends().map(({ name }) => name)).toEqual(['cpu', 'wasm', 'nodewise'])
})
