/** The WebAssembly module made from assembly/, as base64. */
export const BINARY: string
