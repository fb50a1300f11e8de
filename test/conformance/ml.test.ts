import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declaredOf } from '../../src/graph/graph.ts'
import { compareValues } from '../../src/io/compare.ts'
import { readTensorFile } from '../../src/io/read.ts'
import { load } from '../../src/load.ts'
import { testSupportedCases } from './cases.ts'
import { DATA, describeData } from './data.ts'

/**
 * Cases whose stored output follows from no rule: half of it was never written by the runtime that it was taken from,
 * or, for the last, the label is 1 wherever the largest of three scores is positive, whichever it is.
 */
const WRONG: ReadonlySet<string> = new Set([
  'LinearClassifier-1_one_vector_ints_probit',
  'LinearClassifier-1_one_vector_strings_probit',
  'SVMClassifier-1_linear_mode_3'
])

describeData('classical machine learning', () => testSupportedCases('ml', name => !WRONG.has(name)))

describeData('maps as protobuf', () => {
  const files = readdirSync(join(DATA, 'ml'), { recursive: true, encoding: 'utf8' }).filter(path =>
    /[\\/]proto_\d+[\\/](input|output)_\d+\.pb$/.test(path)
  )

  test('are there', () => expect(files.length).toBeGreaterThan(20))

  test.each(files)('%s is what the JSON says', async path => {
    const [name, set, side, number] = /^(.*)[\\/]proto_(\d+)[\\/](input|output)_(\d+)/.exec(path)!.slice(1)
    const folder = join(DATA, 'ml', name)
    const model = await load(join(folder, 'model.onnx'))
    const port = model.graph[side === 'input' ? 'inputs' : 'outputs'][Number(number)]
    const declared = declaredOf(model.graph, port)
    const proto = await readTensorFile(join(DATA, 'ml', path), declared)
    const json = await readTensorFile(join(folder, `test_data_set_${set}`, `${side}_${number}.json`), declared)
    expect(compareValues(proto, json, { rtol: 0, atol: 0 })).toBeUndefined()
  })
})
