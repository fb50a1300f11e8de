import { fail } from '../errors.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, mulDims, printDim, unknownDim } from '../shapes/dim.ts'
import { type Fact, knownValue, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { toIndices } from '../tensor/elements.ts'
import type { ShapeContext } from './define.ts'
import { checkRank } from './ranks.ts'
import { IR_CELL, type Layout, type RecurrentOperands, type RecurrentParams } from './recurrent-params.ts'
import { commonType } from './types.ts'

/** The dims G, N and P as multiples of the hidden size. */
export interface Multiples {
  readonly G: number
  readonly N: number
  readonly P: number
}

/** What each letter stands for in messages. */
const WORDS: Readonly<Record<string, string>> = {
  S: 'number of steps',
  B: 'batch',
  D: 'number of directions',
  I: 'input size',
  H: 'hidden size',
  G: 'gates',
  N: 'biases',
  P: 'peephole weights'
}

/** The size of each letter, merged from the dims of all operands. */
class Sizes {
  private readonly known = new Map<string, Dim>()
  private readonly multiples: Multiples

  constructor(multiples: Multiples) {
    this.multiples = multiples
  }

  of(letter: string): Dim {
    return this.known.get(letter) ?? unknownDim()
  }

  meet(letter: string, dim: Dim, what: string): void {
    const known = this.known.get(letter)
    const met = known === undefined ? dim : meetDims(known, dim)
    if (met === undefined)
      fail('dims-mismatch', `${what} is ${printDim(dim)}; the ${WORDS[letter]} is ${printDim(known!)}`)
    this.known.set(letter, met)
  }

  /**
   * Merges the dims of an operand.
   * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
   */
  read(name: string, letters: string, fact: TensorFact | undefined): void {
    checkRank(name, fact, letters.length)
    fact?.shape?.forEach((dim, i) => {
      const letter = letters[i]
      if (letter === 'G' || letter === 'N' || letter === 'P') this.readMultiple(letter, dim, `dim ${i} of ${name}`)
      else this.meet(letter, dim, `dim ${i} of ${name}`)
    })
  }

  private readMultiple(letter: 'G' | 'N' | 'P', dim: Dim, what: string): void {
    const factor = this.multiples[letter]
    const hidden = this.known.get('H')
    const whole = typeof dim !== 'number' || dim % factor === 0
    if (!whole || (hidden !== undefined && !mayMatch(dim, mulDims(hidden, factor)))) {
      const size = hidden === undefined ? '' : ` ${printDim(hidden)}`
      fail('dims-mismatch', `${what} is ${printDim(dim)}; ${factor} times the hidden size${size} is expected`)
    }
    if (typeof dim === 'number') this.meet('H', floorDivDims(dim, factor), `a ${factor}th of ${what}`)
  }
}

/**
 * Facts of the results: the hidden states of all time steps (not for cells), then `states` final states: the hidden
 * state, and for LSTM the cell state.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`, `type-mismatch`, `value-out-of-range` for a hidden size
 *   below 0, `wrong-input-count` where IR requires biases
 */
export function recurrentShape(
  operands: RecurrentOperands<TensorFact>,
  p: RecurrentParams,
  multiples: Multiples,
  states: number,
  call: ShapeContext
): Fact[] {
  const { x, w, r, b, lengths, h, c, p: peepholes } = operands
  const { layout, hiddenSize, directions } = p
  if (hiddenSize < 0) fail('value-out-of-range', `hidden_size is ${hiddenSize}; it is not negative`)
  const optionalBias = call.dialect === 'onnx' || (layout === IR_CELL && multiples.G > 1)
  if (b === undefined && !optionalBias) fail('wrong-input-count', 'the biases are left out; they are required')
  const sizes = new Sizes(multiples)
  sizes.meet('D', directions.length, 'direction')
  if (hiddenSize > 0) sizes.meet('H', hiddenSize, 'hidden_size')
  sizes.read('R', layout.r, r)
  sizes.read('X', layout.x, x)
  sizes.read('W', layout.w, w)
  sizes.read('the initial hidden state', layout.state, h)
  sizes.read('the initial cell state', layout.state, c)
  sizes.read('B', layout.b, b)
  sizes.read('P', layout.p, peepholes)
  sizes.read('sequence lengths', 'B', lengths)
  const type = commonType({
    X: x,
    W: w,
    R: r,
    B: b,
    'the initial hidden state': h,
    'the initial cell state': c,
    P: peepholes
  })
  const fact = (letters: string): Fact =>
    tensorFact(
      type,
      [...letters].map(letter => sizes.of(letter))
    )
  const results = [
    ...(layout.y === undefined ? [] : [fact(layout.y)]),
    ...Array.from({ length: states }, () => fact(layout.state))
  ]
  return results.slice(0, call.outputCount)
}

/** Checks sequence lengths that are known before the graph runs. */
export function validateLengths(
  { x, lengths }: Pick<RecurrentOperands<TensorFact>, 'x' | 'lengths'>,
  { layout }: { layout: Layout }
): void {
  const steps = x.shape?.[layout.x.indexOf('S')]
  const known = lengths && knownValue(lengths)
  if (known && typeof steps === 'number') checkLengths(toIndices(known), steps)
}

/** @throws NodewiseError `value-out-of-range` for a sequence longer than the number of time steps */
export function checkLengths(lengths: ArrayLike<number>, steps: number): void {
  for (let i = 0; i < lengths.length; i++) {
    if (!(lengths[i] >= 0 && lengths[i] <= steps))
      fail('value-out-of-range', `the length of sequence ${i} is ${lengths[i]}; expected 0..${steps}`)
  }
}
