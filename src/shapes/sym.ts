/**
 * Symbolic integers: polynomials with integer coefficients over names and opaque atoms, in a normal form in which
 * equal expressions have equal keys (`2*n` and `n+n`). Every expression has bounds.
 */

/** What opaque results are made by; `broadcast` is the dim that NumPy's rules make of two. */
export type Operation = 'floor' | 'trunc' | 'mod' | 'min' | 'max' | 'broadcast'

/** An unknown that polynomials are made of: a named dim, or an opaque result such as `floor(n/2)`. */
export interface Atom {
  readonly key: string
  readonly text: string
  readonly min: number
  readonly max: number
  /** No name: nothing but its bounds is known. */
  readonly fresh: boolean
  /** Of an opaque result: what it is made of. Its key holds the keys of both. */
  readonly made?: { readonly by: Operation; readonly a: Int; readonly b: Int }
}

export interface Term {
  readonly coefficient: bigint
  /** Sorted by key; empty for the constant term. */
  readonly atoms: readonly Atom[]
}

/** A symbolic integer. `min` and `max` are inclusive and may be infinite. */
export interface Sym {
  readonly terms: readonly Term[]
  readonly key: string
  readonly min: number
  readonly max: number
}

/** An exact integer, known or symbolic. */
export type Int = bigint | Sym

/** Beyond this an expression is replaced by a fresh unknown with its bounds. */
const MAX_TERMS = 32
const MAX_DEGREE = 8

let freshCount = 0

/** A symbol with this name: two with one name are the same integer. */
export const named = (name: string, min = 0, max = Infinity): Sym =>
  fromAtom({ key: PLAIN_NAME.test(name) ? name : JSON.stringify(name), text: name, min, max, fresh: false })

/** Other names could be taken for an expression (`a+b`, `?1`). */
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.]*$/u

/** An unknown that equals nothing but itself. */
export function fresh(min = -Infinity, max = Infinity): Sym {
  const id = `?${freshCount++}`
  return fromAtom({ key: id, text: id, min, max, fresh: true })
}

export const isSym = (value: unknown): value is Sym => typeof value === 'object' && value !== null && 'terms' in value

export const fromAtom = (atom: Atom): Sym => ({
  terms: [{ coefficient: 1n, atoms: [atom] }],
  key: atom.key,
  min: atom.min,
  max: atom.max
})

const termsOf = (value: Int): readonly Term[] =>
  typeof value === 'bigint' ? (value === 0n ? [] : [{ coefficient: value, atoms: [] }]) : value.terms

const termKey = (atoms: readonly Atom[]): string => atoms.map(atom => atom.key).join('*')

/** Sums equal monomials and puts them in order: higher degree first, then by key. */
function normalize(terms: readonly Term[]): Int {
  if (terms.length === 1) return monomial(terms[0])
  const sums = new Map<string, { coefficient: bigint; atoms: readonly Atom[] }>()
  for (const term of terms) {
    const key = termKey(term.atoms)
    const sum = sums.get(key)
    if (sum) sum.coefficient += term.coefficient
    else sums.set(key, { ...term })
  }
  const kept = [...sums].filter(([, term]) => term.coefficient !== 0n)
  if (kept.length === 0) return 0n
  if (kept.length === 1 && kept[0][1].atoms.length === 0) return kept[0][1].coefficient
  kept.sort(([a, x], [b, y]) => y.atoms.length - x.atoms.length || (a < b ? -1 : 1))
  const sorted = kept.map(([, term]) => term)
  const [min, max] = boundsOf(sorted)
  if (sorted.length > MAX_TERMS || sorted.some(term => term.atoms.length > MAX_DEGREE)) return within(fresh(min, max))
  const key = kept
    .map(([atoms, term]) =>
      atoms === '' ? `${term.coefficient}` : term.coefficient === 1n ? atoms : `${term.coefficient}*${atoms}`
    )
    .join('+')
  return within({ terms: sorted, key, min, max })
}

function monomial(term: Term): Int {
  const { coefficient, atoms } = term
  if (coefficient === 0n || atoms.length === 0) return coefficient
  const [min, max] = boundsOf([term])
  if (atoms.length > MAX_DEGREE) return within(fresh(min, max))
  const key = termKey(atoms)
  return within({ terms: [term], key: coefficient === 1n ? key : `${coefficient}*${key}`, min, max })
}

/** An expression whose bounds meet is that number. */
const within = (sym: Sym): Int => (sym.min === sym.max && Number.isSafeInteger(sym.min) ? BigInt(sym.min) : sym)

function boundsOf(terms: readonly Term[]): [number, number] {
  let low = 0
  let high = 0
  for (const { coefficient, atoms } of terms) {
    let range: [number, number] = [Number(coefficient), Number(coefficient)]
    for (const atom of atoms) range = multiplyBounds(range, [atom.min, atom.max])
    low += range[0]
    high += range[1]
  }
  return [safe(low, -Infinity), safe(high, Infinity)]
}

/** A bound as far as doubles are exact. */
const safe = (bound: number, beyond: number): number => (Number.isSafeInteger(bound) ? bound : beyond)

function multiplyBounds([a, b]: [number, number], [c, d]: [number, number]): [number, number] {
  const product = (x: number, y: number): number => (x === 0 || y === 0 ? 0 : x * y)
  const all = [product(a, c), product(a, d), product(b, c), product(b, d)]
  return [Math.min(...all), Math.max(...all)]
}

export const minOf = (value: Int): number => (typeof value === 'bigint' ? Number(value) : value.min)
export const maxOf = (value: Int): number => (typeof value === 'bigint' ? Number(value) : value.max)

export function add(a: Int, b: Int): Int {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a + b
  const sum = normalize([...termsOf(a), ...termsOf(b)])
  // Operands may be known to lie closer than their terms tell.
  return bounded(sum, safe(minOf(a) + minOf(b), -Infinity), safe(maxOf(a) + maxOf(b), Infinity)) ?? sum
}

export function mul(a: Int, b: Int): Int {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? a * b : scaled(b, a)
  if (typeof b === 'bigint') return scaled(a, b)
  const left = termsOf(a)
  const right = termsOf(b)
  if (left.length * right.length > MAX_TERMS * 4)
    return fresh(...multiplyBounds([minOf(a), maxOf(a)], [minOf(b), maxOf(b)]))
  return normalize(
    left.flatMap(x =>
      right.map(y => ({
        coefficient: x.coefficient * y.coefficient,
        atoms: [...x.atoms, ...y.atoms].sort((p, q) => (p.key < q.key ? -1 : p.key > q.key ? 1 : 0))
      }))
    )
  )
}

const scaled = (a: Sym, factor: bigint): Int =>
  factor === 1n ? a : normalize(a.terms.map(({ coefficient, atoms }) => ({ coefficient: coefficient * factor, atoms })))

export const neg = (a: Int): Int => mul(a, -1n)
export const sub = (a: Int, b: Int): Int => add(a, neg(b))

/** Rounds toward minus infinity. Division by zero gives an unknown. */
export function floorDiv(a: Int, b: Int): Int {
  if (b === 0n) return fresh()
  if (typeof a === 'bigint' && typeof b === 'bigint') return floorDivExact(a, b)
  if (b === 1n) return a
  const exact = divideExactly(a, b)
  if (exact !== undefined) return exact
  if (typeof b === 'bigint') {
    const [multiple, rest] = splitMultiple(a, b)
    if (multiple !== 0n) return add(floorDiv(multiple, b), floorDiv(rest, b))
  }
  const [min, max] = divisionBounds(a, b)
  return opaque('floor', a, b, '/', min, max)
}

/** The part of `a` that `b` divides, constants as far as they go, and the rest. */
function splitMultiple(a: Int, b: bigint): [Int, Int] {
  const whole = termsOf(a).map(({ coefficient, atoms }) => ({
    coefficient: atoms.length === 0 ? floorDivExact(coefficient, b) * b : coefficient % b === 0n ? coefficient : 0n,
    atoms
  }))
  const multiple = normalize(whole)
  return [multiple, sub(a, multiple)]
}

const floorDivExact = (a: bigint, b: bigint): bigint => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)

/** Rounds up. By a positive number it is a floor too, so that equal quotients have equal keys. */
export const ceilDiv = (a: Int, b: Int): Int =>
  divideExactly(a, b) ?? (typeof b === 'bigint' && b > 0n ? floorDiv(add(a, b - 1n), b) : neg(floorDiv(neg(a), b)))

/** Rounds toward zero, as integer division of C and ONNX does. */
export function truncDiv(a: Int, b: Int): Int {
  if (b === 0n) return fresh()
  if (typeof a === 'bigint' && typeof b === 'bigint') return a / b
  const sameSign = (minOf(a) >= 0 && minOf(b) > 0) || (maxOf(a) <= 0 && maxOf(b) < 0)
  if (sameSign || divideExactly(a, b) !== undefined) return floorDiv(a, b)
  if ((maxOf(a) <= 0 && minOf(b) > 0) || (minOf(a) >= 0 && maxOf(b) < 0)) return ceilDiv(a, b)
  const bound = Math.max(Math.abs(minOf(a)), Math.abs(maxOf(a)))
  return opaque('trunc', a, b, '/', -bound, bound)
}

/** The remainder with the sign of the divisor (Python's `%`). */
export function floorMod(a: Int, b: Int): Int {
  if (b === 0n) return fresh()
  if (typeof a === 'bigint' && typeof b === 'bigint') return a - floorDivExact(a, b) * b
  const exact = divideExactly(a, b)
  if (exact !== undefined) return 0n
  if (minOf(a) >= 0 && minOf(b) > maxOf(a)) return a
  const max = maxOf(b) > 0 ? maxOf(b) - 1 : 0
  const min = minOf(b) < 0 ? minOf(b) + 1 : 0
  return opaque('mod', a, b, ',', min, max)
}

/** The quotient when every term of `a` is a multiple of `b`: all of it for a number, one monomial for a symbol. */
function divideExactly(a: Int, b: Int): Int | undefined {
  if (b === 0n || (typeof a === 'bigint' && typeof b === 'bigint' && a % b !== 0n)) return undefined
  const divisor = termsOf(b)
  if (divisor.length !== 1) return isSym(a) && isSym(b) && a.key === b.key && nonZero(b) ? 1n : undefined
  const [{ coefficient, atoms }] = divisor
  if (atoms.length > 0 && !nonZero(b)) return undefined
  const quotient: Term[] = []
  for (const term of termsOf(a)) {
    if (term.coefficient % coefficient !== 0n) return undefined
    const left = [...term.atoms]
    for (const atom of atoms) {
      const at = left.findIndex(candidate => candidate.key === atom.key)
      if (at < 0) return undefined
      left.splice(at, 1)
    }
    quotient.push({ coefficient: term.coefficient / coefficient, atoms: left })
  }
  return normalize(quotient)
}

const nonZero = (value: Int): boolean => minOf(value) > 0 || maxOf(value) < 0

function divisionBounds(a: Int, b: Int): [number, number] {
  if (minOf(b) <= 0 && maxOf(b) >= 0) {
    const bound = Math.max(Math.abs(minOf(a)), Math.abs(maxOf(a)))
    return [-bound, bound]
  }
  const ends = [minOf(a), maxOf(a)].flatMap(x =>
    [minOf(b), maxOf(b)].map(y => (Number.isFinite(y) ? Math.floor(x / y) : x === 0 || y > 0 === x > 0 ? 0 : -1))
  )
  return [Math.min(...ends), Math.max(...ends)]
}

export function minimum(a: Int, b: Int): Int {
  if (maxOf(a) <= minOf(b)) return a
  if (maxOf(b) <= minOf(a)) return b
  return choose('min', a, b, Math.min(minOf(a), minOf(b)), Math.min(maxOf(a), maxOf(b)))
}

export function maximum(a: Int, b: Int): Int {
  if (minOf(a) >= maxOf(b)) return a
  if (minOf(b) >= maxOf(a)) return b
  return choose('max', a, b, Math.max(minOf(a), minOf(b)), Math.max(maxOf(a), maxOf(b)))
}

function choose(what: 'min' | 'max', a: Int, b: Int, min: number, max: number): Int {
  const smaller = what === 'min'
  if (isAtMost(b, a)) return smaller ? b : a
  if (isAtMost(a, b)) return smaller ? a : b
  const [first, second] = printInt(a) <= printInt(b) ? [a, b] : [b, a]
  return opaque(what, first, second, ', ', min, max)
}

/**
 * Whether `a <= b` is proved: by bounds, or since a minimum is no larger than what it is of, and a maximum no smaller.
 */
function isAtMost(a: Int, b: Int): boolean {
  return (
    maxOf(sub(a, b)) <= 0 ||
    chosenFrom(a, 'min').some(part => isAtMost(part, b)) ||
    chosenFrom(b, 'max').some(part => isAtMost(a, part))
  )
}

/** What an expression that is a minimum or maximum and nothing else is made of. */
function chosenFrom(value: Int, by: 'min' | 'max'): readonly Int[] {
  if (!isSym(value) || value.terms.length > 1 || value.terms[0].coefficient !== 1n || value.terms[0].atoms.length > 1)
    return []
  const [{ made }] = value.terms[0].atoms
  return made?.by === by ? [made.a, made.b] : []
}

/** The dim that NumPy's rules make of two, of which either may be 1. */
export function broadcastOf(a: Int, b: Int): Int {
  if (a === 1n || sameInt(a, b)) return b
  if (b === 1n) return a
  const [first, second] = keyOf(a) <= keyOf(b) ? [a, b] : [b, a]
  return opaque('broadcast', first, second, ', ', Math.min(minOf(a), minOf(b)), Math.max(maxOf(a), maxOf(b)))
}

/** An atom named by its arguments, so that the same computation gives the same symbol. */
function opaque(what: Operation, a: Int, b: Int, separator: string, min: number, max: number): Int {
  if (Number.isNaN(min) || Number.isNaN(max)) return fresh()
  const side = (value: Int): string =>
    termsOf(value).length > 1 && separator === '/' ? `(${printInt(value)})` : printInt(value)
  const text = `${what}(${side(a)}${separator}${side(b)})`
  const key = `${what}(${keyOf(a)}${separator}${keyOf(b)})`
  const isFresh = hasFresh(a) || hasFresh(b)
  if (key.length > 500) return within(fresh(min, max))
  return within(fromAtom({ key, text, min, max, fresh: isFresh, made: { by: what, a, b } }))
}

const keyOf = (value: Int): string => (typeof value === 'bigint' ? `${value}` : value.key)

/** Whether an expression contains something without a name. */
export const hasFresh = (value: Int): boolean =>
  typeof value !== 'bigint' && value.terms.some(term => term.atoms.some(atom => atom.fresh))

/** The same expression with tighter bounds; undefined when no integer is left. */
export function bounded(value: Int, min: number, max: number): Int | undefined {
  const low = Math.max(minOf(value), min)
  const high = Math.min(maxOf(value), max)
  if (low > high) return undefined
  if (typeof value === 'bigint') return value
  if (low === value.min && high === value.max) return value
  return within({ ...value, terms: boundedTerms(value.terms, low, high), min: low, max: high })
}

/** `k*x+c` within bounds is `x` within bounds, which hold wherever the term goes. */
function boundedTerms(terms: readonly Term[], low: number, high: number): readonly Term[] {
  const [{ coefficient, atoms }, constant] = terms
  if (atoms.length !== 1 || terms.length > 2 || (constant && constant.atoms.length > 0)) return terms
  const factor = Number(coefficient)
  const ends = [low, high].map(end => (end - Number(constant?.coefficient ?? 0n)) / factor).sort((x, y) => x - y)
  const [min, max] = [Math.max(atoms[0].min, Math.ceil(ends[0])), Math.min(atoms[0].max, Math.floor(ends[1]))]
  const isExact = [min, max].every(end => Math.abs(end) === Infinity || Number.isSafeInteger(end)) && min <= max
  return isExact ? [{ coefficient, atoms: [{ ...atoms[0], min, max }] }, ...terms.slice(1)] : terms
}

/** The same expression where either set of bounds may hold. */
export function eitherOf(a: Sym, b: Sym): Sym {
  if (a === b) return a
  const terms = a.terms.map(({ coefficient, atoms }, i) => ({
    coefficient,
    atoms: atoms.map((atom, j) => {
      const other = b.terms[i].atoms[j]
      return { ...atom, min: Math.min(atom.min, other.min), max: Math.max(atom.max, other.max) }
    })
  }))
  return { terms, key: a.key, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** Whether both are the same expression. */
export const sameInt = (a: Int, b: Int): boolean =>
  typeof a === 'bigint' || typeof b === 'bigint' ? a === b : a.key === b.key

/**
 * Whether some assignment of the unknowns makes them equal (a true answer may be too hopeful, a false one is a proof).
 */
export function mayBeEqual(a: Int, b: Int): boolean {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b
  if (maxOf(a) < minOf(b) || maxOf(b) < minOf(a)) return false
  if (sameInt(a, b)) return true
  // A name or an unknown may be any number within its bounds.
  if ((typeof a === 'bigint' && isAtom(b)) || (typeof b === 'bigint' && isAtom(a))) return true
  const difference = sub(a, b)
  return minOf(difference) <= 0 && maxOf(difference) >= 0 && mayBeZero(termsOf(difference))
}

const isAtom = (value: Int): boolean =>
  isSym(value) && value.terms.length === 1 && value.terms[0].coefficient === 1n && value.terms[0].atoms.length === 1

/** `2*n+4*m+1` is odd: what divides all coefficients divides the constant too. */
function mayBeZero(terms: readonly Term[]): boolean {
  let divisor = 0n
  let constant = 0n
  for (const { coefficient, atoms } of terms) {
    if (atoms.length === 0) constant = coefficient
    else divisor = gcd(divisor, coefficient)
  }
  return divisor === 0n ? constant === 0n : constant % divisor === 0n
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))

/** `2*batch+1`, or the interval when something in it has no name. */
export function printInt(value: Int): string {
  if (typeof value === 'bigint') return `${value}`
  if (hasFresh(value)) return printInterval(value.min, value.max)
  return value.terms
    .map(({ coefficient, atoms }, i) => {
      const sign = coefficient < 0n ? '-' : i > 0 ? '+' : ''
      const size = coefficient < 0n ? -coefficient : coefficient
      const factors = atoms.map(atom => atom.text).join('*')
      return sign + (factors === '' ? `${size}` : size === 1n ? factors : `${size}*${factors}`)
    })
    .join('')
}

/** `?`, `1..10`, `1..` or `..10` (negative values only in values, not in dims). */
export function printInterval(min: number, max: number): string {
  if (max === Infinity) return min === 0 || min === -Infinity ? '?' : `${min}..`
  return min === -Infinity ? `..${max}` : `${min}..${max}`
}
