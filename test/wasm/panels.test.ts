import { expect, test } from 'vitest'
import { heapAllocate, heapFree } from '../../src/wasm/heap.ts'
import { wasm } from '../../src/wasm/wasm.ts'
import { bits } from './compare.ts'

// Panels have eight columns; rows are packed in blocks of 16, 32 and 64, and 16 rows of a transposed matrix at a time.
const SIZES = [
  [1, 1],
  [15, 8],
  [16, 24],
  [33, 45],
  [70, 17],
  [131, 40]
] as const
const ORDERS = ['rows', 'columns'] as const
const CASES = SIZES.flatMap(([k, n]) => ORDERS.map(order => [k, n, order] as const))

/** Bytes of a matrix that lies by rows or by columns, and where an element's bytes lie. */
function matrixOf(k: number, n: number, order: 'rows' | 'columns', width: number) {
  const bytes = bits('uint8', [k * n * width]).data as Uint8Array
  const [rowStep, colStep] = order === 'rows' ? [n * width, width] : [width, k * width]
  return { bytes, rowStep, colStep, at: (row: number, column: number) => row * rowStep + column * colStep }
}

/** Bytes that a function writes to the heap, to an address, when it is given the address of `source`. */
function written(source: Uint8Array, length: number, pack: (from: number, to: number) => void): Uint8Array {
  const [from, to] = [source.length, length].map(bytes => heapAllocate(bytes) as Uint8Array)
  from.set(source)
  to.fill(99)
  pack(from.byteOffset, to.byteOffset)
  const copy = to.slice(0, length)
  for (const block of [from, to]) heapFree(block)
  return copy
}

const { packPanels, packBytePanels, packDotPanels } = wasm()!.compute().exports

test.each(CASES)('a matrix of %d x %d by %s is put into panels, a part of them at a time', (k, n, order) => {
  const { bytes, rowStep, colStep, at } = matrixOf(k, n, order, 4)
  const panels = Math.ceil(n / 8)
  const packed = written(bytes, panels * k * 32, (from, to) => {
    packPanels(from, rowStep, colStep, k, n, to, panels >> 1, panels)
    packPanels(from, rowStep, colStep, k, n, to, 0, panels >> 1)
  })
  const expected = new Uint8Array(packed.length)
  for (let column = 0; column < n; column++)
    for (let row = 0; row < k; row++)
      expected.set(
        bytes.subarray(at(row, column), at(row, column) + 4),
        ((column >> 3) * k + row) * 32 + (column & 7) * 4
      )
  expect(packed).toEqual(expected)
})

/** A matrix of bytes in panels of eight columns, as groups of rows; what there is not is 0. */
function bytePanels(k: number, n: number, group: number, code: (row: number, column: number) => number): number[][] {
  return Array.from({ length: Math.ceil(n / 8) }, (_, panel) =>
    Array.from({ length: Math.ceil(k / group) * 8 * group }, (_, i) => {
      const row = Math.floor(i / (8 * group)) * group + (i % group)
      const column = panel * 8 + (Math.floor(i / group) % 8)
      return row < k && column < n ? code(row, column) : 0
    })
  )
}

test.each(CASES)('a matrix of %d x %d bytes by %s is put into panels of pairs of rows', (k, n, order) => {
  const { bytes, rowStep, colStep, at } = matrixOf(k, n, order, 1)
  const panels = Math.ceil(n / 8)
  for (const flip of [0, 128]) {
    const packed = written(bytes, panels * Math.ceil(k / 2) * 16, (from, to) => {
      packBytePanels(from, rowStep, colStep, k, n, flip, to, panels >> 1, panels)
      packBytePanels(from, rowStep, colStep, k, n, flip, to, 0, panels >> 1)
    })
    expect([...packed]).toEqual(bytePanels(k, n, 2, (row, column) => bytes[at(row, column)] ^ flip).flat())
  }
})

test.each(CASES)('a matrix of %d x %d bytes by %s is put into panels of fours, their sums behind', (k, n, order) => {
  const { bytes, rowStep, colStep, at } = matrixOf(k, n, order, 1)
  const panels = Math.ceil(n / 8)
  for (const flip of [0, 128]) {
    const packed = written(bytes, panels * (Math.ceil(k / 4) * 32 + 32), (from, to) => {
      packDotPanels(from, rowStep, colStep, k, n, flip, to, panels >> 1, panels)
      packDotPanels(from, rowStep, colStep, k, n, flip, to, 0, panels >> 1)
    })
    const expected = bytePanels(k, n, 4, (row, column) => bytes[at(row, column)] ^ flip).flatMap(panel => {
      const codes = Int8Array.from(panel)
      const sums = new Int32Array(8)
      codes.forEach((code, i) => (sums[Math.floor(i / 4) % 8] += code))
      return [...panel, ...new Uint8Array(sums.buffer)]
    })
    expect([...packed]).toEqual(expected)
  }
})
