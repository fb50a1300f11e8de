import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { defaultLimits, type Limits } from '../graph/limits.ts'
import { onnx, type RootMessages } from './schema.js'
import { skim, type Skimmed } from './skim.ts'

/** A decoded file: its root message, and what the skim noted. */
export interface Decoded<K extends keyof RootMessages> extends Pick<Skimmed, 'payloads' | 'dropped'> {
  readonly message: RootMessages[K]
}

/** Where the decoder stops by itself; it starts to count so far below that the limit for messages is met first. */
const DECODER_DEPTH = 100

/**
 * Skims a file and decodes what the skim leaves.
 * @throws NodewiseError `invalid-file`, `limit-exceeded`
 */
export function decode<K extends keyof RootMessages>(
  source: ByteSource,
  root: K,
  limits: Limits = defaultLimits()
): Decoded<K> {
  const { skeleton, payloads, dropped } = skim(source, root, limits)
  try {
    return {
      message: onnx[root].decode(
        skeleton,
        undefined,
        undefined,
        DECODER_DEPTH - limits.messageDepth
      ) as RootMessages[K],
      payloads,
      dropped
    }
  } catch (error) {
    // The skim has checked the structure; what may be left is a number that the decoder does not take.
    return fail('invalid-file', `it cannot be decoded as ${root}: ${(error as Error).message}`)
  }
}
