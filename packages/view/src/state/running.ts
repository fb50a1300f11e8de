import { batch, signal } from '@preact/signals'
import type { Change } from '../worker/changing.ts'
import type { Filling } from '../worker/inputs.ts'
import { isNotFinite } from '../worker/numbers.ts'
import { CallFailure } from '../worker/rpc.ts'
import type { RunRequest, Step } from '../worker/running.ts'
import type { GivenFile } from '../worker/sources.ts'
import { selectRecord } from './actions.ts'
import * as store from './store.ts'
import { listen, workers } from './workers.ts'

/** How inputs are filled, by name; those that are not there are filled with what integers and floats like best. */
export const fillings = signal<ReadonlyMap<string, Filling>>(new Map())
export const seed = signal(0)
export const stopsAtNan = signal(false)

/** Fills all inputs from an archive that has an array for each: one of NumPy's, or a run that the command recorded. */
export async function fillAll([file]: readonly GivenFile[]): Promise<void> {
  if (!(file?.content instanceof Blob)) return
  const { path: name } = file
  const bytes = new Uint8Array(await file.content.arrayBuffer())
  const inputs = store.opened.value?.overview.inputs ?? []
  fillings.value = new Map(inputs.map(input => [input.name, { how: 'file', name, bytes }]))
}

/** Takes what the engine tells while a model runs. */
export function listenToRuns(): void {
  listen((event, value) => {
    if (event === 'steps') store.steps.value = [...store.steps.value, ...(value as Step[])]
    else if (event === 'paused')
      batch(() => {
        store.runState.value = 'paused'
        store.cursor.value = store.steps.value.length - 1
        if ((value as number) >= 0) void selectRecord(value as number)
      })
    else if (event === 'changed')
      batch(() => {
        store.steps.value = [...store.steps.value.slice(0, -1), value as Step]
        store.changes.value++
      })
    else if (event === 'resumed')
      batch(() => {
        store.runState.value = 'running'
        store.cursor.value = -1
      })
  })
}

/** A run with the inputs that a user has chosen. */
export const requestOf = (stepwise: boolean): RunRequest => ({
  inputs: fillings.value,
  sizes: store.sizes.value,
  seed: seed.value,
  breakpoints: [...store.breakpoints.value],
  stopsAtNan: stopsAtNan.value,
  stepwise
})

/** Runs the model that is open. */
export async function run(stepwise: boolean): Promise<void> {
  batch(() => {
    store.steps.value = []
    store.cursor.value = -1
    store.runFailure.value = undefined
    store.runState.value = 'running'
  })
  try {
    const outcome = await workers().engine.call.run(requestOf(stepwise))
    batch(() => {
      store.outcome.value = outcome
      store.runState.value = 'done'
      store.cursor.value = -1
    })
  } catch (error) {
    batch(() => {
      store.runState.value = 'failed'
      store.runFailure.value = error instanceof CallFailure ? error.failure : undefined
    })
  }
}

/** Puts another value in the place of one that the paused run just made. @returns whether it could be done */
export async function changeValue(value: number, change: Change): Promise<boolean> {
  store.failure.value = undefined
  try {
    await workers().engine.call.change(value, change)
    return true
  } catch (error) {
    if (error instanceof CallFailure) store.failure.value = error.failure
    return false
  }
}

export const stop = (): void => void workers().engine.call.stop()
export const go = (how: 'step' | 'run'): void => void workers().engine.call.go(how)

/** Looks at an earlier or later step. Past the last one of a run that waits, the run goes on by a step. */
export function moveCursor(by: number): void {
  const last = store.steps.value.length - 1
  const at = store.cursor.value < 0 ? last : store.cursor.value
  const next = at + by
  if (next > last) {
    if (store.runState.value === 'paused') go('step')
    return
  }
  if (next < 0) return
  store.cursor.value = next
  const { record } = store.steps.value[next]
  if (record >= 0) void selectRecord(record)
}

/** Sets or removes a breakpoint. */
export function toggleBreakpoint(record: number): void {
  const next = new Set(store.breakpoints.value)
  if (!next.delete(record)) next.add(record)
  store.breakpoints.value = next
}

/** The first step that made NaN or infinities, though no input had any. */
export const firstBad = (): number => store.steps.value.findIndex(({ values }) => values.some(isNotFinite))
