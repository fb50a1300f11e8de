import { fail } from '../../errors.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { choice, flag, mapped, text, texts } from '../../op-kit/sources.ts'
import { maxDim, maxDims, printShape, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  change: 'lower' | 'upper' | 'none'
  caseSensitive: boolean
  stopwords: readonly string[]
  /** A language tag, as `toLocaleLowerCase` takes it. */
  locale: string
}

/**
 * Removes stop words and changes the case of the other strings; if none is left, the output is one empty string. Whole
 * strings are compared and accents stay, as the specification says and ONNX Runtime does (ONNX's own reference also
 * compares words within a string). ONNX StringNormalizer-10.
 */
export const stringNormalizer = defineOp({
  name: 'StringNormalizer',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 10,
      bind: {
        change: choice('case_change_action', { LOWER: 'lower', UPPER: 'upper', NONE: 'none' }),
        caseSensitive: flag('is_case_sensitive'),
        stopwords: texts('stopwords', []),
        locale: mapped(text('locale', ''), localeOf)
      }
    }
  ],

  shape({ x: { shape } }, { stopwords }) {
    if (shape === undefined) return [tensorFact('string', undefined)]
    const first = shape.length === 2 ? shape[0] : 1
    if (shape.length < 1 || shape.length > 2 || (typeof first === 'number' && first !== 1)) {
      fail('shape-mismatch', `the strings have shape ${printShape(shape)}; expected [C] or [1, C]`)
    }
    const count = shape[shape.length - 1]
    const kept = stopwords.length === 0 ? maxDims(count, 1) : unknownDim(1, Math.max(1, maxDim(count)))
    return [tensorFact('string', shape.length === 1 ? [kept] : [1, kept])]
  },

  *run({ x }, { change, caseSensitive, stopwords, locale }, call) {
    const { lower, upper } = casesOf(locale)
    const comparable = (item: string): string => (caseSensitive ? item : lower(item))
    const stops = new Set(stopwords.map(comparable))
    const given = x.data as string[]
    const kept: string[] = []
    yield* inChunks(
      given.length,
      (from, to) => {
        for (let i = from; i < to; i++) if (stops.size === 0 || !stops.has(comparable(given[i]))) kept.push(given[i])
      },
      16 * COST.element
    )
    if (kept.length === 0) kept.push('')
    const strings = call.output(0, [...x.dims.slice(0, -1), kept.length]).data as string[]
    const changed = change === 'none' ? same : change === 'lower' ? lower : upper
    yield* inChunks(
      kept.length,
      (from, to) => {
        for (let i = from; i < to; i++) strings[i] = changed(kept[i])
      },
      16 * COST.element
    )
  }
})

const same = (item: string): string => item

/** Languages that have a way of their own to change the case of letters. */
const OWN_CASES = /^(tr|az|lt|el)\b/

/** How a language changes the case of letters. To say which takes longer than most strings. */
const casesOf = (locale: string): Record<'lower' | 'upper', (item: string) => string> =>
  OWN_CASES.test(locale)
    ? { lower: item => item.toLocaleLowerCase(locale), upper: item => item.toLocaleUpperCase(locale) }
    : { lower: item => item.toLowerCase(), upper: item => item.toUpperCase() }

/**
 * The language tag for a name like `en_US.UTF-8`. C and POSIX, the default, have no language; `en-US` stands for them.
 */
function localeOf(name: string): string {
  const tag = name.replace(/[.@].*$/, '').replaceAll('_', '-')
  if (tag === '' || tag === 'C' || tag === 'POSIX') return 'en-US'
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return fail('unknown-attribute-value', `attribute "locale" is "${name}", which is no locale`)
  }
}
