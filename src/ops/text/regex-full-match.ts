import { compileRegex, matchesWhole, type Program } from '../../kernels/text/regex.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { mapped, text } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

/**
 * Whether each string matches a pattern in RE2's syntax as a whole; the time is linear in the string. ONNX
 * RegexFullMatch-20.
 */
export const regexFullMatch = defineOp({
  name: 'RegexFullMatch',
  operands: { x: 'tensor' },
  params: params<{ program: Program }>(),
  onnx: [{ since: 20, bind: { program: mapped(text('pattern'), compileRegex) } }],
  shape: ({ x }) => [tensorFact('bool', x.shape)],

  *run({ x }, { program }, call) {
    const flags = call.output().data as Uint8Array
    const pace = { work: 0 }
    for (let i = 0; i < flags.length; i++)
      flags[i] = (yield* matchesWhole(program, (x.data as string[])[i], pace)) ? 1 : 0
  }
})
