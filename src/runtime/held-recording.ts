import type { Paced } from '../kernels/core/pace.ts'
import type { Blocks } from './blocks.ts'
import type { Recording } from './recording.ts'
import type { Weights } from './weights.ts'

/** A recording that a session holds, whose memory counts. */
export class HeldRecording {
  /** `none` where there can be none, or while it is made. */
  recording: Recording | 'none' | undefined
  /** How often it has been begun, or let go of. */
  private changes = 0
  private readonly weights: Weights
  private readonly blocks: Blocks

  constructor(weights: Weights, blocks: Blocks) {
    this.weights = weights
    this.blocks = blocks
  }

  /** Whether a run may be taken here, or recorded. */
  get isReady(): boolean {
    const { recording } = this
    return recording !== 'none' && recording?.isRunning !== true
  }

  private get own(): Recording | undefined {
    return this.recording === 'none' ? undefined : this.recording
  }

  /** Bytes that the recording takes, where there is one. */
  get bytes(): number {
    return this.own?.bytes ?? 0
  }

  /**
   * Takes a run that is recorded.
   * @param take gets what has been made of it
   * @param isWanted whether the recording is to be held then
   * @returns undefined where the run cannot be recorded; nobody tries again then
   */
  *made<T>(
    record: () => Paced<Recording | undefined>,
    take: (recording: Recording) => T,
    isWanted: () => boolean = () => true
  ): Paced<T | undefined> {
    // Nobody else records it meanwhile, unless somebody lets go of it, since a constant moves: then another run may.
    this.recording = 'none'
    const own = ++this.changes
    let recording: Recording | 'given up' | undefined = 'given up'
    try {
      recording = yield* record()
    } finally {
      if (recording === 'given up' && this.changes === own) this.recording = undefined
    }
    if (recording === undefined) return undefined
    const result = take(recording)
    for (const block of recording.blocks) this.blocks.keep(block)
    if (isWanted() && this.changes === own) {
      this.weights.otherBytes += recording.bytes
      this.recording = recording
    } else for (const block of recording.blocks) this.blocks.giveUp(block)
    return result
  }

  /** @returns bytes that it held */
  letGo(): number {
    const { own } = this
    this.changes++
    this.recording = undefined
    if (own === undefined) return 0
    for (const block of own.blocks) this.blocks.giveUp(block)
    this.weights.otherBytes -= own.bytes
    return own.bytes
  }
}
