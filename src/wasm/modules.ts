import { CODING, computeText, kernelsText } from './binaries.js'
import { bytesOf, textOf } from './binary.ts'

// In bundles for Node another module stands in place of this one, which reads the bytes from files: to make them of
// text takes 10 ms of a first run; see scripts/wasm-files.mjs.

/** The bytes of the module that gathers. */
export const gatheringBytes = (): Uint8Array<ArrayBuffer> => bytesOf(kernelsText(), CODING)

/** The bytes of the module that computes, with relaxed SIMD or without. */
export const computingBytes = (isRelaxed: boolean): Uint8Array<ArrayBuffer> =>
  bytesOf(textOf(computeText(), isRelaxed ? 'first' : 'second'), CODING)
