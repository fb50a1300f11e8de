import type { OpSchema } from '../bind/schema.ts'

/**
 * Whether an operator version requires an input that a node leaves out. Nodewise reads such nodes where another version
 * gives them a meaning; `onnx.checker` and ONNX Runtime do not.
 */
export const lacksInput = (schema: OpSchema | undefined, inputs: readonly unknown[]): boolean =>
  schema?.inputs?.some(({ kind }, i) => kind === 'single' && inputs[i] === undefined) ?? false
