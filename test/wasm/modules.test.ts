import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { computingBytes, gatheringBytes } from '../../src/wasm/modules.ts'

// The bundles for Node take the files, all others the text.
test.each([
  ['kernels.wasm', gatheringBytes],
  ['relaxed.wasm', () => computingBytes(true)],
  ['compute.wasm', () => computingBytes(false)]
])('the text of %s stands for the bytes of the file', (name, bytes) => {
  const file = readFileSync(new URL(`../../src/wasm/${name}`, import.meta.url))
  expect(Buffer.compare(bytes(), file)).toBe(0)
})

const SECTION_OF_CODE = 10

/** Bytes of each function of a module, by WebAssembly's binary format: sections of an id, a size in LEB128, content. */
function functionSizes(module: Uint8Array): number[] {
  let at = 8
  const leb128 = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++]
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < module.length) {
    const id = module[at++]
    const end = leb128() + at
    if (id === SECTION_OF_CODE)
      return Array.from({ length: leb128() }, () => {
        const size = leb128()
        at += size
        return size
      })
    at = end
  }
  throw new Error('no section of code')
}

// V8 optimizes whole functions: one of all kernels took it 20 to 45 ms whenever one of them was hot.
test.each([true, false])('no function that computes holds several kernels (relaxed: %s)', isRelaxed => {
  const sizes = functionSizes(computingBytes(isRelaxed))
  expect(sizes.length).toBeGreaterThan(200)
  expect(Math.max(...sizes)).toBeLessThan(6000)
})
