import { expect, test } from 'vitest'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

test('ShuffleChannels takes channels of each group in turn', () => {
  expect([
    ...runTensor(['openvino', 'ShuffleChannels', 1], [iota([6], 'string')], { attributes: { axis: 0, group: 2 } }).data
  ]).toEqual(['0', '3', '1', '4', '2', '5'])
  expect([
    ...runTensor(['openvino', 'ShuffleChannels', 3], [iota([1, 4, 2])], { attributes: { axis: -2, group: 2 } }).data
  ]).toEqual([0, 1, 4, 5, 2, 3, 6, 7])
  expect([...runTensor(['openvino', 'ShuffleChannels', 3], [iota([1, 2])]).data]).toEqual([0, 1])
})

test('ShuffleChannels refuses groups that do not divide the channels', () => {
  const of =
    (group: number, axis = 0) =>
    () =>
      runTensor(['openvino', 'ShuffleChannels', 1], [iota([6])], { attributes: { axis, group } })
  expect(errorOf(of(4)).code).toBe('shape-mismatch')
  expect(errorOf(of(0)).code).toBe('value-out-of-range')
  expect(errorOf(of(1, 1)).code).toBe('axis-out-of-range')
  expect(
    dimsOf(inferOp(['openvino', 'ShuffleChannels', 1], [fact('float32', ['n', 'c'])], { attributes: { group: 4 } })[0])
  ).toEqual(['n', 'c'])
})
