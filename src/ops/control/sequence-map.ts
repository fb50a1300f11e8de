import { fail } from '../../errors.ts'
import { bodyOf } from '../../op-kit/bodies.ts'
import { type Body, defineOp, params } from '../../op-kit/define.ts'
import { body, derive } from '../../op-kit/sources.ts'
import { mayMatch, printDim } from '../../shapes/dim.ts'
import { type Fact, withoutValue } from '../../shapes/fact.ts'
import type { Value } from '../../tensor/tensor.ts'
import { sequenceFact, sequenceIn } from './sequence.ts'

interface Params {
  body: Body
  outputCount: number
}

/**
 * Applies a body to each element of a sequence: ONNX SequenceMap-17. The body also gets the elements of further
 * sequences, which must be of the same length, and tensors as a whole.
 */
export const sequenceMap = defineOp({
  name: 'SequenceMap',
  operands: { sequence: 'any', additional: 'any-variadic' },
  params: params<Params>(),
  onnx: [
    {
      since: 17,
      bind: {
        body: body('body'),
        outputCount: derive(({ node, inputCount, outputCount }) => {
          const { inputs, outputs } = bodyOf(node, 'body')
          if (inputs.length !== inputCount) {
            fail(
              'invalid-graph',
              `the body has ${inputs.length} inputs and the node ${inputCount}; they must be as many`
            )
          }
          if (outputs.length < outputCount)
            fail('invalid-graph', `the body has ${outputs.length} outputs; the node lists ${outputCount}`)
          return outputCount
        })
      }
    }
  ],
  dynamic: true,

  shape({ sequence, additional }, p) {
    const { length, element } = sequenceFact(sequence)
    for (const fact of additional) {
      if (
        fact.kind !== 'sequence' ||
        fact.length === undefined ||
        length === undefined ||
        mayMatch(fact.length, length)
      )
        continue
      fail(
        'dims-mismatch',
        `sequences of lengths ${printDim(length)} and ${printDim(fact.length)} are given; they must be of one length`
      )
    }
    const results = p.body.infer([element, ...additional.map(fact => (fact.kind === 'sequence' ? fact.element : fact))])
    return results.slice(0, p.outputCount).map((result): Fact => ({
      kind: 'sequence',
      element: withoutValue(result),
      ...(length !== undefined && { length })
    }))
  },

  *run({ sequence, additional }, p, call) {
    const { values } = sequenceIn(sequence)
    const results: Value[][] = Array.from({ length: p.outputCount }, () => [])
    for (const other of additional) {
      if (other.type !== 'sequence' || other.values.length === values.length) continue
      fail(
        'dims-mismatch',
        `sequences of lengths ${values.length} and ${other.values.length} are given; they must be of one length`
      )
    }
    for (const [i, value] of values.entries()) {
      const outputs = yield* p.body.run([
        value,
        ...additional.map(other => (other.type === 'sequence' ? other.values[i] : other))
      ])
      results.forEach((list, k) => list.push(outputs[k]))
      yield
    }
    results.forEach((list, k) => call.give(k, { type: 'sequence', values: list }))
  }
})
