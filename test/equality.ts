import { expect } from 'vitest'

/** Whether arrays hold the same numbers, bigints or booleans one by one; undefined where Vitest has to look. */
function sameList(a: readonly unknown[], b: readonly unknown[]): true | undefined {
  if (a.length !== b.length) return undefined
  for (let i = 0; i < a.length; i++) {
    const kind = typeof a[i]
    if ((kind !== 'number' && kind !== 'bigint' && kind !== 'boolean') || !Object.is(a[i], b[i])) return undefined
  }
  return true
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * Sees that arrays are equal without a key, an iterator and two calls for each element, as Vitest compares them: these
 * took a fifth of the time of the operators' tests. What is not equal here, or not of one kind, is left to Vitest.
 */
function sameElements(a: unknown, b: unknown): true | undefined {
  if (Array.isArray(a)) return Array.isArray(b) ? sameList(a, b) : undefined
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined
  return a.byteLength === b.byteLength && Buffer.compare(bytesOf(a), bytesOf(b)) === 0 ? true : undefined
}

// Files that share a process share its testers.
const told = globalThis as { hasFastEquality?: true }
if (!told.hasFastEquality) expect.addEqualityTesters([sameElements])
told.hasFastEquality = true
