/** What the compiler must accept and refuse of {@link withKernel}: checked by the type check, never run. */
import { params } from '../../src/op-kit/define.ts'
import { defineRules, withKernel } from '../../src/op-kit/rules.ts'
import { int } from '../../src/op-kit/sources.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'

const rules = defineRules({
  name: 'Probe',
  operands: { data: 'tensor', extra: 'optional' },
  params: params<{ axis: number }>(),
  onnx: [{ since: 1, bind: { axis: int('axis') } }],
  shape: () => []
})

// A kernel has the operands and the parameters of its rules.
withKernel(rules, {
  run({ data, extra }, { axis }) {
    const first: Tensor = data
    const second: Tensor | undefined = extra
    const position: number = axis
    void [first, second, position]
    // @ts-expect-error it may be left out
    const given: Tensor = extra
    void given
  }
})
// @ts-expect-error there is no such operand
withKernel(rules, { run: ({ other }) => void other })
// @ts-expect-error a kernel is needed
withKernel(rules, {})
// @ts-expect-error rules have no kernel
defineRules({ name: 'Probe', operands: {}, shape: () => [], run: () => undefined })
