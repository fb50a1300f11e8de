import type { Instance } from '../engine/instance.ts'
import { joinKey, rowsOf } from '../engine/join.ts'
import type { Done, Item, Runner, RunTimes } from '../engine/messages.ts'
import { Refusal, refusalFrom } from '../refusal.ts'
import { Pace } from './pace.ts'
import type { InferRequest, Outputs } from './request.ts'
import { type FailureReason, Statistics } from './statistics.ts'

/** How a queue treats its requests. */
export interface QueueOptions {
  /** Requests that may wait. */
  readonly maxQueue: number
  /** Milliseconds that a request may take where it has no deadline; 0: as long as it takes. */
  readonly timeout: number
}

interface Entry {
  readonly item: Item
  /** What it must have in common with others to be joined with them; undefined where it is joined with none. */
  readonly key: string | undefined
  readonly rows: number
  readonly arrived: number
  started: number
  readonly resolve: (outputs: Outputs) => void
  readonly reject: (error: Refusal) => void
  /** Whether it has been answered or refused. */
  isOver: boolean
  /** Forgets its timer and its listener. */
  readonly settle: () => void
}

/** Requests that are sent to an engine at once. */
const MAX_GROUP = 16

/** Requests that are sent to an engine at once, and whether they are run as one. */
interface Batch {
  readonly entries: readonly Entry[]
  readonly isJoined: boolean
  /** Of all that are joined. */
  readonly rows: number
}

/** Runs of at most so many milliseconds are sent before the one before them is answered: the way takes as long. */
const SHORT = 2

/**
 * Requests of one version of a model on their way to its instances: first come, first served. A request leaves when it
 * has been answered, when its deadline has passed, or when its client has left; a run that nobody waits for is stopped.
 */
export class Queue {
  readonly statistics = new Statistics()
  private readonly options: QueueOptions
  private entries: Entry[] = []
  private readonly instances = new Set<Instance>()
  /** Why nothing is run for now. */
  private outage: Refusal | undefined
  /** Most requests that are run as one. */
  private maxSize = 1
  /** Milliseconds that a request waits for others. */
  private maxDelay = 0
  private alone: readonly string[] = []
  private delay: NodeJS.Timeout | undefined
  private isDue = false
  /** Runs in this thread what is {@link Pace.isShort}; and what makes it, when there is something of that kind. */
  private near: Runner | undefined
  private makeNear: (() => Promise<Runner>) | undefined
  private readonly pace = new Pace()
  /** Runs under way, and what stops each. */
  private readonly runs = new Map<readonly Entry[], () => void>()
  private idle: (() => void)[] = []

  constructor(options: QueueOptions) {
    this.options = options
  }

  /** Requests that may wait. */
  get maxLength(): number {
    return this.options.maxQueue
  }

  /** Requests that wait. */
  get length(): number {
    return this.entries.length
  }

  /** Most requests that are run as one. */
  get joins(): number {
    return this.maxSize
  }

  /** Whether nothing waits and nothing runs. */
  get isIdle(): boolean {
    return this.entries.length === 0 && this.runs.size === 0
  }

  /**
   * Joins up to `maxSize` requests to one run, for which each waits for at most `maxDelay` milliseconds.
   * @param alone inputs whose first dim need not be the rows: a request that gives one of them is joined with none
   */
  join(maxSize: number, maxDelay: number, alone: readonly string[] = []): void {
    this.maxSize = maxSize
    this.maxDelay = maxDelay
    this.alone = alone
  }

  /** Lets it run in this thread what takes little time: only for models whose work follows from shapes alone. */
  runNear(make: () => Promise<Runner>): void {
    this.makeNear = make
  }

  /** Whether there is no instance, nor one to come soon. */
  get isHalted(): boolean {
    return this.outage !== undefined
  }

  /** Refuses all requests until there is an instance again. */
  halt(refusal: Refusal): void {
    this.outage = refusal
    this.refuseAll(refusal)
    this.settleIdle()
  }

  /** Gives it an instance to run on. */
  add(instance: Instance): void {
    this.outage = undefined
    this.instances.add(instance)
    this.dispatch()
  }

  remove(instance: Instance): void {
    this.instances.delete(instance)
  }

  /** Resolves when all requests that it has now are over. */
  async drained(): Promise<void> {
    if (!this.isIdle) await new Promise<void>(resolve => this.idle.push(resolve))
  }

  /** Refuses all that wait. */
  refuseAll(refusal: Refusal): void {
    for (const entry of this.entries.splice(0)) this.refuse(entry, refusal, 'OTHER')
  }

  /**
   * Runs a request when its turn comes.
   * @param asked names of outputs
   * @throws Refusal (as a rejection) `queue-full`, `deadline-exceeded`, `cancelled`, and what the run fails with
   */
  submit({ feeds, fetches = [], deadline, client }: InferRequest, asked = fetches): Promise<Outputs> {
    const arrived = performance.now()
    const until = deadline ?? (this.options.timeout > 0 ? arrived + this.options.timeout : Infinity)
    return new Promise((resolve, reject) => {
      const item: Item = { feeds, fetches: asked }
      const timers = { deadline: undefined as NodeJS.Timeout | undefined }
      const leave = (): void => this.drop(entry, new Refusal('cancelled', 'the client has left'), 'CANCELED')
      const settle = (): void => {
        clearTimeout(timers.deadline)
        if (client) client.onLeave = undefined
      }
      const mayJoin = this.maxSize > 1 && !this.alone.some(name => name in feeds)
      const rows = mayJoin ? rowsOf(feeds) : undefined
      const key = rows === undefined ? undefined : joinKey(item)
      const entry: Entry = { item, key, rows: rows ?? 0, arrived, started: 0, resolve, reject, isOver: false, settle }
      if (this.entries.length >= this.options.maxQueue) return this.refuse(entry, this.full(), 'REJECTED')
      if (this.outage) return this.refuse(entry, this.outage, 'OTHER')
      const late = (): void => this.drop(entry, tooLate(), 'REJECTED')
      if (client?.hasLeft) return leave()
      if (until <= arrived) return late()
      if (until < Infinity) timers.deadline = setTimeout(late, Math.min(until - arrived, 2 ** 31 - 1))
      if (client) client.onLeave = leave
      this.entries.push(entry)
      this.soon()
    })
  }

  private full(): Refusal {
    const { statistics, entries, instances } = this
    const seconds = (entries.length * statistics.meanRun) / Math.max(1, instances.size) / 1000
    return new Refusal('queue-full', `${entries.length} requests wait for the model; it takes no more now`, {
      retryAfter: Math.max(1, Math.ceil(seconds))
    })
  }

  private refuse(entry: Entry, refusal: Refusal, reason: FailureReason): void {
    if (entry.isOver) return
    entry.isOver = true
    entry.settle()
    this.statistics.failed(performance.now() - entry.arrived, reason)
    entry.reject(refusal)
  }

  /** Refuses a request wherever it is. */
  private drop(entry: Entry, refusal: Refusal, reason: FailureReason): void {
    const at = this.entries.indexOf(entry)
    if (at >= 0) this.entries.splice(at, 1)
    this.refuse(entry, refusal, reason)
    for (const [batch, stop] of this.runs) if (batch.includes(entry) && batch.every(({ isOver }) => isOver)) stop()
    this.settleIdle()
  }

  /** Requests that arrive together are sent together. */
  private soon(): void {
    if (this.isDue) return
    this.isDue = true
    setImmediate(() => {
      this.isDue = false
      this.dispatch()
    })
  }

  private dispatch(): void {
    while (this.entries.length > 0) {
      const group = this.nextGroup()
      if (group === undefined) return
      const runner = this.nearFor(group) ?? this.freeInstance()
      // It ends within this turn of the event loop, and its end calls this again.
      if (runner === undefined || (runner === this.near && runner.load > 0)) return
      const taken = new Set(group.entries)
      this.entries = this.entries.filter(entry => !taken.has(entry))
      void this.run(runner, group)
    }
  }

  /** The runner of this thread, where the requests take little time. */
  private nearFor({ entries: [first], rows }: Batch): Runner | undefined {
    if (first.key === undefined || !this.pace.isShort(first.key, rows)) return undefined
    if (this.makeNear) {
      const make = this.makeNear
      this.makeNear = undefined
      make().then(
        near => (this.near = near),
        // Other threads do run the model.
        () => undefined
      )
    }
    return this.near
  }

  private freeInstance(): Instance | undefined {
    const { executions, meanRun } = this.statistics
    const depth = executions > 0 && meanRun < SHORT ? 2 : 1
    let best: Instance | undefined
    for (const instance of this.instances) if (instance.load < (best?.load ?? depth)) best = instance
    return best
  }

  /** The first request, and those that go with it; undefined where they wait for more to come. */
  private nextGroup(): Batch | undefined {
    const [first] = this.entries
    const { maxSize, maxDelay } = this
    if (first.key === undefined) return { entries: this.entries.slice(0, this.groupSize()), isJoined: false, rows: 0 }
    const alike = this.entries.filter(({ key }) => key === first.key).slice(0, maxSize)
    const waits = maxDelay - (performance.now() - first.arrived)
    if (alike.length < maxSize && waits > 0) {
      this.delay ??= setTimeout(() => {
        this.delay = undefined
        this.dispatch()
      }, waits)
      return undefined
    }
    return { entries: alike, isJoined: alike.length > 1, rows: alike.reduce((sum, { rows }) => sum + rows, 0) }
  }

  /** Requests that are run one after the other, but sent at once where the way takes as long as they. */
  private groupSize(): number {
    const { executions, meanRun } = this.statistics
    const share = Math.ceil(this.entries.length / Math.max(1, this.instances.size))
    return executions > 0 && meanRun < SHORT ? Math.min(MAX_GROUP, share) : 1
  }

  private async run(runner: Runner, { entries: batch, isJoined, rows }: Batch): Promise<void> {
    const started = performance.now()
    for (const entry of batch) entry.started = started
    const { done, stop } = runner.run(
      batch.map(({ item }) => item),
      isJoined
    )
    this.runs.set(batch, stop)
    try {
      const made = await done
      const [{ key }] = batch
      if (key !== undefined) this.pace.note(key, rows, made.times.input + made.times.infer + made.times.output)
      this.answer(batch, isJoined, made)
    } catch (error) {
      for (const entry of batch) this.refuse(entry, error as Refusal, 'BACKEND')
    } finally {
      this.runs.delete(batch)
      this.dispatch()
      this.settleIdle()
    }
  }

  private answer(batch: readonly Entry[], isJoined: boolean, { results, times: all }: Done): void {
    const { statistics } = this
    const times = isJoined ? all : each(all, batch.length)
    if (isJoined) statistics.executed(batch.length, times)
    else for (const _ of batch) statistics.executed(1, times)
    const now = performance.now()
    batch.forEach((entry, i) => {
      const result = results[i]
      if (entry.isOver) return
      if ('refusal' in result) return this.refuse(entry, refusalFrom(result.refusal), 'BACKEND')
      entry.isOver = true
      entry.settle()
      statistics.succeeded(now - entry.arrived, entry.started - entry.arrived, times)
      entry.resolve(result.outputs)
    })
  }

  private settleIdle(): void {
    if (!this.isIdle) return
    for (const resolve of this.idle.splice(0)) resolve()
  }
}

/** Times of one of several runs that took them together. */
const each = ({ input, infer, output }: RunTimes, count: number): RunTimes => ({
  input: input / count,
  infer: infer / count,
  output: output / count
})

const tooLate = (): Refusal => new Refusal('deadline-exceeded', 'the deadline of the request has passed')
