import type { PlanGraph } from './graph.ts'

/** A change of a plan graph that keeps what the wanted values are. */
export interface Pass {
  readonly name: string
  /** Passes that must have run before. */
  readonly requires: readonly string[]
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
 * Runs passes in their order, but for those that would find nothing once more, since no pass has changed the graph
 * meanwhile. A pass that comes before one it requires is a mistake in the list.
 */
export function runPasses(graph: PlanGraph, passes: readonly Pass[], progress: Progress = new Progress()): void {
  for (const pass of passes) {
    const missing = pass.requires.find(name => !progress.done.has(name))
    if (missing !== undefined) throw new Error(`pass ${pass.name} requires ${missing}, which has not run`)
    if (progress.idle.get(pass) === progress.changes) continue
    if (pass.run(graph)) progress.changes++
    else progress.idle.set(pass, progress.changes)
    progress.done.add(pass.name)
  }
}
