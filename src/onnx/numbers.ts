import type { Int64 } from './schema.js'

/** A 64-bit integer of the schema, exact. */
export const bigintOf = ({ low, high }: Int64): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0)

/**
 * The same as a number: exact up to 2^53, beyond that the nearest. Dims are small: added up in doubles, engines would
 * keep them as such.
 */
export const numberOf = ({ low, high }: Int64): number => (high === 0 && low >= 0 ? low : high * 2 ** 32 + (low >>> 0))

/** Whether a message sets a singular field itself; otherwise reading it gives the schema's zero. */
export const isSet = (message: object, field: string): boolean => Object.hasOwn(message, field)
