import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { axisOf, pairsOf } from '../../kernels/window-pairs.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks } from '../random.ts'
import { ints, iota } from '../values.ts'

const ONNX: Kind = ['onnx', 'Col2Im', 18]
const IR: Kind = ['openvino', 'Col2Im', 15]
const listOf = (tensor: Tensor): unknown[] => [...(tensor.data as Float32Array)]

describe('Col2Im', () => {
  test('adds blocks where they overlap', () => {
    const blocks = new Tensor('float32', [1, 2, 3, 10, 20, 30], [1, 2, 3])
    expect(listOf(runTensor(ONNX, [blocks, ints(4), ints(2)]))).toEqual([1, 12, 23, 30])
    expect(listOf(runTensor(IR, [blocks, ints(1, 4), ints(1, 2)]))).toEqual([1, 12, 23, 30])
  })

  test('equals the definition for random blocks in up to three dims', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const axes = Array.from({ length: 1 + picks(seed, 3) }, (_, a) =>
        axisOf({
          size: 4 + picks(seed + a, 3),
          kernel: 1 + picks(seed + a + 1, 3),
          stride: 1 + picks(seed + a + 2, 2),
          dilation: 1 + picks(seed + a + 3, 2),
          begin: picks(seed + a + 4, 2),
          end: picks(seed + a + 5, 2)
        })
      ).filter(axis => axis.count > 0)
      if (axes.length === 0) continue
      const product = (key: 'size' | 'kernel' | 'count'): number => axes.reduce((sum, axis) => sum * axis[key], 1)
      const [elements, taps, windows] = [product('size'), product('kernel'), product('count')]
      const x = counted('int32', [2, 3 * taps, windows])
      const attributes = {
        strides: axes.map(axis => axis.stride),
        dilations: axes.map(axis => axis.dilation),
        pads: [...axes.map(axis => axis.begin), ...axes.map(axis => axis.end)]
      }
      const out = runTensor(ONNX, [x, ints(...axes.map(axis => axis.size)), ints(...axes.map(axis => axis.kernel))], {
        attributes
      })
      const expected = new Array<number>(6 * elements).fill(0)
      for (let plane = 0; plane < 6; plane++) {
        for (const { window, tap, element } of pairsOf(axes)) {
          expected[plane * elements + element] += x.data[(plane * taps + tap) * windows + window] as number
        }
      }
      expect(out.dims).toEqual([2, 3, ...axes.map(axis => axis.size)])
      expect(listOf(out), `seed ${seed}`).toEqual(expected)
    }
  })

  test('adds every type that can be added', () => {
    const sum = (type: DType, values: readonly (number | bigint | boolean)[]): unknown[] =>
      listOf(runTensor(ONNX, [new Tensor(type, values, [1, 2, 2]), ints(3), ints(2)]))
    expect(sum('int64', [1n, 2n ** 62n, 2n ** 62n, 3n])).toEqual([1n, -(2n ** 63n), 3n])
    expect(sum('uint8', [200, 100, 100, 1])).toEqual([200, 200, 1])
    expect(sum('bool', [true, true, true, false])).toEqual([1, 1, 0])
    expect(
      listOf(
        runTensor(ONNX, [
          new Tensor('float16', new Uint16Array([0x3c00, 0x3c00, 0x3c00, 0x4000]), [1, 2, 2]),
          ints(3),
          ints(2)
        ])
      )
    ).toEqual([0x3c00, 0x4000, 0x4000])
    const complex = new Tensor('complex64', new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]), [1, 2, 2])
    expect(listOf(runTensor(ONNX, [complex, ints(3), ints(2)]))).toEqual([1, 2, 3 + 5, 4 + 6, 7, 8])
    expect(errorOf(() => runTensor(ONNX, [iota([1, 2, 2], 'string'), ints(3), ints(2)])).code).toBe('type-not-allowed')
  })

  test('OpenVINO leaves the batch out where the blocks have none', () => {
    const out = runTensor(IR, [iota([4, 4]), ints(3, 3), ints(2, 2)], {
      attributes: { strides: [1, 1], pads_begin: [0, 0], pads_end: [0, 0] }
    })
    expect(out.dims).toEqual([1, 3, 3])
    expect(errorOf(() => runTensor(ONNX, [iota([4, 4]), ints(3, 3), ints(2, 2)])).code).toBe('rank-mismatch')
  })

  test('refuses images and blocks that do not go together', () => {
    const codeOf = (x: Tensor, image: Tensor, block: Tensor, attributes = {}): string =>
      errorOf(() => runTensor(ONNX, [x, image, block], { attributes })).code
    expect(codeOf(iota([1, 4, 4]), ints(3, 3), ints(2))).toBe('dims-mismatch')
    expect(codeOf(iota([1, 4, 4]), ints(3, 3), ints(3, 1))).toBe('shape-mismatch')
    expect(codeOf(iota([1, 4, 5]), ints(3, 3), ints(2, 2))).toBe('shape-mismatch')
    expect(codeOf(iota([1, 4, 4]), ints(1, 3), ints(2, 2))).toBe('shape-mismatch')
    expect(codeOf(iota([1, 4, 4]), ints(-3, 3), ints(2, 2))).toBe('value-out-of-range')
    expect(codeOf(iota([1, 4, 4]), ints(3, 3), ints(0, 2))).toBe('value-out-of-range')
    expect(codeOf(iota([1, 4, 4]), ints(3, 3), ints(2, 2), { strides: [0, 1] })).toBe('value-out-of-range')
    expect(codeOf(iota([1, 4, 4]), allocate('int64', [0]), allocate('int64', [0]))).toBe('value-out-of-range')
  })

  test('its shape rule takes what is known', () => {
    type Known = Tensor | ReturnType<typeof fact>
    const infer = (x: Parameters<typeof fact>[1], image: Known, block: Known): unknown =>
      dimsOf(inferOp(ONNX, [fact('float32', x), image, block])[0])
    expect(infer(['n', '12*c', 'l'], ints(5, 5), ints(2, 2))).toEqual(['n', 'floor(12*c/4)', 5, 5])
    expect(infer(['n', 12, '?'], fact('int64', [2]), ints(2, 2))).toEqual(['n', 3, '?', '?'])
    expect(infer(['n', 12, '?'], fact('int64', ['?']), ints(2, 2))).toEqual(['n', 3, '?', '?'])
    expect(infer(undefined, ints(5, 5), fact('int64', [2]))).toEqual(['?', '?', 5, 5])
    expect(infer(undefined, fact('int64'), fact('int64'))).toBeUndefined()
  })
})

test('OpenVINO makes images of two dims only', () => {
  const inputs = [fact('float32', [1, 10, 12]), ints(5, 5, 5), ints(1, 1, 5)]
  expect(errorOf(() => inferOp(IR, inputs)).code).toBe('dims-mismatch')
})
