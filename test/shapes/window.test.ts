import { describe, expect, test } from 'vitest'
import { namedDim, printDim, unknownDim } from '../../src/shapes/dim.ts'
import {
  type AutoPad,
  type Rounding,
  type Sliding,
  slidings,
  windowAxis,
  windowCount
} from '../../src/shapes/window.ts'
import { errorOf } from '../ops/harness.ts'

const sliding = (changes: Partial<Sliding> = {}): Sliding => ({
  stride: 1,
  dilation: 1,
  begin: 0,
  end: 0,
  autoPad: 'explicit',
  ...changes
})
const params = {
  strides: undefined,
  dilations: undefined,
  begin: undefined,
  end: undefined,
  autoPad: 'explicit' as AutoPad
}

describe('the number of windows', () => {
  const count = (size: number, kernel: number, changes: Partial<Sliding>, rounding?: Rounding): unknown =>
    windowCount(size, kernel, sliding(changes), rounding)

  test('is rounded down, up, or up as long as a window starts before the padding at the end', () => {
    expect(count(5, 2, { stride: 2 })).toBe(2)
    expect(count(5, 2, { stride: 2 }, 'ceil')).toBe(3)
    expect(count(5, 2, { stride: 3, begin: 1, end: 1 }, 'ceil')).toBe(3)
    expect(count(5, 2, { stride: 3, begin: 1, end: 1 }, 'ceil-inside')).toBe(2)
    expect(count(5, 2, { stride: 2, begin: 1 }, 'ceil-inside')).toBe(3)
  })

  test('counts the gaps of a dilated kernel', () => {
    expect(count(7, 3, { dilation: 3 })).toBe(1)
    expect(errorOf(() => count(7, 3, { dilation: 4 })).code).toBe('shape-mismatch')
  })

  test('a window that begins inside and ends outside counts when rounding up', () => {
    expect(count(3, 5, { stride: 3 }, 'ceil')).toBe(1)
    expect(errorOf(() => count(3, 6, { stride: 3 }, 'ceil')).code).toBe('shape-mismatch')
    expect(errorOf(() => count(3, 5, { stride: 3 })).code).toBe('shape-mismatch')
  })

  test('no window begins inside an axis without elements', () => {
    expect(errorOf(() => count(0, 1, { stride: 2 }, 'ceil-inside')).code).toBe('shape-mismatch')
    expect(count(1, 2, { stride: 3 }, 'ceil-inside')).toBe(1)
  })

  test('is the size over the stride, rounded up, with automatic pads', () => {
    for (const autoPad of ['same_upper', 'same_lower'] as const) expect(count(7, 99, { stride: 3, autoPad })).toBe(3)
  })

  test('with automatic pads, rounding up adds a window beyond the data where strides skip cells', () => {
    for (const autoPad of ['same_upper', 'same_lower'] as const) {
      const sized = (size: number, kernel: number, stride: number, rounding: Rounding): unknown =>
        count(size, kernel, { stride, autoPad }, rounding)
      expect(sized(4, 1, 2, 'ceil')).toBe(3)
      expect(sized(6, 2, 3, 'ceil')).toBe(3)
      expect(sized(7, 1, 3, 'ceil')).toBe(3)
      expect(sized(9, 2, 4, 'ceil')).toBe(3)
      expect(sized(4, 3, 2, 'ceil')).toBe(2)
      expect(sized(0, 1, 2, 'ceil')).toBe(0)
      expect(sized(4, 1, 2, 'ceil-inside')).toBe(2)
      expect(sized(4, 1, 2, 'floor')).toBe(2)
    }
    const n = windowCount(namedDim('n'), 1, sliding({ stride: 2, autoPad: 'same_upper' }), 'ceil')
    expect(printDim(n)).toContain('n')
    expect(windowAxis(6, 2, 3, sliding({ stride: 3, autoPad: 'same_lower' }))).toMatchObject({ begin: 0, end: 0 })
  })

  test('stays symbolic', () => {
    const n = namedDim('n')
    expect(printDim(windowCount(n, 3, sliding({ begin: 1, end: 1 })))).toBe('n')
    expect(printDim(windowCount(n, 2, sliding({ stride: 2 })))).toBe('floor(n/2)')
    const interval = windowCount(unknownDim(4, 9), 2, sliding({ stride: 2 }))
    expect(typeof interval === 'object' && [interval.min, interval.max]).toEqual([2, 4])
    const least = windowCount(unknownDim(0, 9), 4, sliding())
    expect(typeof least === 'object' && [least.min, least.max]).toEqual([1, 6])
  })

  test('a kernel that no interval of sizes can hold is an error, one that some can hold is not', () => {
    expect(errorOf(() => windowCount(unknownDim(1, 3), 4, sliding())).code).toBe('shape-mismatch')
    expect(windowCount(unknownDim(1, 4), 4, sliding())).toBe(1)
  })

  test('kernels without a tap and beyond any memory are errors', () => {
    expect(errorOf(() => count(5, 0, {})).code).toBe('value-out-of-range')
    expect(errorOf(() => count(5, 2 ** 31 - 1, { dilation: 2 ** 31 - 1, autoPad: 'same_upper' })).code).toBe(
      'limit-exceeded'
    )
  })
})

describe('pads', () => {
  test('automatic ones are shared, the odd cell at the end or the beginning', () => {
    expect(windowAxis(5, 2, 3, sliding({ stride: 2, autoPad: 'same_upper' }))).toMatchObject({ begin: 0, end: 1 })
    expect(windowAxis(5, 2, 3, sliding({ stride: 2, autoPad: 'same_lower' }))).toMatchObject({ begin: 1, end: 0 })
    expect(windowAxis(5, 3, 5, sliding({ dilation: 2, autoPad: 'same_upper' }))).toMatchObject({ begin: 2, end: 2 })
  })

  test('there are none where the stride passes over more than the kernel holds', () => {
    expect(windowAxis(5, 1, 2, sliding({ stride: 3, autoPad: 'same_lower' }))).toMatchObject({ begin: 0, end: 0 })
  })

  test('given ones do not count unless they are explicit', () => {
    expect(slidings(1, { ...params, begin: [3], end: [4], autoPad: 'valid' })).toEqual([sliding({ autoPad: 'valid' })])
    expect(slidings(1, { ...params, begin: [3], end: [4] })).toEqual([sliding({ begin: 3, end: 4 })])
  })
})

describe('lists', () => {
  test('absent and empty ones stand for ones and zeros', () => {
    expect(slidings(2, { ...params, strides: [] })).toEqual([sliding(), sliding()])
  })

  test('of a wrong length or with impossible numbers are errors', () => {
    expect(errorOf(() => slidings(2, { ...params, strides: [1] })).code).toBe('dims-mismatch')
    for (const wrong of [{ strides: [0, 1] }, { dilations: [1, -1] }, { begin: [-1, 0] }, { end: [0, 2 ** 31] }]) {
      expect(errorOf(() => slidings(2, { ...params, ...wrong })).code).toBe('value-out-of-range')
    }
  })
})
