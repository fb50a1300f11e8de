import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'CausalConvWithState', 27]
const row = (values: number[], dims = [1, 1, values.length]): Tensor => new Tensor('float32', values, dims)
const run = (inputs: (Tensor | undefined)[], attributes: Record<string, string> = {}): Tensor[] =>
  runOp(KIND, inputs, { attributes, outputs: 2 }) as Tensor[]

test('reads back from each position, zeros before the first', () => {
  const [out, state] = run([row([1, 2, 3]), row([1, 10, 100])])
  expectNear(out, [100, 210, 321])
  expectNear(state, [2, 3])
})

test('goes on from a state as if there had been one call', () => {
  const w = row([1, 10, 100, 2, 20, 200], [2, 1, 3])
  const bias = row([5, 6], [2])
  const [whole, end] = run([row([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4]), w, bias])
  const [first, state] = run([row([1, 5], [1, 2, 1]), w, bias])
  const [rest, after] = run([row([2, 3, 4, 6, 7, 8], [1, 2, 3]), w, bias, state])
  expectNear(first, [whole.data[0], whole.data[4]] as number[])
  expectNear(rest, [...whole.data.slice(1, 4), ...whole.data.slice(5)] as number[])
  expectNear(after, [...end.data] as number[])
})

test('a call shorter than the state keeps the end of it', () => {
  const [, state] = run([row([7]), row([1, 1, 1, 1]), undefined, row([4, 5, 6])])
  expectNear(state, [5, 6, 7])
})

test('silu and swish name one activation', () => {
  for (const activation of ['silu', 'swish'])
    expectNear(run([row([2]), row([1])], { activation })[0], [2 / (1 + Math.exp(-2))])
})

test('float16 is rounded once, after the activation', () => {
  const half = (...codes: number[]): Tensor => new Tensor('float16', new Uint16Array(codes), [1, 1, codes.length])
  const [out, state] = run([half(0x6800, 0x3c00, 0x3c00), half(0x3c00, 0x3c00, 0x3c00)])
  expect([...out.data]).toEqual([0x6800, 0x6800, 0x6801])
  expect([...state.data]).toEqual([0x3c00, 0x3c00])
})

test('empty data leave the state as it is', () => {
  const [out, state] = run([allocate('float32', [1, 1, 0]), row([1, 1]), undefined, row([4])])
  expect(out.dims).toEqual([1, 1, 0])
  expectNear(state, [4])
  expect(run([allocate('float32', [2 ** 40, 1, 0]), row([1])])[1].dims).toEqual([2 ** 40, 1, 0])
})

test('the shape rule follows names and refuses what does not fit', () => {
  const [out, state] = inferOp(KIND, [fact('float32', ['n', 'c', 't']), fact('float32', [4, 1, 'k'])], { outputs: 2 })
  expect(dimsOf(out)).toEqual(['n', 4, 't'])
  expect(dimsOf(state)).toEqual(['n', 4, 'k-1'])
  expect(errorOf(() => run([row([1]), row([1, 2], [1, 2, 1])])).code).toBe('dims-mismatch')
  expect(errorOf(() => run([row([1]), row([1, 2]), undefined, row([1, 2])])).code).toBe('dims-mismatch')
  expect(errorOf(() => run([row([1], [1, 1]), row([1])])).code).toBe('rank-mismatch')
  expect(errorOf(() => run([row([1]), allocate('float32', [1, 1, 0])])).code).toBe('dims-mismatch')
  expect(errorOf(() => run([row([1]), row([1])], { activation: 'relu' })).code).toBe('unknown-attribute-value')
})

describe('CausalConvWithState of com.microsoft', () => {
  const OTHER: Kind = ['onnx', 'CausalConvWithState', 1, 'com.microsoft']
  const other = (inputs: (Tensor | undefined)[], attributes: Record<string, number | string>): Tensor[] =>
    runOp(OTHER, inputs, { attributes, outputs: 2 }) as Tensor[]

  test('a dilated kernel has a longer state', () => {
    const [out, state] = other([row([1, 2, 3, 4]), row([1, 10])], { dilation: 2 })
    expectNear(out, [10, 20, 31, 42])
    expectNear(state, [3, 4])
  })

  test('channels may be last', () => {
    const w = row([1, 10, 2, 20], [2, 1, 2])
    const past = row([5, 6], [1, 1, 2])
    const [out, state] = other([row([1, 2, 3, 4], [1, 2, 2]), w, undefined, past], { channels_last: 1 })
    expectNear(out, [15, 52, 31, 84])
    expect([out.dims, state.dims]).toEqual([
      [1, 2, 2],
      [1, 1, 2]
    ])
    expectNear(state, [3, 4])
    const empty = other([allocate('float32', [2 ** 40, 0, 1]), row([1])], { channels_last: 1 })
    expect(empty[1].dims).toEqual([2 ** 40, 0, 1])
  })

  test('several axes and states are refused', () => {
    for (const attributes of [{ ndim: 2 }, { state_window: 1 }, { dilation: 0 }, { activation: 'relu' }]) {
      expect(errorOf(() => other([row([1]), row([1])], attributes)).code).toBe('unknown-attribute-value')
    }
  })
})
