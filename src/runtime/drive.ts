import { NodewiseError } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { clock, MAX_DELAY, yieldToEventLoop } from '../host.ts'
import type { Paced } from '../kernels/core/pace.ts'

/** Milliseconds that a run may keep the event loop waiting. */
export const TURN = 20

/** Steps between two yields where nobody watches. Light ones take about a microsecond each. */
const STEPS_PER_YIELD = 16

/**
 * Counts the steps of a run, those of bodies too, so that it yields now and then. A run of a body counts as one: a loop
 * is to yield also where its body has no steps.
 */
export class StepCounter {
  private count = 0

  /** Counts a step. @returns whether it is time to yield */
  isDue(): boolean {
    return ++this.count % STEPS_PER_YIELD === 0
  }
}

/** When a run is to be given up. */
export interface Patience {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that the run may take. */
  readonly timeout?: number | undefined
}

/** Says whether a run is to be given up, and throws `aborted` then. */
export type Deadline = () => void

export const abortedBy = ({ reason }: AbortSignal): NodewiseError =>
  new NodewiseError('aborted', 'the run was aborted', {}, {}, { cause: reason })

/** @returns a deadline that counts from now; undefined where nothing ends the run early */
export function deadlineOf({ signal, timeout }: Patience): Deadline | undefined {
  if (signal === undefined && timeout === undefined) return undefined
  const end = timeout === undefined ? Infinity : clock() + timeout
  return () => {
    if (signal?.aborted) throw abortedBy(signal)
    if (clock() > end) throw new NodewiseError('aborted', `the run took more than ${timeout} ms (timeout)`)
  }
}

/** The signal for what a run waits for: it says so when the run is to be given up. Counts from now. */
export function signalOf({ signal, timeout }: Patience): () => AbortSignal | undefined {
  if (timeout === undefined) return () => signal
  const end = clock() + timeout
  // Both are kept with the run: Node 20 collects a timeout that only `any` knows, and then nothing ends the wait.
  let late: AbortSignal | undefined
  let either: AbortSignal | undefined
  return () => {
    late ??= AbortSignal.timeout(Math.min(MAX_DELAY, Math.max(0, Math.ceil(end - clock()))))
    either ??= signal ? AbortSignal.any([signal, late]) : late
    return either
  }
}

interface Failure {
  readonly error: unknown
}

/**
 * Waits for a promise that a step has yielded. A rejection is to be thrown into the run where the promise was yielded,
 * so that the step can clean up and the error gets the place of its node.
 */
export const failureOf = (promise: Promise<void>): Promise<Failure | undefined> =>
  promise.then(
    () => undefined,
    (error: unknown) => ({ error })
  )

/** Runs steps to their end; the event loop gets a turn whenever {@link TURN} has passed. */
export async function drive<T>(model: Model, steps: Paced<T>, patience: Patience): Promise<T> {
  const deadline = deadlineOf(patience)
  // Most runs end before the clock matters.
  let last: number | undefined
  let failure: Failure | undefined
  try {
    for (;;) {
      deadline?.()
      const step = failure ? steps.throw(failure.error) : steps.next()
      failure = undefined
      if (step.done) return step.value
      last ??= clock()
      if (step.value) failure = await failureOf(step.value)
      else if (clock() - last < TURN) continue
      else await yieldToEventLoop()
      last = clock()
    }
  } catch (error) {
    // Frees what the run holds, where it did not end by itself.
    steps.return(undefined as never)
    throw locatedIn(model, error)
  }
}

/** An error with the model's file, and with line and column where the file has lines. */
export function locatedIn(model: Model, error: unknown): unknown {
  if (!(error instanceof NodewiseError)) return error
  const failure = error.at({ file: model.file })
  return failure.place.file === model.file ? failure.movedTo(model.locate(failure.place)) : failure
}
