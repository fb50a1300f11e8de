import type { Int64 } from './schema.js'

/** A 64-bit integer of the schema, exact. */
export const bigintOf = ({ low, high }: Int64): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0)

/**
 * A 64-bit integer of the schema as a number: exact up to 2^53, rounded beyond that. Small integers, such as dims, are
 * returned as they are, because the sum would make them doubles for the engine.
 */
export const numberOf = ({ low, high }: Int64): number => (high === 0 && low >= 0 ? low : high * 2 ** 32 + (low >>> 0))

/** Whether a message has a value for a singular field; a field without one reads as the default of the schema. */
export const isSet = (message: object, field: string): boolean => Object.hasOwn(message, field)
