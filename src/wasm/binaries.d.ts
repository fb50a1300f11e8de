import type { Coding, Pair } from './binary.ts'

/** How the bytes of the modules are written. */
export const CODING: Coding
// Functions, because V8 keeps texts outside functions in the compiled form of a program, which every start reads.

/** The WebAssembly module made from assembly/index.ts: gathers. */
export function kernelsText(): string
/**
 * The module made from assembly/compute.ts, which computes: with relaxed SIMD, where products are added without being
 * rounded first, and without.
 */
export function computeText(): Pair
