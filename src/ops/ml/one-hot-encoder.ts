import { fail } from '../../errors.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { type DenseKeys, denseKeys, findPlaces } from '../../kernels/ml/dense-keys.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, exactInts, flag, type NodeFacts, optional, texts } from '../../op-kit/sources.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'
import { elementsOf } from '../../tensor/elements.ts'

type Category = string | number | bigint

interface Categories {
  readonly count: number
  readonly areStrings: boolean
  /** Position of each category; of one that is listed twice the last. */
  readonly positions: ReadonlyMap<Category, number>
  /** The same of integers that lie close together. */
  readonly keys: DenseKeys | undefined
}

/** Elements from which on they are looked up by {@link Categories.keys}. */
const MIN_DENSE = 16

interface Params {
  categories: Categories
  /** Whether an element that is no category gives zeros; else it is an error. */
  zeros: boolean
}

/** Rules of {@link oneHotEncoder}. */
export const oneHotEncoderRules = defineRules({
  name: 'OneHotEncoder',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { categories: derive(categoriesOf), zeros: flag('zeros') } }],

  shape({ x }, { categories: { count, areStrings } }) {
    if (x.type !== undefined && (x.type === 'string') !== areStrings)
      fail('type-mismatch', `the input has type ${x.type}; the categories are ${areStrings ? 'strings' : 'integers'}`)
    return [tensorFact('float32', x.shape && [...x.shape, count])]
  },

  validate({ x }, { categories, zeros }) {
    const known = knownValue(x)
    if (known) for (const element of elementsOf(known)) find(element as Category, categories, zeros)
  }
})

/**
 * One more axis, of the categories: 1 at that of the element, else 0. Floats lose their fraction first, as in ONNX
 * Runtime; NaN is no category. ai.onnx.ml OneHotEncoder-1.
 */
export const oneHotEncoder = /* @__PURE__ */ withKernel(oneHotEncoderRules, {
  *run({ x }, { categories, zeros }, call) {
    const out = call.output().data as Float32Array
    const elements: ArrayLike<Category> = x.type === 'string' || x.type === 'int64' ? x.data : yield* readReals(x)
    const { count, keys } = categories
    if (keys !== undefined && elements.length >= MIN_DENSE) {
      const numbers = x.type === 'int64' ? x : { data: wholeNumbers(elements as ArrayLike<number>) }
      yield* inChunks(elements.length, (from, to) => {
        const places = findPlaces(numbers, from, to, keys)
        for (let i = 0; i < places.length; i++) {
          if (places[i] > 0) out[(from + i) * count + places[i] - 1] = 1
          else find(elements[from + i], categories, zeros)
        }
      })
      return
    }
    yield* inChunks(
      elements.length,
      (from, to) => {
        for (let i = from; i < to; i++) {
          const position = find(elements[i], categories, zeros)
          if (position !== undefined) out[i * count + position] = 1
        }
      },
      COST.lookup
    )
  }
})

function categoriesOf(node: NodeFacts): Categories {
  const integers = node.get(optional(exactInts('cats_int64s'))) ?? []
  const strings = node.get(optional(texts('cats_strings'))) ?? []
  if (integers.length > 0 && strings.length > 0)
    fail('unknown-attribute-value', '"cats_int64s" and "cats_strings" are given; expected one of them')
  if (integers.length === 0 && strings.length === 0)
    fail('missing-attribute', 'one of the attributes "cats_int64s" and "cats_strings" is missing')
  const positions = new Map<Category, number>()
  for (const [i, category] of [...integers, ...strings].entries()) {
    positions.set(category, i)
    if (typeof category === 'bigint' && BigInt(Number(category)) === category) positions.set(Number(category), i)
  }
  const keys = strings.length > 0 ? undefined : denseKeys(integers)
  return { count: integers.length + strings.length, areStrings: strings.length > 0, positions, keys }
}

const wholeNumbers = (elements: ArrayLike<number>): Float64Array => Float64Array.from(elements, Math.trunc)

/** The position of an element; undefined where it is no category. */
function find(element: Category, { positions }: Categories, zeros: boolean): number | undefined {
  const position = positions.get(typeof element === 'number' ? Math.trunc(element) : element)
  if (position === undefined && !zeros)
    fail('value-out-of-range', `${typeof element === 'string' ? `"${element}"` : element} is no category`)
  return position
}
