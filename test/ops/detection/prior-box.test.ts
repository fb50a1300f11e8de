import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const size = (height: number, width: number): Tensor => new Tensor('int64', [BigInt(height), BigInt(width)])

/** Boxes `[center x, center y, width, height]` in pixels of a 100 x 200 image, and the variances of the first. */
function boxesOf(
  type: string,
  opset: number,
  grid: [number, number],
  attributes: Record<string, string | number | boolean>
): { boxes: number[][]; variance: number[] } {
  const out = runTensor(['openvino', type, opset], [size(...grid), size(100, 200)], {
    attributes: { offset: 0.5, ...attributes }
  })
  const half = out.dims[1]
  const boxes = Array.from({ length: half / 4 }, (_, i) => {
    const [x1, y1, x2, y2] = out.data.slice(4 * i, 4 * i + 4) as Float32Array
    return [(x1 + x2) * 100, (y1 + y2) * 50, (x2 - x1) * 200, (y2 - y1) * 100].map(
      value => Math.round(value * 100) / 100
    )
  })
  return {
    boxes,
    variance: [...(out.data.slice(half, half + 4) as Float32Array)].map(value => Math.round(value * 100) / 100)
  }
}

describe('OpenVINO PriorBox', () => {
  test('places sizes and ratios around every cell', () => {
    const { boxes, variance } = boxesOf('PriorBox', 1, [1, 2], {
      min_size: 16,
      max_size: 25,
      aspect_ratio: 4,
      flip: true,
      step: 40,
      variance: '0.1,0.1,0.2,0.2'
    })
    expect(boxes).toEqual([
      [20, 20, 16, 16],
      [20, 20, 20, 20],
      [20, 20, 32, 8],
      [20, 20, 8, 32],
      [60, 20, 16, 16],
      [60, 20, 20, 20],
      [60, 20, 32, 8],
      [60, 20, 8, 32]
    ])
    expect(variance).toEqual([0.1, 0.1, 0.2, 0.2])
  })

  test('version 8 may put the largest box last; ratios occur once', () => {
    const { boxes, variance } = boxesOf('PriorBox', 8, [1, 1], {
      min_size: 16,
      max_size: 25,
      aspect_ratio: '4,1,4',
      step: 40,
      min_max_aspect_ratios_order: false
    })
    expect(boxes.map(box => box[2])).toEqual([16, 32, 20])
    expect(variance).toEqual([0.1, 0.1, 0.1, 0.1])
  })

  test('step 0 fills the image with cells; clip cuts boxes at its edges', () => {
    expect(boxesOf('PriorBox', 1, [2, 2], { min_size: 10 }).boxes.map(box => box.slice(0, 2))).toEqual([
      [50, 25],
      [150, 25],
      [50, 75],
      [150, 75]
    ])
    expect(boxesOf('PriorBox', 1, [1, 1], { min_size: 400, clip: true }).boxes).toEqual([[100, 50, 200, 100]])
  })

  test('without scale_all_sizes sizes are shares of the height, the largest ignored', () => {
    expect(
      boxesOf('PriorBox', 1, [1, 1], {
        min_size: '0.1,0.2',
        max_size: '0.5',
        aspect_ratio: 4,
        scale_all_sizes: false,
        step: 0.5
      }).boxes
    ).toEqual([
      [25, 25, 10, 10],
      [25, 25, 20, 20],
      [25, 25, 20, 5]
    ])
  })

  test('fixed sizes lie as densely as told', () => {
    expect(boxesOf('PriorBox', 8, [1, 1], { fixed_size: '10,20', density: '2,1', step: 100 }).boxes).toEqual([
      [47.5, 47.5, 10, 10],
      [52.5, 47.5, 10, 10],
      [47.5, 52.5, 10, 10],
      [52.5, 52.5, 10, 10],
      [50, 50, 20, 20]
    ])
    expect(errorOf(() => boxesOf('PriorBox', 8, [1, 1], { fixed_size: 10, density: 1e9 })).code).toBe(
      'value-out-of-range'
    )
  })

  test('its shape multiplies grid and boxes', () => {
    expect(
      dimsOf(
        inferOp(['openvino', 'PriorBox', 8], [size(24, 42), fact('int64', [2])], {
          attributes: { min_size: 16, max_size: 38, aspect_ratio: 2, flip: true, offset: 0.5 }
        })[0]
      )
    ).toEqual([2, 16128])
    expect(
      dimsOf(
        inferOp(['openvino', 'PriorBox', 8], [fact('int64', [2]), fact('int64', [2])], {
          attributes: { min_size: 16, offset: 0 }
        })[0]
      )
    ).toEqual([2, '?'])
    expect(
      errorOf(() =>
        inferOp(['openvino', 'PriorBox', 8], [fact('int64', [3]), fact('int64', [2])], {
          attributes: { min_size: 16, offset: 0 }
        })
      ).code
    ).toBe('dims-mismatch')
  })
})

describe('OpenVINO PriorBoxClustered', () => {
  test('places given widths and heights around every cell', () => {
    expect(
      boxesOf('PriorBoxClustered', 1, [1, 2], { width: '10,20', height: '12,8', step: 40, clip: false }).boxes
    ).toEqual([
      [20, 20, 10, 12],
      [20, 20, 20, 8],
      [60, 20, 10, 12],
      [60, 20, 20, 8]
    ])
    expect(boxesOf('PriorBoxClustered', 1, [1, 1], { width: '10', height: '12', clip: false }).boxes).toEqual([
      [100, 50, 10, 12]
    ])
    expect(
      boxesOf('PriorBoxClustered', 1, [1, 1], { width: '10', height: '12', step_w: 40, step_h: 60, clip: false }).boxes
    ).toEqual([[20, 30, 10, 12]])
    expect(errorOf(() => boxesOf('PriorBoxClustered', 1, [1, 1], { width: '10,20', height: '12' })).code).toBe(
      'dims-mismatch'
    )
  })
})
