/** `nodewise/ops`: the operators by name, for sessions of `nodewise/core`. */
export * from '../ops/index.ts'
