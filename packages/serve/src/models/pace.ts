/** Runs of at most so many milliseconds count as short: that is what the way to another thread and back costs. */
const SHORT = 0.5
/** The same for the first runs, which take several times as long as those that are compiled. */
const SHORT_AT_FIRST = 1.5
const FIRST_RUNS = 500
/** Kinds of runs that are told apart; more are never short. */
const MAX_KINDS = 256
/** What the estimate grows by with each run that is slower than it: so it follows a model that has become slower. */
const GROWTH = 1.01

/**
 * How long runs take, by their names, types and dims, and how many rows they have, to a power of two. It is for models
 * whose work follows from the shapes of their inputs alone. The estimate is the fastest of recent runs: what else the
 * machine does makes a run slower, never faster.
 */
export class Pace {
  private readonly kinds = new Map<string, { milliseconds: number; runs: number }>()

  /** @param milliseconds that a run took */
  note(key: string, rows: number, milliseconds: number): void {
    const kind = this.kinds.get(kindOf(key, rows))
    if (kind) {
      kind.milliseconds = Math.min(milliseconds, kind.milliseconds * GROWTH)
      kind.runs++
    } else if (this.kinds.size < MAX_KINDS) this.kinds.set(kindOf(key, rows), { milliseconds, runs: 1 })
  }

  /** Whether such runs were made, and took little time. */
  isShort(key: string, rows: number): boolean {
    const { milliseconds = Infinity, runs = 0 } = this.kinds.get(kindOf(key, rows)) ?? {}
    return milliseconds <= (runs < FIRST_RUNS ? SHORT_AT_FIRST : SHORT)
  }
}

/** Runs of 9 to 16 rows are one kind. */
const kindOf = (key: string, rows: number): string => `${Math.ceil(Math.log2(Math.max(1, rows)))} ${key}`
