import { COST, Pace } from '../core/pace.ts'

/** How n-grams are hashed. */
export interface NGramRule {
  /** Tokens of the longest n-gram; the shortest has two. */
  readonly longest: number
  /** Hashes of an n-gram of each length. */
  readonly heads: number
  /** Stands for tokens before the first, and before the last boundary. */
  readonly filler: bigint
  /** After this token a sequence begins anew; undefined: after none. */
  readonly end: bigint | undefined
  /** Bits in which products wrap. */
  readonly bits: 32 | 64
}

/** Factors, by the place of a token before the last of its n-gram, and for each hash a modulus and what is added. */
export interface NGramTables {
  readonly factors: readonly bigint[]
  readonly moduli: readonly bigint[]
  readonly offsets: readonly bigint[] | undefined
}

/**
 * A sequence of tokens and, right before it, those of earlier calls, one fewer than an n-gram has. Tokens are counted
 * from the first of these.
 */
export interface TokenRun {
  /** Tokens of the sequence itself. */
  readonly count: number
  tokenAt(at: number): bigint
  /** Whether a segment begins at a token. */
  begins(at: number): boolean
}

/**
 * The hashes of the n-grams that end at each token: for each length the tokens times their factors, joined by exclusive
 * or, modulo each head's number. Tokens beyond a boundary are replaced by the filler.
 * @param write called with each hash in order
 */
export function* hashNGrams(
  { count, tokenAt, begins }: TokenRun,
  rule: NGramRule,
  { factors, moduli, offsets }: NGramTables,
  write: (hash: bigint) => void
): Generator<void> {
  const { longest, heads, filler, end, bits } = rule
  const past = longest - 1
  const pace = new Pace()
  /** The last token before the boundary. */
  let boundary = -1
  for (let at = 1; at < past + count; at++) {
    if ((end !== undefined && tokenAt(at - 1) === end) || begins(at)) boundary = at - 1
    if (at < past) continue
    let mix = BigInt.asIntN(bits, tokenAt(at) * factors[0])
    for (let k = 1, head = 0; k < longest; k++) {
      const token = at - k <= boundary ? filler : tokenAt(at - k)
      mix ^= BigInt.asIntN(bits, token * factors[k])
      for (const last = head + heads; head < last; head++) {
        const rest = mix % moduli[head]
        write(BigInt.asIntN(bits, (rest < 0n ? rest + moduli[head] : rest) + (offsets?.[head] ?? 0n)))
      }
    }
    if (pace.isDue(longest * (1 + heads) * COST.lookup)) yield
  }
}
