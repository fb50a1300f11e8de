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
