import type { Coding, Pair } from './binary.ts'

/** How the bytes of the modules are written. */
export const CODING: Coding
/** The WebAssembly module made from assembly/index.ts: gathers. */
export const KERNELS: string
/**
 * The module made from assembly/compute.ts, which computes: with relaxed SIMD, where products are added without being
 * rounded first, and without.
 */
export const COMPUTE: Pair
