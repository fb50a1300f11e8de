import type { Node, ValueId } from '../graph/graph.ts'
import type { MadeValue } from './scope.ts'

/** Gives out names so that no two are the same: the wanted one, or that with a number. */
export class Names {
  private readonly taken = new Set<string>()
  private readonly copies = new Map<string, number>()

  unique(wanted: string): string {
    let name = wanted
    while (name === '' || this.taken.has(name)) {
      const copy = (this.copies.get(wanted) ?? 1) + 1
      this.copies.set(wanted, copy)
      name = `${wanted}_${copy}`
    }
    this.taken.add(name)
    return name
  }
}

/** The name of the source's node for the node that gives its outputs; the others are called after their type, too. */
export function nodeName({ name, type, outputs }: Node, values: ReadonlyMap<ValueId, MadeValue>): string {
  const named = outputs.flatMap(id => (id === undefined ? [] : (values.get(id)?.names ?? []))).at(0)
  if (name === '') return named ?? type
  return named === undefined ? `${name}/${type}` : name
}
