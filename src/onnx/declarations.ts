import type { DeclaredType, ValueId } from '../graph/graph.ts'
import { type Building, type GraphParts, STOPS_NOTHING } from './building.ts'
import type { ValueInfoProto } from './schema.js'
import { placeOf } from './structure.ts'
import { contradict, declaredType } from './types.ts'

/** The types that a graph declares for its values. */
export interface Declarations {
  readonly inputs: ReadonlyMap<ValueId, DeclaredType>
  readonly outputs: ReadonlyMap<ValueId, DeclaredType>
  /** From `value_info`. A value whose entries contradict each other is left out. */
  readonly others: ReadonlyMap<ValueId, DeclaredType>
}

/** Reads the declared types of a graph. What is wrong with them is reported at the place of the value. */
export function declarationsOf(parts: GraphParts, building: Building): Declarations {
  const read = ({ name, type }: ValueInfoProto): DeclaredType | undefined =>
    declaredType(type, problem => {
      building.report(
        problem,
        placeOf(name, building),
        problem.code === 'unknown-type' ? { value: name } : STOPS_NOTHING
      )
    })
  const inputs = new Map<ValueId, DeclaredType>()
  for (const info of parts.inputs) addFirst(inputs, info.name, read(info))
  const outputs = new Map<ValueId, DeclaredType>()
  for (const info of parts.outputs) addFirst(outputs, info.name, read(info))
  const others = new Map<ValueId, DeclaredType>()
  const untrusted = new Set<ValueId>()
  for (const info of parts.valueInfo) {
    const type = read(info)
    const earlier = inputs.get(info.name) ?? others.get(info.name)
    if (type && earlier && contradict(type, earlier) && !untrusted.has(info.name)) {
      untrusted.add(info.name)
      const message = `"${info.name}" is declared twice, with types that contradict each other`
      building.report({ code: 'contradicting-types', message }, placeOf(info.name, building), STOPS_NOTHING)
    }
    addFirst(others, info.name, type)
  }
  for (const name of untrusted) others.delete(name)
  return { inputs, outputs, others }
}

function addFirst(types: Map<ValueId, DeclaredType>, name: ValueId, type: DeclaredType | undefined): void {
  if (type && !types.has(name)) types.set(name, type)
}
