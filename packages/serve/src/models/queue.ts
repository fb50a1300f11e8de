import type { Done, Instance } from '../engine/instance.ts'
import { joinKey, rowsOf } from '../engine/join.ts'
import type { Item } from '../engine/messages.ts'
import { Refusal, refusalFrom } from '../refusal.ts'
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
  readonly key: string | undefined
  readonly arrived: number
  started: number
  readonly resolve: (outputs: Outputs) => void
  readonly reject: (error: Refusal) => void
  /** Whether it has been answered or refused. */
  isOver: boolean
  /** Forgets its timer and its listener. */
  readonly settle: () => void
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
  private readonly entries: Entry[] = []
  private readonly instances = new Set<Instance>()
  /** Most requests that are run as one. */
  private maxSize = 1
  /** Milliseconds that a request waits for others. */
  private maxDelay = 0
  private delay: NodeJS.Timeout | undefined
  /** Runs under way, and what stops each. */
  private readonly runs = new Map<readonly Entry[], () => void>()
  private idle: (() => void)[] = []

  constructor(options: QueueOptions) {
    this.options = options
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

  /** Joins up to `maxSize` requests to one run, for which each waits for at most `maxDelay` milliseconds. */
  join(maxSize: number, maxDelay: number): void {
    this.maxSize = maxSize
    this.maxDelay = maxDelay
  }

  /** Gives it an instance to run on. */
  add(instance: Instance): void {
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
   * @throws Refusal (as a rejection) `queue-full`, `deadline-exceeded`, `cancelled`, and what the run fails with
   */
  submit({ feeds, fetches = [], deadline, signal }: InferRequest): Promise<Outputs> {
    const arrived = performance.now()
    const until = deadline ?? (this.options.timeout > 0 ? arrived + this.options.timeout : Infinity)
    return new Promise((resolve, reject) => {
      const item: Item = { feeds, fetches }
      const timers = { deadline: undefined as NodeJS.Timeout | undefined }
      const leave = (): void => this.drop(entry, new Refusal('cancelled', 'the client has left'), 'CANCELED')
      const settle = (): void => {
        clearTimeout(timers.deadline)
        signal?.removeEventListener('abort', leave)
      }
      const key = this.maxSize > 1 && rowsOf(feeds) !== undefined ? joinKey(item) : undefined
      const entry: Entry = { item, key, arrived, started: 0, resolve, reject, isOver: false, settle }
      if (this.entries.length >= this.options.maxQueue) return this.refuse(entry, this.full(), 'REJECTED')
      const late = (): void => this.drop(entry, tooLate(), 'REJECTED')
      if (signal?.aborted) return leave()
      if (until <= arrived) return late()
      if (until < Infinity) timers.deadline = setTimeout(late, Math.min(until - arrived, 2 ** 31 - 1))
      signal?.addEventListener('abort', leave)
      this.entries.push(entry)
      this.dispatch()
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

  private dispatch(): void {
    while (this.entries.length > 0) {
      const instance = this.freeInstance()
      if (instance === undefined) return
      const batch = this.nextBatch()
      if (batch === undefined) return
      void this.run(instance, batch)
    }
  }

  private freeInstance(): Instance | undefined {
    const { executions, meanRun } = this.statistics
    const depth = executions > 0 && meanRun < SHORT ? 2 : 1
    let best: Instance | undefined
    for (const instance of this.instances) if (instance.load < (best?.load ?? depth)) best = instance
    return best
  }

  /** The first request, and those like it; undefined where they wait for more to come. */
  private nextBatch(): Entry[] | undefined {
    const [first] = this.entries
    const { maxSize, maxDelay } = this
    if (first.key === undefined || maxSize === 1) return this.entries.splice(0, 1)
    const alike = this.entries.filter(({ key }) => key === first.key).slice(0, maxSize)
    const waits = maxDelay - (performance.now() - first.arrived)
    if (alike.length < maxSize && waits > 0) {
      this.delay ??= setTimeout(() => {
        this.delay = undefined
        this.dispatch()
      }, waits)
      return undefined
    }
    for (const entry of alike) this.entries.splice(this.entries.indexOf(entry), 1)
    return alike
  }

  private async run(instance: Instance, batch: readonly Entry[]): Promise<void> {
    const started = performance.now()
    for (const entry of batch) entry.started = started
    const { done, stop } = instance.run(
      batch.map(({ item }) => item),
      batch.length > 1
    )
    this.runs.set(batch, stop)
    try {
      this.answer(batch, await done)
    } catch (error) {
      for (const entry of batch) this.refuse(entry, error as Refusal, 'BACKEND')
    } finally {
      this.runs.delete(batch)
      this.dispatch()
      this.settleIdle()
    }
  }

  private answer(batch: readonly Entry[], { results, times }: Done): void {
    const { statistics } = this
    statistics.executed(batch.length, times)
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

const tooLate = (): Refusal => new Refusal('deadline-exceeded', 'the deadline of the request has passed')
