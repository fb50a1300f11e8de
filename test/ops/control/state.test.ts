import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../../src/index.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { layer, load, net } from '../../openvino/ir.ts'
import { float, inferIr, plain, rejection, runIr } from '../model.ts'

const RANGE = 'variable_id="v" variable_type="f32" variable_shape="?"'

/** `was` is the variable's value, `x` is assigned; the initial value is the input `start`. */
const remembering = (data = RANGE, { opset = 6, initial = true, type = 'f32', shape = '?' } = {}): string =>
  net(
    [
      layer(0, 'Parameter', { name: 'x', data: `shape="${shape}" element_type="${type}"`, out: ['0:FP32'] }),
      layer(1, 'Parameter', { name: 'start', data: `shape="${shape}" element_type="${type}"`, out: ['0:FP32'] }),
      layer(2, 'ReadValue', { version: `opset${opset}`, data, ...(initial && { in: ['0'] }), out: ['1:FP32'] }),
      layer(3, 'Assign', { version: `opset${opset}`, data: 'variable_id="v"', in: ['0'], out: ['1:FP32'] }),
      layer(4, 'Result', { name: 'was', in: ['0'] })
    ],
    ['0:0>3:0', ...(initial ? ['1:0>2:0'] : []), '2:1>4:0']
  )

const seen = async (xml: string, ...inputs: [Tensor, Tensor?][]): Promise<unknown> =>
  (
    await runIr(
      xml,
      inputs.map(([x, start]) => ({ x, ...(start && { start }) }) as never)
    )
  ).map(({ was }) => was)

describe('ReadValue and Assign', () => {
  test('a run reads what the run before assigned, the first one the initial value', async () => {
    const runs: [Tensor, Tensor][] = [
      [float(1), float(7)],
      [float(2, 3), float(8)],
      [float(4), float(9)]
    ]
    expect(await seen(remembering(), ...runs)).toEqual([
      [[1], 7],
      [[1], 1],
      [[2], 2, 3]
    ])
    expect(await seen(remembering('variable_id="v"', { opset: 3 }), ...runs.filter((_, i) => i !== 1))).toEqual([
      [[1], 7],
      [[1], 1]
    ])
  })

  test('without an initial value it begins with zeros, and unknown dims with none', async () => {
    expect(await seen(remembering(RANGE, { initial: false }), [float(1)], [float(2)])).toEqual([[[0]], [[1], 1]])
    expect(await seen(remembering(RANGE.replace('?', '2'), { initial: false }), [float(1, 2)])).toEqual([[[2], 0, 0]])
    expect(await seen(remembering(RANGE.replace('?', '1..5'), { initial: false }), [float(1)])).toEqual([[[1], 0]])
  })

  test('a session that is reset begins anew, and another session never sees the state', async () => {
    const session = new InferenceSession(load(remembering(RANGE, { initial: false })))
    const was = async (of: InferenceSession): Promise<unknown> => plain((await of.run({ x: float(5) })).was)
    expect([await was(session), await was(session)]).toEqual([[[0]], [[1], 5]])
    session.resetState()
    expect(await was(session)).toEqual([[0]])
    expect(await was(new InferenceSession(load(remembering(RANGE, { initial: false }))))).toEqual([[0]])
  })

  test('runs of one session queue', async () => {
    const session = new InferenceSession(load(remembering(RANGE, { initial: false })))
    const runs = await Promise.all([1, 2, 3].map(async x => plain((await session.run({ x: float(x) })).was)))
    expect(runs).toEqual([[[0]], [[1], 1], [[1], 2]])
  })

  test("neither the caller's input nor an output shares memory with the state", async () => {
    const session = new InferenceSession(load(remembering(RANGE, { initial: false })))
    const x = float(5)
    await session.run({ x })
    x.data[0] = 6
    const { was } = await session.run<{ was: Tensor<'float32'> }>({ x: float(5) })
    expect(plain(was)).toEqual([[1], 5])
    was.data[0] = 7
    expect(plain((await session.run({ x })).was)).toEqual([[1], 5])
  })

  test('a run that fails or is aborted assigns nothing', async () => {
    const session = new InferenceSession(load(remembering(RANGE, { initial: false })))
    await session.run({ x: float(5) })
    expect((await rejection(session.run({ x: float(6) }, undefined, { signal: AbortSignal.abort() }))).code).toBe(
      'aborted'
    )
    expect((await rejection(session.run({ x: float(6), y: float(1) }))).code).toBe('unexpected-input')
    expect(plain((await session.run({ x: float(7) })).was)).toEqual([[1], 5])
  })

  test('a value that the variable cannot hold is refused by the run that reads it', async () => {
    const rows = new Tensor('float32', [1, 2], [2, 1])
    const xml = remembering(RANGE, { initial: false, shape: '...' })
    expect((await rejection(seen(xml, [rows], [rows]))).code).toBe('shape-mismatch')
  })

  test('an initial value that the variable cannot hold is refused', async () => {
    expect((await rejection(seen(remembering(RANGE.replace('?', '3')), [float(1, 2, 3), float(1)]))).code).toBe(
      'shape-mismatch'
    )
    expect((await rejection(seen(remembering(RANGE.replace('f32', 'i32')), [float(1), float(1)]))).code).toBe(
      'type-mismatch'
    )
  })

  test('without an initial value a type and a shape are needed', async () => {
    expect((await rejection(seen(remembering('variable_id="v"', { initial: false }), [float(1)]))).code).toBe(
      'missing-attribute'
    )
    expect((await rejection(seen(remembering('variable_id="v"', { initial: false, opset: 3 }), [float(1)]))).code).toBe(
      'wrong-input-count'
    )
  })

  test("the shape rule gives the variable's shape", () => {
    expect(inferIr(remembering(RANGE.replace('?', '4'), { initial: false }))).toEqual({ was: '[4]' })
    expect(inferIr(remembering(RANGE.replace('"?"', '"[?,2..3]"'), { initial: false }))).toEqual({ was: '[?, 2..3]' })
    expect(inferIr(remembering('variable_id="v"'))).toEqual({ was: '[...]' })
  })
})

test('a walk takes its turn among the runs', async () => {
  const session = new InferenceSession(load(remembering(RANGE, { initial: false })))
  const walked = async (): Promise<unknown> => {
    const walk = session.walk({ x: float(2) })
    let step = await walk.next()
    while (!step.done) step = await walk.next()
    return plain(step.value.was)
  }
  const first = session.run({ x: float(1) })
  const second = walked()
  const third = session.run({ x: float(3) })
  expect([plain((await first).was), await second, plain((await third).was)]).toEqual([[[0]], [[1], 1], [[1], 2]])
  // A walk that is left early lets others go on.
  const left = session.walk({ x: float(4) })
  await left.next()
  await left.return({})
  expect(plain((await session.run({ x: float(5) })).was)).toEqual([[1], 3])
})
