import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCases } from '../../src/cli/cases.ts'
import { runCase } from '../../src/cli/run-case.ts'
import { TOLERANCE, testSupportedCases } from './cases.ts'
import { DATA, describeData } from './data.ts'
import { indexOf, missingOps } from './supported.ts'

/** Models that must run, whatever else does. */
const NAMED = /^(bert|bert_.*|gather_ops.*|embedding_bag)$/

const missing = (folder: string): string[] =>
  indexOf(folder).filter(({ name }) => NAMED.test(name)).flatMap(row => missingOps(row).map(op => `${row.name} needs ${op}`))

describeData('models of the zoo', () => {
  test('BERT and the models of gathers have all their operators', () => expect(missing('zoo')).toEqual([]))
  testSupportedCases('zoo')
})

describeData('models of the zoo as OpenVINO IR', () => {
  test('BERT and the models of gathers have all their operators', () => expect(missing('openvino-zoo')).toEqual([]))
  testSupportedCases('openvino-zoo', ['special_ops_gather'])

  // Its outputs are those of OpenVINO, which is laxer here than the specification.
  test('a Gather-7 with negative batch_dims is refused, as its specification says', async () => {
    const [one] = findCases(join(DATA, 'openvino-zoo/special_ops_gather'))
    const { status, message } = await runCase(one, TOLERANCE)
    expect(status).toBe('error')
    expect(message).toMatch(/Gather "Gather_16" \(opset7\): batch_dims -1 is out of range/)
  })
})
