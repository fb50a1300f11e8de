import { shapes } from '../../src/index.ts'
import type { OpDefinition } from '../../src/op-kit/define.ts'
import { node } from '../fixtures/onnx.ts'

export const DOMAIN = 'my.domain'

/** An operator that gives its operand, and tells when it runs. */
export const noted = (name: string, onRun: () => void): OpDefinition<{ x: 'tensor' }, Record<never, never>> => ({
  name,
  operands: { x: 'tensor' },
  onnx: [{ domain: DOMAIN, since: 1, bind: {} }],
  shape: ({ x }) => [shapes.tensorFact(x.type, x.shape)],
  run({ x }, _, call) {
    onRun()
    call.give(0, x)
  }
})

/** A node of such an operator. */
export const note = (name: string, from: string, to: string): object => node(name, [from], [to], {}, DOMAIN)
