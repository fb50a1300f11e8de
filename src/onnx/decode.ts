import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { defaultLimits, type Limits } from '../graph/limits.ts'
import { onnx, type RootMessages } from './schema.js'
import { skim, type Skimmed } from './skim.ts'

/** A decoded file: its root message, and what the skim took out of it. */
export interface Decoded<K extends keyof RootMessages> extends Pick<Skimmed, 'payloads' | 'dropped'> {
  readonly message: RootMessages[K]
}

/**
 * Depth at which the generated decoder fails. It starts to count at `DECODER_DEPTH - limits.messageDepth`, so that it
 * takes every file that the skim takes.
 */
const DECODER_DEPTH = 100

/**
 * Skims a file and decodes the skeleton that the skim leaves.
 * @throws NodewiseError `invalid-file`, `limit-exceeded`
 */
export function decode<K extends keyof RootMessages>(
  source: ByteSource,
  root: K,
  limits: Limits = defaultLimits(),
  keepDocs = false
): Decoded<K> {
  const { skeleton, payloads, dropped } = skim(source, root, limits, keepDocs)
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
    // The skim has checked the structure, but not every number that the decoder refuses.
    return fail('invalid-file', `it cannot be decoded as ${root}: ${(error as Error).message}`)
  }
}
