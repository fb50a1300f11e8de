import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bytesSource, fileSource } from '../../src/files/byte-source.ts'
import { allGraphs, type Finding, type Model } from '../../src/graph/graph.ts'
import { loadOnnx } from '../../src/onnx/load.ts'

const DATA = join(import.meta.dirname, '../../../shared/data')

interface Case {
  readonly name: string
  /** Operators that occur, with their domain where it is not ONNX's own; bodies and functions included. */
  readonly ops: readonly string[]
}

interface Fault {
  readonly id: string
  readonly base: string
  readonly kind: string
  readonly description: string
  readonly file: string
}

interface FaultTools {
  judge(fault: Fault, findings: readonly Finding[]): { found: boolean; cascade: boolean }
  patched(bytes: Uint8Array, patch: readonly object[]): Uint8Array
}

/** Kinds of faults that can be found without knowing operators. */
const STRUCTURAL = new RegExp(
  'producer|output_not_produced|duplicate_(output|init)|cycle|node_order|dim_negative|' +
    'init_dims_vs_data|init_data_short|init_type_vs_data|vi_duplicate|domain_unknown'
)

function operatorsOf(model: Model): string[] {
  const names = new Set<string>()
  for (const graph of allGraphs(model))
    for (const { domain, type } of graph.nodes) names.add(domain === 'ai.onnx' ? type : `${domain}::${type}`)
  return [...names].sort()
}

function open(folder: string): Model {
  const path = join(folder, 'model.onnx')
  const source = fileSource(path)
  const model = loadOnnx(source, { file: path })
  for (const graph of allGraphs(model)) {
    expect(graph.findings).toEqual([])
    for (const constant of graph.initializers.values()) expect(constant.read().dims).toEqual(constant.dims)
    for (const node of graph.nodes) {
      for (const attribute of node.attributes.values())
        if (attribute.kind === 'tensor') expect(attribute.value.read().type).toBe(attribute.value.type)
    }
  }
  source.close()
  return model
}

describe.skipIf(!existsSync(DATA))('models of the real runtimes', () => {
  test.each(['onnx-node', 'zoo'])(
    'in %s load without a finding, their operators are those of the index, and every constant reads',
    folder => {
      const cases = JSON.parse(readFileSync(join(DATA, folder, 'index.json'), 'utf8')) as Case[]
      expect(cases.length).toBeGreaterThan(20)
      for (const { name, ops } of cases)
        expect(operatorsOf(open(join(DATA, folder, name))), name).toEqual([...ops].sort())
    }
  )

  test('in the gather family load without a finding', () => {
    const folders = ['examples', 'onnx', 'shapes'].flatMap(group =>
      readdirSync(join(DATA, 'gather', group)).map(name => join(DATA, 'gather', group, name))
    )
    const models = folders.filter(folder => existsSync(join(folder, 'model.onnx'))).map(open)
    expect(models.length).toBeGreaterThan(100)
  })

  if (existsSync(DATA))
    describe('with one seeded fault', async () => {
      const folder = join(DATA, 'faults', 'onnx')
      const { judge, patched } = (await import(join(DATA, 'faults', 'apply_fault.mjs'))) as FaultTools
      const list = (name: string): Fault[] => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fault[]
      const findingsOf = ({ base, file }: Fault): Finding[] => {
        const { patch } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { patch: object[] }
        const bytes = patched(readFileSync(join(folder, 'bases', base, 'model.onnx')), patch)
        return [...allGraphs(loadOnnx(bytesSource(file, bytes), { file }))].flatMap(graph => graph.findings)
      }

      test.each(list('index.json').filter(({ kind }) => STRUCTURAL.test(kind)))(
        '$id ($description): it is found at its place, and nothing else',
        fault => {
          expect(judge(fault, findingsOf(fault))).toMatchObject({ found: true, cascade: false })
        }
      )

      test('that the loader cannot see, or with a harmless oddity, load without a finding', () => {
        const others = [...list('index.json').filter(({ kind }) => !STRUCTURAL.test(kind)), ...list('harmless.json')]
        expect(others.length).toBeGreaterThan(50)
        for (const fault of others) expect(findingsOf(fault), fault.id).toEqual([])
      })
    })
})
