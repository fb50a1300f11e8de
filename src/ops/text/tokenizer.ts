import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { findAtOnce, findLongest } from '../../kernels/text/regex-search.ts'
import { type Automaton, codePoints, compileRegex } from '../../kernels/text/regex.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { derive, flag, int, type NodeFacts, text, texts } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** How a text is taken apart: into its characters, at separators, or into what an expression matches. */
type Rule =
  | { readonly kind: 'characters' }
  | { readonly kind: 'separators'; readonly separators: readonly Automaton[] }
  | { readonly kind: 'expression'; readonly expression: Automaton }

interface Params {
  rule: Rule
  /** Whether each list begins with the character 2 and ends with the character 3. */
  marks: boolean
  pad: string
  /** Shorter tokens, in characters, are left out. */
  shortest: number
}

const [START, END] = ['\u0002', '\u0003']

/**
 * Takes strings apart into lists of tokens, which are padded to the length of the longest. Separators are expressions
 * in RE2's syntax, applied one after the other to what those before left; matches are the leftmost and of these the
 * longest. The lists are empty where no string has a token, marks or not. com.microsoft Tokenizer-1.
 */
export const tokenizer = defineOp({
  name: 'Tokenizer',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { rule: derive(ruleOf), marks: flag('mark'), pad: text('pad_value'), shortest: int('mincharnum') }
    }
  ],

  shape({ x }, { rule, shortest }) {
    if (shortest < 1) fail('unknown-attribute-value', `attribute "mincharnum" is ${shortest}; 1 or more is expected`)
    if (rule.kind === 'characters' && shortest > 1)
      fail('unknown-attribute-value', `attribute "mincharnum" is ${shortest}; tokens of one character are asked for`)
    checkRank('the input', x, 1, 2)
    return [tensorFact('string', x.shape && [...x.shape, unknownDim()])]
  },

  *run({ x }, { rule, marks, pad, shortest }, call) {
    const pace = new Pace()
    const lists: (readonly string[])[] = []
    let longest = 0
    for (const item of x.data as readonly string[]) {
      const list = yield* tokensOf(item, rule, shortest, pace)
      lists.push(list)
      longest = Math.max(longest, list.length)
    }
    const width = longest === 0 ? 0 : longest + (marks ? 2 : 0)
    const out = call.output(0, [...x.dims, width]).data as string[]
    for (const [i, list] of lists.entries()) {
      const row = marks ? [START, ...list, END] : list
      for (let j = 0; j < width; j++) out[i * width + j] = row[j] ?? pad
      if (pace.isDue((1 + width) * COST.element)) yield
    }
  }
})

function ruleOf(node: NodeFacts): Rule {
  const separators = node.get(texts('separators'))
  const expression = node.get(text('tokenexp'))
  if (separators === undefined) {
    if (expression === undefined) return fail('missing-attribute', 'attributes "separators" and "tokenexp" are missing')
    if (expression === '') return fail('unknown-attribute-value', 'attribute "tokenexp" is empty')
    if (expression === '.') return { kind: 'characters' }
    return { kind: 'expression', expression: compileRegex(expression) }
  }
  if (separators.length === 0) fail('unknown-attribute-value', 'attribute "separators" is empty')
  if (separators.length === 1 && separators[0] === '') return { kind: 'characters' }
  return { kind: 'separators', separators: separators.map(compileRegex) }
}

function* tokensOf(item: string, rule: Rule, shortest: number, pace: Pace): Generator<void, readonly string[]> {
  if (pace.isDue((1 + item.length) * COST.element)) yield
  switch (rule.kind) {
    case 'characters':
      return [...item]
    case 'separators': {
      let parts: readonly string[] = [item]
      for (const separator of rule.separators) {
        const left: string[] = []
        for (const part of parts) left.push(...(yield* splitAt(part, separator, shortest, pace)))
        parts = left
      }
      return parts
    }
    case 'expression':
      return yield* matchesOf(item, rule.expression, shortest, pace)
  }
}

/** How to cut a text by the places of its characters: those of its UTF-16 codes where no pair is among them. */
function partsOf(item: string, codes: ArrayLike<number>): (from: number, to: number) => string {
  if (codes.length === item.length) return (from, to) => item.slice(from, to)
  const characters = [...item]
  return (from, to) => characters.slice(from, to).join('')
}

/** What lies between matches; after an empty match the character there is left out, too. */
function* splitAt(item: string, separator: Automaton, shortest: number, pace: Pace): Generator<void, string[]> {
  const codes = yield* codePoints(item, pace)
  const part = partsOf(item, codes)
  const parts: string[] = []
  const add = (from: number, to: number): void => {
    if (to - from >= shortest) parts.push(part(from, to))
  }
  let from = 0
  while (from <= codes.length) {
    const match = findAtOnce(separator, codes, from) ?? (yield* findLongest(separator, codes, from, pace))
    if (match === undefined || match === 'none') break
    add(from, match[0])
    from = Math.max(match[1], match[0] + 1)
  }
  add(from, codes.length)
  return parts
}

/** The matches; after one that is too short the search goes on at its second character. */
function* matchesOf(item: string, expression: Automaton, shortest: number, pace: Pace): Generator<void, string[]> {
  const codes = yield* codePoints(item, pace)
  const part = partsOf(item, codes)
  const tokens: string[] = []
  for (let from = 0; codes.length >= shortest && from <= codes.length;) {
    const match = findAtOnce(expression, codes, from) ?? (yield* findLongest(expression, codes, from, pace))
    if (match === undefined || match === 'none') break
    const [begin, end] = match
    const isToken = end - begin >= shortest
    if (isToken) tokens.push(part(begin, end))
    from = isToken ? end : begin + 1
  }
  return tokens
}
