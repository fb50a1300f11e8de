import type { PlanGraph } from './graph.ts'

/** A change of a plan graph that keeps what the wanted values are. */
export interface Pass {
  readonly name: string
  /** Passes that must have run before. */
  readonly requires: readonly string[]
  /** @returns whether it changed the graph */
  run(graph: PlanGraph): boolean
}

/** Runs passes in their order; a pass that comes before one it requires is a mistake in the list. */
export function runPasses(graph: PlanGraph, passes: readonly Pass[], done: Set<string> = new Set()): void {
  for (const pass of passes) {
    const missing = pass.requires.find(name => !done.has(name))
    if (missing !== undefined) throw new Error(`pass ${pass.name} requires ${missing}, which has not run`)
    pass.run(graph)
    done.add(pass.name)
  }
}
