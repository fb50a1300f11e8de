import type { RunTimes } from '../engine/messages.ts'

/** How often something happened, and how long it took altogether. */
export interface Duration {
  count: number
  ns: number
}

const none = (): Duration => ({ count: 0, ns: 0 })

function add(duration: Duration, milliseconds: number, count = 1): void {
  duration.count += count
  duration.ns += Math.round(milliseconds * 1e6 * count)
}

/** Of one batch size. */
export interface BatchStatistics {
  readonly compute_input: Duration
  readonly compute_infer: Duration
  readonly compute_output: Duration
}

/** Reasons of failures, as Triton's metric of failures names them. */
export type FailureReason = 'REJECTED' | 'CANCELED' | 'BACKEND' | 'OTHER'

/** What one version of a model has done since it was loaded, with the names of Triton's statistics extension. */
export class Statistics {
  readonly success = none()
  readonly fail = none()
  readonly queue = none()
  readonly compute_input = none()
  readonly compute_infer = none()
  readonly compute_output = none()
  readonly batches = new Map<number, BatchStatistics>()
  readonly failures = new Map<FailureReason, number>()
  /** Milliseconds since 1970 of the last request; 0 for none. */
  lastInference = 0
  /** Requests answered, each with its rows where they were joined. */
  inferences = 0
  /** Runs of the model. */
  executions = 0

  /** A request that was answered. */
  succeeded(milliseconds: number, queued: number, { input, infer, output }: RunTimes): void {
    this.lastInference = Date.now()
    this.inferences++
    add(this.success, milliseconds)
    add(this.queue, queued)
    add(this.compute_input, input)
    add(this.compute_infer, infer)
    add(this.compute_output, output)
  }

  /** A request that was refused or failed. */
  failed(milliseconds: number, reason: FailureReason): void {
    add(this.fail, milliseconds)
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1)
  }

  /** A run of some requests. */
  executed(size: number, times: RunTimes): void {
    this.executions++
    let batch = this.batches.get(size)
    if (!batch) {
      batch = { compute_input: none(), compute_infer: none(), compute_output: none() }
      this.batches.set(size, batch)
    }
    add(batch.compute_input, times.input)
    add(batch.compute_infer, times.infer)
    add(batch.compute_output, times.output)
  }

  /** Milliseconds of a run, on average. */
  get meanRun(): number {
    return this.compute_infer.count === 0 ? 0 : this.compute_infer.ns / this.compute_infer.count / 1e6
  }
}
