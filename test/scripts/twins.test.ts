import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { differences, summaryOf } from '../../scripts/fuzz/twins.mjs'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-twins-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Whether the fuzzer takes one element with either make of the kernels for the same answer. */
function isAlike(type: string, one: unknown, other: unknown): boolean {
  const paths = [one, other].map((element, i) => {
    const path = join(folder, String(i))
    const summary = summaryOf({
      stage: 'ran',
      code: '',
      problem: undefined,
      outputs: { y: { type, dims: [1], data: [element] } }
    })
    writeFileSync(path, JSON.stringify({ index: 0, ...summary }))
    return path
  })
  return differences(...paths).length === 0
}

test.each([
  ['float16', 0x7e00, 0xfe00],
  ['float16', 0x3c00, 0x3c01],
  ['float16', 0, 0x8001],
  ['bfloat16', 0, 0x86b3],
  ['bfloat16', 0x7fc0, 0xffff],
  ['float32', 1, 1.00001],
  ['float32', NaN, NaN],
  ['int32', 7, 7]
])('%s %s and %s are one answer', (type, one, other) => {
  expect(isAlike(type, one, other)).toBe(true)
})

test.each([
  ['float16', 0x3c00, 0xbc00],
  ['float16', 0x7c00, 0xfc00],
  ['float16', 0x7c00, 0x7e00],
  ['float16', 0x5c00, 0x5c08],
  ['bfloat16', 0x3f80, 0x3f84],
  ['float32', 1, 1.001],
  ['float32', NaN, Infinity],
  ['float32', 1, Infinity],
  ['uint16', 7, 8]
])('%s %s and %s are two', (type, one, other) => {
  expect(isAlike(type, one, other)).toBe(false)
})
