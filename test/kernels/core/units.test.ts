import { describe, expect, test } from 'vitest'
import { copyUnits } from '../../../src/kernels/core/units.ts'

const SIZE = 5000
const MEMORY = {
  'an array of its own': (bytes: number) => new ArrayBuffer(bytes),
  'memory that threads share': (bytes: number) => new SharedArrayBuffer(bytes)
}
const UNITS = {
  1: (memory: ArrayBufferLike, at: number) => new Uint8Array(memory, at),
  2: (memory: ArrayBufferLike, at: number) => new Uint16Array(memory, at),
  4: (memory: ArrayBufferLike, at: number) => new Int32Array(memory, at)
}

describe.each(Object.entries(MEMORY))('copyUnits from %s', (_, source) => {
  test.each(Object.entries(MEMORY))('to %s copies runs of any length, and nothing beside them', (_, target) => {
    for (const [width, unitsIn] of Object.entries(UNITS)) {
      const unit = Number(width)
      const from = unitsIn(source((SIZE + 3) * unit), 3 * unit)
      for (let i = 0; i < SIZE; i++) from[i] = i * 7 + 1
      for (const length of [0, 3, 64, 65, 1023, 1024, 2048, 4095, 4096, 4900]) {
        const to = unitsIn(target((SIZE + 5) * unit), 5 * unit)
        copyUnits(from, 41, to, 17, length)
        const expected = Array.from(to, (_, i) => (i >= 17 && i < 17 + length ? from[i + 24] : 0))
        expect([...to], `${length} units of ${unit} bytes`).toEqual(expected)
      }
    }
  })

  test('within one array copies a run over a part of itself', () => {
    for (const step of [-9, 9]) {
      const array = UNITS[4](source(SIZE * 4), 0)
      for (let i = 0; i < SIZE; i++) array[i] = i
      copyUnits(array, 20, array, 20 + step, 4000)
      const expected = Array.from(array, (_, i) => (i >= 20 + step && i < 4020 + step ? i - step : i))
      expect([...array]).toEqual(expected)
    }
  })
})
