import { Pace } from '../../kernels/core/pace.ts'
import { type Automaton, compileRegex, matchesWhole } from '../../kernels/text/regex.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { mapped, text } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** Rules of {@link regexFullMatch}. */
export const regexFullMatchRules = defineRules({
  name: 'RegexFullMatch',
  operands: { x: 'tensor' },
  params: params<{ automaton: Automaton }>(),
  onnx: [{ since: 20, bind: { automaton: mapped(text('pattern'), compileRegex) } }],
  shape: ({ x }) => [tensorFact('bool', x.shape)]
})

/**
 * Whether each whole string matches a pattern in RE2's syntax; the time is linear in the string. ONNX
 * RegexFullMatch-20.
 */
export const regexFullMatch = /* @__PURE__ */ withKernel(regexFullMatchRules, {
  *run({ x }, { automaton }, call) {
    const flags = call.output().data as Uint8Array
    const pace = new Pace()
    for (let i = 0; i < flags.length; i++)
      flags[i] = (yield* matchesWhole(automaton, (x.data as string[])[i], pace)) ? 1 : 0
  }
})
