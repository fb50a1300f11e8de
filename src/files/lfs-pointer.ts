import { fail } from '../errors.ts'
import type { ByteSource } from './byte-source.ts'

/** A pointer is shorter than this (specification of Git LFS, "The Pointer"). */
const POINTER_BYTES = 1024

/** What a pointer of Git LFS is, in words; undefined for any other text. */
export function pointerIn(text: string): string | undefined {
  const size = /^version https:\/\/git-lfs[^]*?\bsize (\d+)/.exec(text)?.[1]
  return size === undefined ? undefined : `a pointer of Git LFS to a file of ${size} bytes, not the file itself`
}

/** How to get what a pointer stands for. */
export const PULL = 'get the file with git lfs pull'

/**
 * A file of weights as it is. A clone without Git LFS has the model and, in place of the weights, a pointer, whose text
 * would be read as numbers where a constant is small enough to lie within it.
 * @throws NodewiseError `invalid-file` for a pointer
 */
export function weightsIn<Source extends ByteSource | undefined>(source: Source): Source {
  if (source === undefined || source.remote || source.size >= POINTER_BYTES) return source
  const pointer = pointerIn(String.fromCharCode(...source.read(0, source.size)))
  return pointer === undefined ? source : fail('invalid-file', `${source.name} is ${pointer}; ${PULL}`)
}
