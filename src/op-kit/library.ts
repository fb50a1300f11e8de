import type { Op } from './define.ts'

/** Operators that are found by the types of nodes, so that those which no model names need not be made. */
export interface OpLibrary {
  /** Operators with a version of this type, in whatever dialect and domain; later ones win over earlier ones. */
  ofType(type: string): readonly Op[]
  /** Every operator, in the same order. */
  all(): readonly Op[]
}

/** What a file of operators exports under one name. */
type Exported = Op | readonly Op[]

/** A library of operators that are there already. */
export function libraryOf(ops: readonly Op[]): OpLibrary {
  let byType: Map<string, Op[]> | undefined
  return { all: () => ops, ofType: type => (byType ??= indexed(ops)).get(type) ?? [] }
}

/**
 * A library of operators that are made when a type of theirs is first asked for.
 * @param makers what makes each part, in order
 * @param types which parts have operators of a type, by their places in `makers`, in ascending order
 */
export function lazyLibrary(
  makers: readonly (() => Exported)[],
  types: Readonly<Record<string, readonly number[]>>
): OpLibrary {
  const made: (readonly Op[])[] = []
  const part = (i: number): readonly Op[] => (made[i] ??= [makers[i]()].flat())
  return {
    all: () => makers.flatMap((_, i) => part(i)),
    ofType: type => (Object.hasOwn(types, type) ? types[type].flatMap(part).filter(op => typesOf(op).has(type)) : [])
  }
}

/** One library after another, whose operators win. */
export const joined = (first: OpLibrary, second: OpLibrary): OpLibrary => ({
  all: () => [...first.all(), ...second.all()],
  ofType: type => [...first.ofType(type), ...second.ofType(type)]
})

/** Types of nodes that an operator has versions of, in either dialect. */
const typesOf = ({ name, onnx = [], openvino = [] }: Op): ReadonlySet<string> =>
  new Set([...onnx, ...openvino].map(({ type = name }) => type))

function indexed(ops: readonly Op[]): Map<string, Op[]> {
  const byType = new Map<string, Op[]>()
  for (const op of ops)
    for (const type of typesOf(op)) {
      const known = byType.get(type)
      if (known) known.push(op)
      else byType.set(type, [op])
    }
  return byType
}
