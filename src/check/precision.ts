import { isCall } from '../bind/call.ts'
import type { DeclaredDim, DeclaredType, Finding, ValueId } from '../graph/graph.ts'
import { type Dim, maxDim, minDim, printShape } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { agrees, type Declaration, printDeclared } from './compare.ts'
import type { GraphCheck } from './walk.ts'

type DeclaredTensor = Extract<DeclaredType, { kind: 'tensor' }>

/**
 * Notes on declarations that are more precise than what can be inferred. Only the first on a path through the graph is
 * noted, not those that follow from it. With `strict` also notes on declarations that are less precise.
 */
export function precisionNotes({ bound, values, declarations }: GraphCheck, strict: boolean): Finding[] {
  const notes: Finding[] = []
  const unproven = new Set<ValueId>()
  const isUnproven = (id: ValueId | undefined): boolean => id !== undefined && unproven.has(id)
  const look = (id: ValueId, follows: boolean): void => {
    const declared = declarations.of(id)
    const fact = declared.length === 0 ? undefined : values.get(id)
    if (fact === undefined) {
      if (follows) unproven.add(id)
      return
    }
    // One of the two is wrong, and it is not known which.
    if (!declared.every(declaration => agrees(declaration, fact))) {
      unproven.add(id)
      return
    }
    // Declarations of consumers repeat that of the producer, so only the first is compared.
    const [declaration] = declared
    const beyond = compare(declaration, fact, saysMore)
    if (beyond && !follows) notes.push(note('unproven-declaration', declaration, fact))
    if (beyond || follows) unproven.add(id)
    if (strict && compare(declaration, fact, saysLess)) notes.push(note('loose-declaration', declaration, fact))
  }
  for (const { value } of bound.graph.inputs) look(value, false)
  for (const item of bound.items) {
    const { node } = item
    const follows = !isCall(item) || node.inputs.some(isUnproven) || node.captures.some(isUnproven)
    for (const id of node.outputs) if (id !== undefined) look(id, follows)
  }
  return notes
}

type Comparison = (declared: DeclaredDim, dim: Dim) => boolean

function compare({ declared }: Declaration, fact: Fact, differs: Comparison): boolean {
  if (declared.kind !== 'tensor' || fact.kind !== 'tensor') return false
  const { dims } = declared
  const { shape } = fact
  if (dims === undefined || shape === undefined)
    return differs === saysMore ? dims !== undefined && shape === undefined : dims === undefined && shape !== undefined
  return dims.some((dim, i) => differs(dim, shape[i]))
}

/** Minimum and maximum of a declared dim. Names are labels and have no bounds. */
const boundsOf = (declared: DeclaredDim): readonly [min: number, max: number] =>
  typeof declared === 'number'
    ? [declared, declared]
    : typeof declared === 'object' && declared !== null
      ? [declared.min, declared.max]
      : [0, Infinity]

const saysMore: Comparison = (declared, dim) => {
  if (declared === dim) return false
  const [min, max] = boundsOf(declared)
  return min > minDim(dim) || max < maxDim(dim)
}

const saysLess: Comparison = (declared, dim) =>
  typeof dim === 'number' ? typeof declared !== 'number' : boundsOf(declared)[1] > maxDim(dim)

function note(code: 'unproven-declaration' | 'loose-declaration', declaration: Declaration, fact: Fact): Finding {
  const { declared } = declaration
  const { what, place } = declaration.where()
  const says = printDims(declared as DeclaredTensor)
  const is = fact.kind === 'tensor' && fact.shape !== undefined ? printShape(fact.shape) : '[...]'
  const message =
    code === 'loose-declaration'
      ? `${what} is declared ${says}; its dims are known to be ${is}`
      : is === '[...]'
        ? `${what} is declared ${says}; its rank cannot be worked out`
        : `${what} is declared ${says}; only ${is} follows from the file`
  return { code, severity: 'note', message, declared: says, inferred: is, place }
}

const printDims = ({ dims }: DeclaredTensor): string =>
  dims === undefined ? '[...]' : `[${dims.map(printDeclared).join(', ')}]`
