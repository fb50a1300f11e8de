import type { Call, Operand } from './call.ts'

type Items<T> = readonly (T | undefined)[]
type ByOperand<T> = Record<string, T | undefined | readonly T[]>
/** Makes the operands of items at some positions. */
type Make = <T>(items: Items<T>, at: readonly number[]) => ByOperand<T>

/**
 * For the operands that most operators have, by their names. Engines take 30 ns for an object whose names a literal
 * says, and 300 ns where they come from a list, which is a third of what a light step costs.
 */
const MAKERS: Readonly<Record<string, Make>> = {
  x: (items, at) => ({ x: items[at[0]] }),
  data: (items, at) => ({ data: items[at[0]] }),
  input: (items, at) => ({ input: items[at[0]] }),
  'inputs*': (items, at) => ({ inputs: restOf(items, at[0]) }),
  'operands*': (items, at) => ({ operands: restOf(items, at[0]) }),
  'a,b': (items, at) => ({ a: items[at[0]], b: items[at[1]] }),
  'a,b,c': (items, at) => ({ a: items[at[0]], b: items[at[1]], c: items[at[2]] }),
  'x,w': (items, at) => ({ x: items[at[0]], w: items[at[1]] }),
  'x,w,bias': (items, at) => ({ x: items[at[0]], w: items[at[1]], bias: items[at[2]] }),
  'x,scale': (items, at) => ({ x: items[at[0]], scale: items[at[1]] }),
  'x,scale,bias': (items, at) => ({ x: items[at[0]], scale: items[at[1]], bias: items[at[2]] }),
  'x,scale,zero': (items, at) => ({ x: items[at[0]], scale: items[at[1]], zero: items[at[2]] }),
  'x,min,max': (items, at) => ({ x: items[at[0]], min: items[at[1]], max: items[at[2]] }),
  'x,indices': (items, at) => ({ x: items[at[0]], indices: items[at[1]] }),
  'data,indices': (items, at) => ({ data: items[at[0]], indices: items[at[1]] }),
  'data,indices,updates': (items, at) => ({ data: items[at[0]], indices: items[at[1]], updates: items[at[2]] }),
  'boxes,scores': (items, at) => ({ boxes: items[at[0]], scores: items[at[1]] })
}

/** How the operands of a call are made; calls share their lists of operands. */
const makers = new WeakMap<readonly Operand[], <T>(items: Items<T>) => ByOperand<T>>()

/** Items by operand instead of input position; a variadic operand takes the rest. */
export function byOperand<T>({ operands }: Call, items: Items<T>): ByOperand<T> {
  let make = makers.get(operands)
  if (make === undefined) {
    make = makerOf(operands)
    makers.set(operands, make)
  }
  return make(items)
}

function makerOf(operands: readonly Operand[]): <T>(items: Items<T>) => ByOperand<T> {
  const make = MAKERS[operands.map(operand => (takesRest(operand) ? `${operand.name}*` : operand.name)).join(',')]
  const at = operands.map(({ index }) => index)
  return make ? items => make(items, at) : items => listed(operands, items)
}

/** Of any operands. */
export function listed<T>(operands: readonly Operand[], items: Items<T>): ByOperand<T> {
  const result: ByOperand<T> = {}
  for (const operand of operands)
    result[operand.name] = takesRest(operand) ? restOf(items, operand.index) : items[operand.index]
  return result
}

const takesRest = ({ kind }: Operand): boolean => kind === 'variadic' || kind === 'any-variadic'

const restOf = <T>(items: Items<T>, from: number): readonly T[] => items.slice(from).filter(item => item !== undefined)
