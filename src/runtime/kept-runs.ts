import type { Plan } from '../plan/plan.ts'
import type { HeldRecording } from './held-recording.ts'
import type { Parted } from './lookups-first.ts'
import { agrees, areSame, type Given, type Signature } from './signature.ts'

/** A plan without the steps that are spared, and what it holds instead. */
export interface SparedPlan {
  readonly plan: Plan
  readonly bytes: number
  /** Values on the heap. */
  readonly blocks: readonly ArrayBufferView[]
}

/** What is kept for runs of one signature: the steps that are left, and the values with which they start. */
export interface Kept extends SparedPlan {
  readonly signature: Signature
  /** A run of these steps. */
  readonly held: HeldRecording
  /** The steps before those that are recorded, and these; made when a run is first to be recorded. */
  parted?: Parted
  /** Runs of it that none of the same signature came before. */
  uses: number
  /** Whether its recording takes so little memory that others may be held; found out then. */
  isLight?: boolean
}

/** Signatures that are known at most: as many as lengths of short texts. */
const MAX_SIGNATURES = 64
/** Steps that are kept for all signatures at most, each with what it has prepared, about a kilobyte. */
const MAX_STEPS = 1 << 13
/** Bytes of values that are kept for all signatures at most, where there are several. */
const MAX_BYTES = 1 << 24
/** Uses of something kept before one is recorded, which takes as long as is gained by so many. */
const MIN_USES = 4
/** Bytes of recordings from which on no further one is made for a signature that does not follow itself. */
const MAX_RECORDINGS = 1 << 25

/** What is kept for runs of several signatures that come again and again, such as texts of the same lengths. */
export class KeptRuns {
  /** The last used last. */
  private list: readonly Kept[] = []
  /** Signatures of runs before, the last one last. */
  private seen: readonly Signature[] = []

  /** What is kept for the signature of these values. */
  of(given: Given): Kept | undefined {
    return this.list.find(({ signature }) => agrees(signature, given))
  }

  has(kept: Kept): boolean {
    return this.list.includes(kept)
  }

  /** Whether a run of something kept may be taken from a recording of it, or be the one that is recorded. */
  mayRepeat(kept: Kept): boolean {
    if (!kept.held.isReady || !this.has(kept)) return false
    if (kept.held.bytes > 0) return true
    return kept.uses > MIN_USES && kept.isLight !== false && this.recordedBytes < MAX_RECORDINGS
  }

  private get recordedBytes(): number {
    return this.list.reduce((sum, { held }) => sum + held.bytes, 0)
  }

  /** Lets go of recordings, which are made anew. */
  forgetRecordings(): void {
    for (const { held } of this.list) held.letGo()
  }

  /** Whether a run had this signature before, as far as is known; from now on one had. */
  sees(signature: Signature): boolean {
    const others = this.seen.filter(other => !areSame(other, signature))
    const isKnown = others.length < this.seen.length
    this.seen = [...others, signature].slice(-MAX_SIGNATURES)
    return isKnown
  }

  /** Notes that something is used, or kept. @returns what is no longer kept for that */
  use(kept: Kept): readonly Kept[] {
    const before = this.list.filter(({ signature }) => !areSame(signature, kept.signature))
    const list = [kept]
    let [steps, bytes] = [kept.plan.steps.length, kept.bytes]
    for (const other of before.toReversed()) {
      steps += other.plan.steps.length
      bytes += other.bytes
      if (list.length === MAX_SIGNATURES || steps > MAX_STEPS || bytes > MAX_BYTES) break
      list.unshift(other)
    }
    const gone = this.list.filter(other => !list.includes(other))
    this.list = list
    return gone
  }

  /** @returns all that was kept */
  clear(): readonly Kept[] {
    const { list } = this
    this.list = []
    this.seen = []
    return list
  }
}
