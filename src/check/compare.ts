import type { DeclaredDim, DeclaredType, Dialect, Finding } from '../graph/graph.ts'
import type { Place } from '../errors.ts'
import { type Dim, mayMatch, maxDim, minDim, printDim, printShape } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { printInterval } from '../shapes/sym.ts'
import { dtypeName } from '../tensor/dtype.ts'

/** Something that a file declares of a value, and where. */
export interface Declaration {
  readonly declared: DeclaredType
  /** How messages call it: `output port 2`, `graph output "y"`. */
  readonly what: string
  readonly place: Place
  /** IR: place of each `<dim>`. */
  readonly dimPlaces?: readonly Place[]
}

/**
 * What is false in a declaration: findings only where no value of the unknowns could satisfy both. Names of dims are labels and
 * say nothing. At most one finding: a wrong rank, a wrong type, or all wrong dims together.
 */
export function contradiction({ declared, what, place, dimPlaces }: Declaration, fact: Fact, dialect: Dialect): Finding | undefined {
  if (declared.kind === 'other') return undefined
  if (declared.kind !== fact.kind) {
    return finding('type-mismatch', `${what} is declared a ${declared.kind}; it is a ${fact.kind}`, declared.kind, fact.kind, place)
  }
  if (declared.kind !== 'tensor') {
    return fact.kind === 'tensor' ? undefined : contradiction({ declared: declared.element, what: `the element of ${what}`, place }, fact.element, dialect)
  }
  if (fact.kind !== 'tensor') return undefined
  if (declared.type !== undefined && fact.type !== undefined && declared.type !== fact.type) {
    const [is, says] = [dtypeName(fact.type, dialect), dtypeName(declared.type, dialect)]
    return finding('type-mismatch', `${what} is declared ${says}; its type is ${is}`, says, is, place)
  }
  if (declared.dims === undefined || fact.shape === undefined) return undefined
  const says = `[${declared.dims.map(printDeclared).join(', ')}]`
  const is = printShape(fact.shape)
  if (declared.dims.length !== fact.shape.length) {
    return finding('rank-mismatch', `${what} is declared ${says}; its dims are ${is}`, says, is, place)
  }
  const wrong = declared.dims.flatMap((dim, i) => dimsAgree(dim, fact.shape![i]) ? [] : [i])
  if (wrong.length === 0) return undefined
  const [first] = wrong
  const message = wrong.length === 1
    ? `dim ${first} of ${what} is declared ${printDeclared(declared.dims[first])}; it is ${printDim(fact.shape[first])}`
    : `${what} is declared ${says}; its dims are ${is}`
  return finding('dims-mismatch', message, says, is, dimPlaces?.[first] ?? place)
}

const finding = (code: string, message: string, declared: string, inferred: string, place: Place): Finding =>
  ({ code, severity: 'error', message, declared, inferred, place })

function dimsAgree(declared: DeclaredDim, dim: Dim): boolean {
  if (declared === null || typeof declared === 'string') return true
  if (typeof declared === 'number') return mayMatch(dim, declared)
  return minDim(dim) <= declared.max && declared.min <= maxDim(dim)
}

/** Whether nothing in a declaration contradicts a fact. */
export const agrees = (declaration: Declaration, fact: Fact): boolean => contradiction(declaration, fact, 'onnx') === undefined

/** A declared dim as text. */
export function printDeclared(dim: DeclaredDim): string {
  if (dim === null) return '?'
  if (typeof dim === 'object') return printInterval(dim.min, dim.max)
  return `${dim}`
}
