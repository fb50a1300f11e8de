/** The WebAssembly module made from assembly/index.ts, as base64. */
export const KERNELS: string
