import { expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Budget } from '../../src/runtime/memory.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { named } from '../fixtures/maps.ts'

const ALONE = { bytes: 0, giveUp: () => false }

test('strings count against the memory of JavaScript too, until they are given up', () => {
  const budget = new Budget(new MemoryLimit(2 ** 30), ALONE, 1000 * 64)
  const strings = budget.allocate('string', [600], 'heap', true)
  budget.hold(strings)
  expect(() => budget.allocate('string', [600], 'heap', true)).toThrow(NodewiseError)
  expect(budget.allocate('float32', [100_000], 'array', true).dims).toEqual([100_000])
  budget.release(strings)
  expect(budget.allocate('string', [600], 'heap', true).dims).toEqual([600])
})

test('maps count against the memory of JavaScript, those of a sequence together, until they are given up', () => {
  const budget = new Budget(new MemoryLimit(2 ** 30), ALONE, 1700)
  const rows = (): Value => ({ type: 'sequence', values: [named({ a: 1, b: 2 }), named({ a: 1, b: 2 })] })
  const [first, second] = [rows(), rows()]
  for (const value of [first, second]) budget.hold(value)
  budget.hold(first)
  expect(() => budget.hold(rows())).toThrow('2 maps take about 720 bytes; 1440 of 1700')
  budget.release(first)
  expect(() => budget.hold(named({ a: 1 }))).toThrow(NodewiseError)
  budget.release(first)
  budget.hold(named({ a: 1 }))
})

test('a copy counts as held once, and is refused where it does not fit', () => {
  const budget = new Budget(new MemoryLimit(100), ALONE)
  const given = new Tensor('float32', new Float32Array(20).fill(3), [4, 5])
  const copy = budget.copy(given)
  expect(copy).toEqual(given)
  expect(copy.data).not.toBe(given.data)
  expect(budget.isHeldOnce(copy.data)).toBe(true)
  expect(() => budget.copy(given)).toThrow('a copy of a float32 tensor of dims [4, 5] takes 80 bytes; 80 of 100 are in')
  budget.release(copy)
  expect(budget.copy(given)).toEqual(given)
})

test('tensors of a sequence are held with it, each as often as it is there, and freed with it', () => {
  const budget = new Budget(new MemoryLimit(100), ALONE)
  const [a, b] = [budget.allocate('float32', [10], 'array', false), budget.allocate('float32', [10], 'array', false)]
  const inner: Value = { type: 'optional', value: b }
  const sequence: Value = { type: 'sequence', values: [a, inner, a] }
  budget.hold(sequence)
  budget.hold(b)
  expect([a, b].map(({ data }) => budget.isHeldOnce(data))).toEqual([false, false])
  expect(() => budget.allocate('float32', [10], 'array', false)).toThrow('80 of 100 are in use')
  budget.release(sequence)
  expect(budget.isHeldOnce(b.data)).toBe(true)
  budget.release(b)
  expect(budget.allocate('float32', [25], 'array', false).dims).toEqual([25])
})

test('what was made last counts as what was made before, and is freed once', () => {
  const budget = new Budget(new MemoryLimit(100), ALONE)
  const [a, b] = [budget.allocate('float32', [10], 'array', false), budget.allocate('float32', [10], 'array', false)]
  for (const value of [b, a, b]) budget.hold(value)
  expect([a, b].map(({ data }) => budget.isHeldOnce(data))).toEqual([true, false])
  for (const value of [b, b, b]) budget.release(value)
  budget.hold(b)
  expect(budget.isHeldOnce(b.data)).toBe(false)
  expect(() => budget.allocate('float32', [20], 'array', false)).toThrow('40 of 100 are in use')
  budget.close([a])
  budget.release(a)
  expect(() => budget.allocate('float32', [20], 'array', false)).toThrow('40 of 100 are in use')
})
