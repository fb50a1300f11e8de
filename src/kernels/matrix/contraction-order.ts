/** Two operands that are multiplied next, by their places in the list of what is left. */
export interface Contraction {
  readonly pair: readonly [first: number, second: number]
  /** Labels of both that the output or another operand has. */
  readonly kept: ReadonlySet<string>
}

/** Operands from which on they are taken as they come: pairs of many would take long to compare. */
const MANY = 16

/**
 * The pair of operands whose product takes the least more memory than both, as opt_einsum's greedy order has it; of
 * several such pairs one whose product takes the fewest multiplications. The product comes after all that is left.
 * @param terms labels of each operand, two operands at least
 */
export function nextContraction(
  terms: readonly (readonly string[])[],
  output: readonly string[],
  sizeOf: (label: string) => number
): Contraction {
  let best: Contraction = { pair: [0, 1], kept: keptOf(terms, output, 0, 1) }
  if (terms.length === 2 || terms.length > MANY) return best
  const elements = (labels: Iterable<string>): number => [...new Set(labels)].reduce((n, label) => n * sizeOf(label), 1)
  const sizes = terms.map(elements)
  let [least, fewest] = [Infinity, Infinity]
  for (let i = 0; i < terms.length; i++)
    for (let j = i + 1; j < terms.length; j++) {
      const kept = keptOf(terms, output, i, j)
      const growth = elements(kept) - sizes[i] - sizes[j]
      if (growth > least) continue
      const multiplications = elements([...terms[i], ...terms[j]])
      if (growth === least && multiplications >= fewest) continue
      ;[least, fewest] = [growth, multiplications]
      best = { pair: [i, j], kept }
    }
  return best
}

function keptOf(
  terms: readonly (readonly string[])[],
  output: readonly string[],
  first: number,
  second: number
): Set<string> {
  const later = new Set([...output, ...terms.flatMap((term, i) => (i === first || i === second ? [] : term))])
  return new Set([...terms[first], ...terms[second]].filter(label => later.has(label)))
}
