import { fail } from '../errors.ts'
import { DTYPES } from './dtype.ts'
import type { Tensor } from './tensor.ts'

/**
 * Readers are called from JavaScript too, with anything. The bytes may be of another realm, as those of a test runner.
 * @throws NodewiseError `bad-usage` for what are no bytes
 */
export function requireBytes(bytes: unknown): void {
  if (Object.prototype.toString.call(bytes) !== '[object Uint8Array]')
    fail('bad-usage', `the bytes of a file are a Uint8Array, not ${kindOf(bytes)}`)
}

/** @throws NodewiseError `bad-usage` for what is no text */
export function requireText(text: unknown): void {
  if (typeof text !== 'string') fail('bad-usage', `a text is expected, not ${kindOf(text)}`)
}

/**
 * What has the form of a tensor will do.
 * @throws NodewiseError `bad-usage` for what is no tensor
 */
export function requireTensor(tensor: unknown): void {
  if (hasFormOfTensor(tensor)) return
  const type = typeof tensor === 'object' && tensor !== null && 'type' in tensor ? tensor.type : undefined
  fail(
    'bad-usage',
    `a tensor is expected, not ${typeof type === 'string' ? `what is of type "${type}"` : kindOf(tensor)}`
  )
}

/**
 * Whether a value is one tensor: no sequence, optional or map, and nothing else that has not the form of a tensor.
 * Users have it as `isTensor`; the one of ./tensor.ts is for what is known to be a value.
 */
export function hasFormOfTensor(value: unknown): value is Tensor {
  if (typeof value !== 'object' || value === null) return false
  const { type, dims, data } = value as Readonly<Record<string, unknown>>
  return typeof type === 'string' && Object.hasOwn(DTYPES, type) && isList(dims) && isList(data)
}

const isList = (what: unknown): boolean => Array.isArray(what) || ArrayBuffer.isView(what)

/** `null`, `string`, `ArrayBuffer`: what there is in place of what was expected. */
const kindOf = (what: unknown): string =>
  typeof what === 'object' && what !== null
    ? Object.prototype.toString.call(what).slice(8, -1)
    : String(what === null ? what : typeof what)
