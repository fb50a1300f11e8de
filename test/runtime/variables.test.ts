import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { layer, load, net } from '../openvino/ir.ts'

const VARIABLE = 'variable_id="v" variable_type="f32" variable_shape="?"'

/** `all` is what the runs before have been given, and `x`; each of 4096 elements. */
const growing = net(
  [
    layer(0, 'Parameter', { name: 'x', data: 'shape="?" element_type="f32"', out: ['0:FP32'] }),
    layer(1, 'ReadValue', { version: 'opset6', data: VARIABLE, out: ['0:FP32'] }),
    layer(2, 'Concat', { data: 'axis="0"', in: ['0', '1'], out: ['2:FP32'] }),
    layer(3, 'Assign', { version: 'opset6', data: 'variable_id="v"', in: ['0'], out: ['1:FP32'] }),
    layer(4, 'Negative', { in: ['0'], out: ['1:FP32'] }),
    layer(5, 'Result', { name: 'all', in: ['0'] }),
    layer(6, 'Result', { name: 'less', in: ['0'] })
  ],
  ['1:0>2:0', '0:0>2:1', '2:2>3:0', '2:2>4:0', '2:2>5:0', '4:1>6:0']
)
const SIZE = 4096
const filled = (value: number): Tensor<'float32'> => new Tensor('float32', new Float32Array(SIZE).fill(value), [SIZE])
/** The first element of each part of a result. */
const parts = (tensor: Tensor): unknown[] =>
  Array.from({ length: tensor.dims[0] / SIZE }, (_, i) => tensor.data[i * SIZE])

describe('large values of variables', () => {
  test.each([false, true])('stay from run to run, views: %s', async views => {
    // What all runs share is there afterwards.
    const before = new InferenceSession(load(growing))
    await before.run({ x: filled(1) })
    before.dispose()
    const { used } = heapStats()
    const session = new InferenceSession(load(growing))
    const names = views ? ['less'] : ['less', 'all']
    const first = await session.run({ x: filled(1) }, names, { views })
    expect(parts(first.less)).toEqual([-1])
    const second = await session.run({ x: filled(2) }, names, { views })
    expect(parts(second.less)).toEqual([-1, -2])
    const third = await session.run({ x: filled(3) }, names, { views })
    expect(parts(third.less)).toEqual([-1, -2, -3])
    if (!views) expect([first, second, third].map(({ all }) => parts(all))).toEqual([[1], [1, 2], [1, 2, 3]])
    session.resetState()
    expect(parts((await session.run({ x: filled(4) }, names, { views })).less)).toEqual([-4])
    session.dispose()
    expect(heapStats().used).toBe(used)
  })

  test('take memory only once', async () => {
    const session = new InferenceSession(load(growing))
    const run = (): Promise<unknown> => session.run({ x: filled(1) }, ['less'])
    await run()
    const { used } = heapStats()
    for (let i = 0; i < 3; i++) await run()
    expect(heapStats().used - used).toBeLessThanOrEqual(3 * 4 * SIZE)
    await expect(session.run({ x: filled(1) }, ['less'], { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(heapStats().used - used).toBeLessThanOrEqual(3 * 4 * SIZE)
    session.dispose()
  })

  test('are not what a caller holds', async () => {
    const session = new InferenceSession(load(growing))
    const { all } = await session.run({ x: filled(1) })
    ;(all.data as Float32Array).fill(9)
    expect(parts((await session.run({ x: filled(2) })).all)).toEqual([1, 2])
    session.dispose()
  })

  test('are not what a caller gives to write into, or puts in place of a value', async () => {
    const session = new InferenceSession(load(growing))
    const target = filled(0)
    await session.run({ x: filled(1) }, { all: target, less: null })
    target.data.fill(9)
    expect(parts((await session.run({ x: filled(2) })).all)).toEqual([1, 2])
    session.resetState()
    const mine = filled(5)
    await session.run({ x: filled(1) }, { onStep: ({ node, replace }) => node.type === 'Concat' && replace(0, mine) })
    mine.data.fill(9)
    expect(parts((await session.run({ x: filled(2) })).all)).toEqual([5, 2])
    session.dispose()
  })
})

test('a run whose signal says so does not wait for the runs before it, and those after it wait for these', async () => {
  const session = new InferenceSession(load(growing))
  const walk = session.walk({ x: filled(1) })
  await walk.next()
  const controller = new AbortController()
  const aborted = session.run({ x: filled(2) }, { signal: controller.signal })
  const after = session.run({ x: filled(3) })
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toMatchObject({
    code: 'aborted',
    place: { file: 'model.xml' },
    cause: { message: 'enough' }
  })
  await expect(session.run({ x: filled(2) }, { signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' })
  for await (const _ of walk);
  expect(parts((await after).all)).toEqual([1, 3])
  session.dispose()
})

test('a run whose result does not fit what it is to be written into changes no variable', async () => {
  const session = new InferenceSession(load(growing))
  await session.run({ x: filled(1) })
  const wrong = { all: filled(0), less: null }
  await expect(session.run({ x: filled(2) }, wrong)).rejects.toMatchObject({ code: 'shape-mismatch' })
  expect(parts((await session.run({ x: filled(3) })).all)).toEqual([1, 3])
  session.dispose()
})

test('a state that is reset while runs are under way ends with them, and the next run begins anew', async () => {
  const session = new InferenceSession(load(growing))
  await session.run({ x: filled(1) })
  const before = [2, 3].map(value => session.run({ x: filled(value) }))
  session.resetState()
  const after = session.run({ x: filled(4) })
  expect((await Promise.all(before)).map(({ all }) => parts(all))).toEqual([
    [1, 2],
    [1, 2, 3]
  ])
  expect(parts((await after).all)).toEqual([4])
  // A step that resets it, as a button does that is pressed meanwhile.
  const { all } = await session.run({ x: filled(5) }, { onStep: () => session.resetState() })
  expect(parts(all)).toEqual([4, 5])
  expect(parts((await session.run({ x: filled(6) })).all)).toEqual([6])
  const stopped = session.run({ x: filled(7) }, { signal: AbortSignal.abort() })
  session.resetState()
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' })
  expect(parts((await session.run({ x: filled(8) })).all)).toEqual([8])
  session.dispose()
})
