import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NodewiseError } from '../../errors.ts'
import { compareKeys, compareTypes } from '../../io/compare.ts'
import { formatElement } from '../../io/print.ts'
import { dtypeFromName } from '../../tensor/dtype.ts'
import { elementAt } from '../../tensor/elements.ts'
import { kindText } from '../../tensor/map.ts'
import { isTensor, stridesOf, type Tensor, type Value } from '../../tensor/tensor.ts'

/** What stands for an output too big to store. */
interface Digest {
  readonly type?: string
  readonly dims: readonly number[]
  /** SHA-256 of the little-endian bytes, in hexadecimal. */
  readonly sha256: string
  /** Some elements, each with its position. */
  readonly samples?: readonly (readonly [Position, unknown])[]
}

/** One index a dim, or one index into the flat elements. */
type Position = readonly number[] | number

/** Whether JSON stands for an output, and is not the output itself. */
export const isDigest = (json: unknown): boolean => typeof json === 'object' && json !== null && 'sha256' in json

/** How a tensor differs from a digest of the right one, or undefined when it does not. */
export function compareWithDigest(actual: Value, json: unknown, path: string): string | undefined {
  const digest = json as Partial<Digest> | null
  if (!Array.isArray(digest?.dims) || typeof digest.sha256 !== 'string')
    throw new NodewiseError('invalid-file', '{"dims", "sha256", "samples"} is needed', { file: path })
  if (!isTensor(actual)) return `${kindText(actual)}, expected a tensor`
  if (digest.type !== undefined && dtypeFromName(digest.type) !== actual.type)
    return `type ${actual.type}, expected ${digest.type}`
  if (!isDeepStrictEqual(actual.dims, digest.dims))
    return `dims [${actual.dims.join(', ')}], expected [${digest.dims.join(', ')}]`
  const sample = (digest.samples ?? []).find(([position, value]) => !isElement(actual, position, value))
  if (sample) {
    const [position, value] = sample
    const found = formatElement(elementAt(actual, flatPosition(actual, position)))
    return `at ${JSON.stringify(position)}: ${found}, expected ${JSON.stringify(value)}`
  }
  return sha256(actual) === digest.sha256.toLowerCase() ? undefined : 'the SHA-256 of the elements differs'
}

const flatPosition = ({ dims }: Tensor, position: Position): number =>
  typeof position === 'number'
    ? position
    : stridesOf(dims).reduce((sum, stride, axis) => sum + stride * (position[axis] ?? 0), 0)

function isElement(actual: Tensor, position: Position, value: unknown): boolean {
  const element = elementAt(actual, flatPosition(actual, position))
  return typeof element === 'bigint'
    ? element === BigInt(value as number)
    : element === value || JSON.stringify(element) === JSON.stringify(value)
}

function sha256(tensor: Tensor): string {
  const hash = createHash('sha256')
  if (tensor.type === 'string') for (const text of tensor.data) hash.update(text)
  else {
    const { buffer, byteOffset, byteLength } = tensor.data as Uint8Array
    hash.update(new Uint8Array(buffer, byteOffset, byteLength))
  }
  return hash.digest('hex')
}

/** Types and dims of every tensor and keys of every map, whatever the elements: for random values. */
export function compareTypeAndDims(actual: Value, expected: Value): string | undefined {
  if (isTensor(actual) && isTensor(expected)) return compareTypes(actual, expected)
  if (actual.type !== expected.type) return `${kindText(actual)}, expected ${kindText(expected)}`
  if (actual.type === 'sequence' && expected.type === 'sequence') {
    if (actual.values.length !== expected.values.length)
      return `a sequence of ${actual.values.length} values, expected ${expected.values.length}`
    return actual.values
      .map((value, i) => compareTypeAndDims(value, expected.values[i]))
      .find(difference => difference !== undefined)
  }
  if (actual.type === 'map' && expected.type === 'map') return compareKeys(actual, expected)
  if (actual.type !== 'optional' || expected.type !== 'optional') return undefined
  if (actual.value === undefined || expected.value === undefined)
    return actual.value === expected.value ? undefined : 'one is absent, the other is not'
  return compareTypeAndDims(actual.value, expected.value)
}
