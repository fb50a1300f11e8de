import {
  add,
  type Atom,
  broadcastOf,
  floorDiv,
  floorMod,
  fromAtom,
  type Int,
  isSym,
  maximum,
  maxOf,
  minimum,
  minOf,
  mul,
  type Operation,
  sub,
  type Sym,
  truncDiv
} from './sym.ts'

/** What an atom is known to be. */
interface Known {
  readonly key: string
  readonly is: Int
}

/** Whether `a` is 1 wherever `b` is: true is a proof, false says nothing. */
export function isOneWith(a: Sym, b: Sym): boolean {
  const known = whereOne(b)
  return known.length > 0 && known.reduce<Int>((value, { key, is }) => substitute(value, key, is), a) === 1n
}

/** What atoms are where an expression is 1, as far as it tells. */
function whereOne(value: Int): Known[] {
  if (!isSym(value)) return []
  const { terms } = value
  // A product of numbers from 0 on is 1 where each of them is.
  if (terms.length === 1)
    return terms[0].coefficient === 1n && terms[0].atoms.every(({ min }) => min >= 0)
      ? terms[0].atoms.flatMap(whereAtomOne)
      : []
  for (const { coefficient, atoms } of terms) {
    if (atoms.length !== 1 || (coefficient !== 1n && coefficient !== -1n)) continue
    const rest = sub(value, mul(coefficient, fromAtom(atoms[0])))
    if (!mentions(rest, atoms[0].key)) return [{ key: atoms[0].key, is: mul(coefficient, sub(1n, rest)) }]
  }
  return []
}

function whereAtomOne({ key, made }: Atom): Known[] {
  const known: Known[] = [{ key, is: 1n }]
  if (made === undefined) return known
  const { by, a, b } = made
  if (by === 'broadcast') return [...known, ...whereOne(a), ...whereOne(b)]
  const isOther = (side: Int): boolean => (by === 'min' && minOf(side) > 1) || (by === 'max' && maxOf(side) < 1)
  return isOther(a) ? [...known, ...whereOne(b)] : isOther(b) ? [...known, ...whereOne(a)] : known
}

/** Whether an atom occurs in an expression. */
const mentions = (value: Int, key: string): boolean =>
  isSym(value) &&
  value.key.includes(key) &&
  value.terms.some(({ atoms }) =>
    atoms.some(
      atom =>
        atom.key === key || (atom.made !== undefined && (mentions(atom.made.a, key) || mentions(atom.made.b, key)))
    )
  )

const AGAIN: Readonly<Record<Operation, (a: Int, b: Int) => Int>> = {
  floor: floorDiv,
  trunc: truncDiv,
  mod: floorMod,
  min: minimum,
  max: maximum,
  broadcast: broadcastOf
}

/** The expression with a number or an expression in the place of an atom. */
export function substitute(value: Int, key: string, is: Int): Int {
  if (!isSym(value) || !mentions(value, key)) return value
  const ofAtom = (atom: Atom): Int => {
    if (atom.key === key) return is
    if (atom.made === undefined) return fromAtom(atom)
    const { by, a, b } = atom.made
    return AGAIN[by](substitute(a, key, is), substitute(b, key, is))
  }
  return value.terms.reduce<Int>(
    (sum, { coefficient, atoms }) =>
      add(
        sum,
        atoms.reduce<Int>((product, atom) => mul(product, ofAtom(atom)), coefficient)
      ),
    0n
  )
}
