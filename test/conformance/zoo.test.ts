import { expect, test } from 'vitest'
import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'
import { indexOf, missingOps } from './supported.ts'

/** Models that must run, whatever else does. */
const NAMED = /^(bert|bert_.*|gather_ops.*|embedding_bag)$/

const missing = (folder: string): string[] =>
  indexOf(folder)
    .filter(({ name }) => NAMED.test(name))
    .flatMap(row => missingOps(row).map(op => `${row.name} needs ${op}`))

describeData('models of the zoo', () => {
  test('BERT and the models of gathers have all their operators', () => expect(missing('zoo')).toEqual([]))
  testSupportedCases('zoo')
})

describeData('models of the zoo as OpenVINO IR', () => {
  test('BERT and the models of gathers have all their operators', () => expect(missing('openvino-zoo')).toEqual([]))
  testSupportedCases('openvino-zoo')
})
