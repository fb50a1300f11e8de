import { fail } from '../errors.ts'
import type { TensorFact } from '../shapes/fact.ts'
import { type DType, dtypesOf } from '../tensor/dtype.ts'

/** What OpenVINO's pages call floating-point types in arithmetic; 8-bit and 4-bit floats are for storing. */
export const FLOATS: readonly DType[] = ['float32', 'float64', 'float16', 'bfloat16']
/** Integers of whole bytes; narrower ones are for storing. */
export const INTEGERS: readonly DType[] = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
export const NUMERIC: readonly DType[] = [...FLOATS, ...INTEGERS]
/** Types of axes, indices and sizes where a page says "any integer type". */
export const INDEX_TYPES: readonly DType[] = dtypesOf('int', 'uint')

/** The tensors of a variadic operand by name, for {@link commonType}: `input 0`, `input 1` … */
export const numbered = (name: string, facts: readonly TensorFact[]): Record<string, TensorFact> =>
  Object.fromEntries(facts.map((fact, i) => [`${name} ${i}`, fact]))

/**
 * The one type of operands that must agree; undefined when none is known. Operands by the names that the message is to
 * have.
 * @throws NodewiseError `type-mismatch`
 */
export function commonType(operands: Readonly<Record<string, TensorFact | undefined>>): DType | undefined {
  let common: DType | undefined
  let known = ''
  for (const name in operands) {
    const fact = operands[name]
    if (fact?.type === undefined) continue
    if (common !== undefined && common !== fact.type) {
      fail('type-mismatch', `${name} has type ${fact.type} and ${known} ${common}; they must be the same`)
    }
    common = fact.type
    known = name
  }
  return common
}
