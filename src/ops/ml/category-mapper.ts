import { fail } from '../../errors.ts'
import { type Label, lookUp } from '../../kernels/ml/look-up.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, exactInt, exactInts, type NodeFacts, optional, text, texts } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** The string of each integer and the integer of each string. */
  table: ReadonlyMap<Label, Label>
  defaultInt: bigint
  defaultText: string
}

/** Rules of {@link categoryMapper}. */
export const categoryMapperRules = defineRules({
  name: 'CategoryMapper',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: {
        table: derive(tableOf),
        defaultInt: exactInt('default_int64', -1n),
        defaultText: text('default_string', '_Unused')
      }
    }
  ],

  shape: ({ x }) => [tensorFact(x.type && (x.type === 'string' ? 'int64' : 'string'), x.shape)]
})

/**
 * Maps strings to integers or integers to strings by two lists of equal length, and what is not listed to a default.
 * The type of the input decides the direction, whichever defaults are given, and the last of equal entries counts, both
 * as in ONNX Runtime. ai.onnx.ml CategoryMapper-1.
 */
export const categoryMapper = /* @__PURE__ */ withKernel(categoryMapperRules, {
  run: ({ x }, { table, defaultInt, defaultText }, call) =>
    lookUp(x, call.rawOutput(), table, x.type === 'string' ? defaultInt : defaultText)
})

function tableOf(node: NodeFacts): ReadonlyMap<Label, Label> {
  const strings =
    node.get(optional(texts('cats_strings'))) ?? fail('missing-attribute', 'attribute "cats_strings" is missing')
  const integers =
    node.get(optional(exactInts('cats_int64s'))) ?? fail('missing-attribute', 'attribute "cats_int64s" is missing')
  if (strings.length !== integers.length) {
    fail(
      'unknown-attribute-value',
      `there are ${strings.length} strings and ${integers.length} integers; they must be as many`
    )
  }
  return new Map<Label, Label>(
    strings.flatMap((string, i) => [
      [string, integers[i]],
      [integers[i], string]
    ])
  )
}
