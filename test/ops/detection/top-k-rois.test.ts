import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const TOP: Kind = ['openvino', 'ExperimentalDetectronTopKROIs', 6]

/** Regions `[i, i, i, i]`, so that a row of the result tells where it is from. */
const regions = (count: number): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: 4 * count }, (_, i) => Math.floor(i / 4) + 1),
    [count, 4]
  )

const best = (scores: readonly number[], count: number): number[] => {
  const out = runTensor(TOP, [regions(scores.length), new Tensor('float32', scores)], {
    attributes: { max_rois: count }
  })
  expect(out.dims).toEqual([count, 4])
  const rows = [...(out.data as Float32Array)]
  expect(rows.every((value, i) => value === rows[i - (i % 4)])).toBe(true)
  return rows.filter((_, i) => i % 4 === 0)
}

describe('OpenVINO ExperimentalDetectronTopKROIs', () => {
  test('gives the regions with the highest scores, best first', () => {
    expect(best([0.1, 0.9, -0.5, 0.7, 0.3], 3)).toEqual([2, 4, 5])
    expect(best([0.5, 0.25], 2)).toEqual([1, 2])
    expect(best([-2, -1, -3], 1)).toEqual([2])
  })

  test('takes the lower index of equal scores, and NaN last', () => {
    expect(best([0.5, 0.75, 0.5, 0.75], 4)).toEqual([2, 4, 1, 3])
    expect(best([NaN, 0.5, -Infinity], 3)).toEqual([2, 3, 1])
  })

  test('rows without a region are zero', () => {
    expect(best([0.25, 0.5], 4)).toEqual([2, 1, 0, 0])
    expect(best([], 2)).toEqual([0, 0])
    expect(best([0.25, 0.5], 0)).toEqual([])
  })

  test('moves corners of every type as they are', () => {
    const rois = new Tensor('float16', new Uint16Array([1, 2, 3, 4, 0x7e01, 0x3c00, 0xfc00, 0x8000]), [2, 4])
    const scores = new Tensor('float16', new Uint16Array([0x3800, 0x3c00]), [2])
    expect([...runTensor(TOP, [rois, scores], { attributes: { max_rois: 1 } }).data]).toEqual([
      0x7e01, 0x3c00, 0xfc00, 0x8000
    ])
  })

  test('its shape is that of the wanted regions', () => {
    const shape = (
      rois: (number | string)[] | undefined,
      scores: (number | string)[] | undefined,
      count = 3
    ): unknown =>
      dimsOf(inferOp(TOP, [fact('float32', rois), fact('float32', scores)], { attributes: { max_rois: count } })[0])
    expect(shape(['n', 4], ['n'])).toEqual([3, 4])
    expect(shape(['n', '?'], ['m'])).toEqual([3, 4])
    expect(shape(undefined, undefined)).toEqual([3, 4])
    expect(dimsOf(inferOp(TOP, [fact('float32', ['n', 4]), fact('float32', ['n'])])[0])).toEqual([0, 4])
    expect(errorOf(() => shape([5], ['n'])).code).toBe('rank-mismatch')
    expect(errorOf(() => shape(['n', 4], ['n', 1])).code).toBe('rank-mismatch')
    expect(errorOf(() => shape(['n', 5], ['n'])).code).toBe('dims-mismatch')
    expect(errorOf(() => shape([5, 4], [6])).code).toBe('dims-mismatch')
    expect(errorOf(() => shape(['n', 4], ['n'], -1)).code).toBe('value-out-of-range')
  })

  test('refuses other types', () => {
    const attributes = { max_rois: 1 }
    const infer = (rois: 'float32' | 'int32', scores: 'float32' | 'float16'): unknown =>
      inferOp(TOP, [fact(rois, [2, 4]), fact(scores, [2])], { attributes })
    expect(errorOf(() => infer('float32', 'float16')).code).toBe('type-mismatch')
    expect(errorOf(() => infer('int32', 'float32')).code).toBe('type-not-allowed')
  })
})
