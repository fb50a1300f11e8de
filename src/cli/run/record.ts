import { extname } from 'node:path'
import type { BoundGraph } from '../../bind/call.ts'
import { foldedSteps, type Made } from '../../compare/meeting.ts'
import { type MadeValue, recordedName, sideOf } from '../../compare/side.ts'
import { NodewiseError } from '../../errors.ts'
import { Recorder } from '../../io/recording.ts'
import { tensorParts } from '../../io/save.ts'
import type { Session } from '../../runtime/session.ts'
import type { Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { namePattern } from '../name-pattern.ts'
import { isMeasured, type MeasureFlags } from './measured-runs.ts'

export interface RecordFlags extends MeasureFlags {
  readonly record?: string
  readonly recordMatch?: readonly string[]
}

/** A run that is being recorded. */
export interface Recorded {
  readonly onStep: (step: Made) => void
  /** The run has come to its end: the file is there from now on. */
  end(): void
  /** Leaves no file behind where {@link end} has not been called. */
  discard(): void
}

/**
 * Begins to write every value of a run into the archive of `--record`: inputs, what is known before the run, then what
 * the nodes make. Nothing of it stays in memory.
 * @throws NodewiseError `bad-usage`, `write-failed`
 */
export function startRecording(
  session: Session,
  bound: BoundGraph,
  feeds: Readonly<Record<string, Value>>,
  flags: RecordFlags
): Recorded | undefined {
  const { record: path, recordMatch, warmup } = flags
  if (path === undefined)
    return recordMatch === undefined ? undefined : badUsage('--record-match says what --record writes')
  if (extname(path).toLowerCase() !== '.npz') badUsage(`--record ${path}: values are recorded in an .npz`)
  if (isMeasured(flags) || warmup !== undefined) badUsage('--record takes one run, not repeated ones')
  const side = sideOf(session.model, bound)
  const isWanted = wanted(recordMatch)
  const iterations = new Map<MadeValue, number>()
  const recorder = new Recorder(path)
  const add = (name: string, value: Value): void => {
    for (const part of tensorParts(name, value)) recorder.add(part.name, part.tensor)
  }
  const take = ({ node, outputs }: Made): void =>
    side.made.get(node)?.forEach((value, i) => {
      const output = outputs[i]
      if (value === undefined || output === undefined) return
      const iteration = iterations.get(value) ?? 0
      iterations.set(value, iteration + 1)
      if (isWanted(value.name, node.name)) add(recordedName(value, iteration), output)
    })
  try {
    for (const [name, value] of Object.entries(feeds)) if (isWanted(name, name)) add(name, value)
    for (const step of foldedSteps(side, session.propagation())) take(step)
  } catch (error) {
    recorder.discard()
    throw error
  }
  return {
    onStep: take,
    end() {
      if (recorder.size === 0)
        throw new NodewiseError('unexpected-input', `--record-match: no value that the run made has such a name`)
      recorder.end()
    },
    discard: () => recorder.discard()
  }
}

/** Whether one of the patterns matches a name. */
function wanted(patterns: readonly string[] | undefined): (...names: readonly string[]) => boolean {
  const tests = patterns?.map(namePattern)
  return (...names) => tests === undefined || tests.some(test => names.some(test))
}
