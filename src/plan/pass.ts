import type { PlanGraph } from './graph.ts'

/** A change of a plan graph that keeps what the wanted values are. */
export interface Pass {
  readonly name: string
  /** Passes that must have run before. */
  readonly requires: readonly string[]
  /** Operators without any of which there is nothing to change; left out: there may be in any graph. */
  readonly ops?: readonly string[]
  /** @returns whether it changed the graph */
  run(graph: PlanGraph): boolean
}

/** Which passes have run over a graph. */
export class Progress {
  /** Names of the passes that have run. */
  readonly done = new Set<string>()
  /** How often a pass has changed the graph. */
  changes = 0
  /** {@link changes} when a pass last found nothing to change. */
  readonly idle = new Map<Pass, number>()
}

/**
 * Runs passes in their order, but for those that would find nothing: the graph has none of their operators, or no pass
 * has changed it since they last found nothing. A pass that comes before one it requires is a mistake in the list.
 */
export function runPasses(graph: PlanGraph, passes: readonly Pass[], progress: Progress = new Progress()): void {
  for (const pass of passes) {
    const missing = pass.requires.find(name => !progress.done.has(name))
    if (missing !== undefined) throw new Error(`pass ${pass.name} requires ${missing}, which has not run`)
    progress.done.add(pass.name)
    const isIdle = progress.idle.get(pass) === progress.changes
    if (isIdle || pass.ops?.every(op => !graph.mayHave(op))) continue
    if (pass.run(graph)) progress.changes++
    else progress.idle.set(pass, progress.changes)
  }
}
