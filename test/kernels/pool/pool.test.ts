import { describe, expect, test } from 'vitest'
import { tapsOf } from '../../../src/kernels/core/windows.ts'
import { averagePool, cellsOf, lpPool, maxPool } from '../../../src/kernels/pool/pool.ts'
import { NUMERIC } from '../../../src/op-kit/types.ts'
import type { WindowAxis } from '../../../src/shapes/window.ts'
import { convert } from '../../../src/tensor/convert.ts'
import { isFloat } from '../../../src/tensor/dtype.ts'
import { toDoubles } from '../../../src/tensor/elements.ts'
import { allocate, elementCount, Tensor } from '../../../src/tensor/tensor.ts'
import { picks } from '../../ops/random.ts'
import { axisOf, pairsOf } from '../window-pairs.ts'

const finish = (steps: Generator<void>): number => {
  let yields = 0
  while (!steps.next().done) yields++
  return yields
}

const axesOf = (seed: number): WindowAxis[] =>
  Array.from({ length: 1 + picks(seed, 3) }, (_, a) =>
    axisOf({
      size: 4 + picks(seed + a, 4),
      kernel: 1 + picks(seed + a + 1, 3),
      stride: 1 + picks(seed + a + 2, 3),
      begin: picks(seed + a + 3, 3),
      end: picks(seed + a + 4, 3)
    })
  )

/** Small whole numbers, two batches of two channels. */
function planesFor(
  seed: number,
  axes: readonly WindowAxis[]
): { x: Tensor; outDims: number[]; windows: number; elements: number } {
  const [sizes, counts] = [axes.map(axis => axis.size), axes.map(axis => axis.count)]
  const dims = [2, 2, ...sizes]
  const x = new Tensor(
    'float64',
    Array.from({ length: elementCount(dims) }, (_, i) => picks(seed * 999 + i, 40)),
    dims
  )
  return { x, outDims: [2, 2, ...counts], windows: elementCount(counts), elements: elementCount(sizes) }
}

/** The elements of each window of each plane, in the order of the taps. */
function windowsOf(
  x: Tensor,
  axes: readonly WindowAxis[],
  windows: number,
  elements: number
): { value: number; element: number }[][] {
  const numbers = toDoubles(x)
  const read = Array.from({ length: windows }, (): number[] => [])
  for (const { window, element } of pairsOf(axes)) read[window].push(element)
  return Array.from({ length: 4 }, (_, plane) =>
    read.map(ofWindow => ofWindow.map(element => ({ value: numbers[plane * elements + element], element })))
  ).flat()
}

describe('pools', () => {
  test('equal the definition for random windows of every type', () => {
    for (let seed = 1; seed <= 48; seed++) {
      const axes = axesOf(seed * 13)
      const type = NUMERIC[seed % NUMERIC.length]
      const { x, outDims, windows, elements } = planesFor(seed, axes)
      const read = windowsOf(x, axes, windows, elements)
      const typed = convert(x, type)

      const highest = allocate(type, outDims)
      const indices = allocate('int64', outDims)
      finish(
        maxPool(typed, highest, tapsOf(axes), {
          out: indices,
          none: -1,
          indexOf: (plane, element) => plane * elements + element
        })
      )
      const best = read.map(cells =>
        cells.reduce((a, b) => (b.value > a.value ? b : a), { value: -Infinity, element: -1 })
      )
      const filled = best.map(({ element }, i) => (element >= 0 ? i : -1)).filter(i => i >= 0)
      expect(
        filled.map(i => toDoubles(highest)[i]),
        `max ${seed} ${type}`
      ).toEqual(filled.map(i => best[i].value))
      expect([...indices.data].map(Number)).toEqual(
        best.map(({ element }, i) => (element < 0 ? -1 : Math.floor(i / windows) * elements + element))
      )
      const plain = allocate(type, outDims)
      finish(maxPool(typed, plain, tapsOf(axes)))
      expect([...(plain.data as Float32Array)]).toEqual([...(highest.data as Float32Array)])

      const means = allocate(type, outDims)
      finish(
        averagePool(
          typed,
          means,
          tapsOf(axes),
          axes.map(axis => cellsOf(axis, true))
        )
      )
      const cells = axes.reduce((product, axis) => product * axis.kernel, 1)
      const expected = read.map(list => list.reduce((sum, { value }) => sum + value, 0) / cells)
      const off = toDoubles(means).map((value, i) => Math.abs(value - expected[i]))
      expect(Math.max(...off), `mean ${seed} ${type}`).toBeLessThanOrEqual(isFloat(type) ? 0.1 : 0.5)

      if (!isFloat(type)) continue
      for (const p of [1, 2, 3]) {
        const norms = allocate(type, outDims)
        finish(lpPool(typed, norms, tapsOf(axes), p))
        const exact = read.map(list => list.reduce((sum, { value }) => sum + Math.abs(value) ** p, 0) ** (1 / p))
        toDoubles(norms).forEach((value, i) => expect(Math.abs(value - exact[i])).toBeLessThanOrEqual(exact[i] / 100))
      }
    }
  })

  test('yield on the way', () => {
    const axes = [axisOf({ size: 2 ** 10, kernel: 3 }), axisOf({ size: 2 ** 10, kernel: 3 })]
    const x = allocate('float32', [1, 1, 2 ** 10, 2 ** 10])
    const out = allocate('float32', [1, 1, axes[0].count, axes[1].count])
    expect(finish(maxPool(x, out, tapsOf(axes)))).toBeGreaterThan(3)
    expect(finish(lpPool(x, out, tapsOf(axes), 3))).toBeGreaterThan(30)
  })
})

describe('what a mean is divided by', () => {
  const axis = axisOf({ size: 4, kernel: 4, stride: 3, begin: 1, end: 1, count: 3 })

  test('counts elements, or the padding too, and nothing beyond it', () => {
    expect(cellsOf(axis, false)).toEqual([3, 2, 0])
    expect(cellsOf(axis, true)).toEqual([4, 3, 1])
  })

  test('is one where a window has no cell but padding is zeros', () => {
    expect(cellsOf(axisOf({ size: 2, kernel: 1, stride: 5, count: 2 }), true)).toEqual([1, 1])
    expect(cellsOf(axisOf({ size: 2, kernel: 1, stride: 5, count: 2 }), false)).toEqual([1, 0])
  })

  test('leaves out what a dilated kernel skips', () => {
    expect(cellsOf(axisOf({ size: 5, kernel: 3, dilation: 2, begin: 2, end: 2 }), false)).toEqual([2, 2, 3, 2, 2])
  })
})
