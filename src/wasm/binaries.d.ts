/** The WebAssembly module made from assembly/index.ts, as base64: gathers. */
export const KERNELS: string
/** The module made from assembly/compute.ts: computation with float32. */
export const COMPUTE: string
/** The same with relaxed SIMD: products are added without being rounded first. */
export const RELAXED: string
