import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { fillInputs } from '../../src/cli/inputs/fill.ts'
import { type Case, findCases } from '../../src/cli/test/cases.ts'
import { runCase } from '../../src/cli/test/run-case.ts'
import { compare, convert, load, type Model, NodewiseError } from '../../src/index.ts'
import { DATA, describeData } from './data.ts'

const other = (model: Model): Model => convert(model, { dialect: model.dialect === 'onnx' ? 'openvino' : 'onnx' }).model

/** Cases that have outputs, each in a session of its own: variables are inputs and outputs in the other dialect. */
const casesOf = (folder: string): Case[] =>
  findCases(join(DATA, folder)).filter(
    one => !existsSync(join(one.folder, 'expect.json')) && !existsSync(join(one.folder, 'stateful.txt'))
  )

interface Told {
  readonly refused: string[]
  /** Cases that neither give the recorded outputs nor are refused with each node and its reason. */
  readonly wrong: string[]
}

/** Says cases in the other dialect and runs them. */
async function convertAll(cases: readonly Case[]): Promise<Told> {
  const told: Told = { refused: [], wrong: [] }
  for (const one of cases) {
    let refusal: NodewiseError | undefined
    const attempt = (model: Model): Model => {
      try {
        return other(model)
      } catch (error) {
        if (error instanceof NodewiseError && error.code === 'unsupported-op') refusal = error
        throw error
      }
    }
    const { status, message } = await runCase(one, { convert: attempt })
    const name = basename(one.folder)
    if (refusal !== undefined) {
      const nodes = refusal.details.nodes as readonly { readonly node: string; readonly reason: string }[]
      if (nodes.length > 0 && nodes.every(({ reason }) => reason !== '')) told.refused.push(name)
      else told.wrong.push(`${name}: refused without a reason`)
    } else if (status !== 'pass') told.wrong.push(`${name}: ${status} ${message}`)
  }
  return told
}

const TIMEOUT = { timeout: 300_000 }

describeData(
  'a model in the other dialect gives the recorded outputs, or its nodes are refused with the reason',
  () => {
    test('models of the zoo as IR', TIMEOUT, async () => {
      const { refused, wrong } = await convertAll(casesOf('zoo'))
      expect(wrong).toEqual([])
      expect(refused).toEqual([])
    })

    test('IR models of the zoo as ONNX, but for twins with other dims', TIMEOUT, async () => {
      const { refused, wrong } = await convertAll(
        casesOf('openvino-zoo').filter(({ folder }) => !/_(static|bounded)$/.test(folder))
      )
      expect(wrong).toEqual([])
      expect(refused.length).toBeLessThanOrEqual(7)
    })

    test('single layers of IR as ONNX, every fourth of them', TIMEOUT, async () => {
      const cases = casesOf('openvino-op').filter((_, i) => i % 4 === 0)
      const { refused, wrong } = await convertAll(cases)
      expect(wrong).toEqual([])
      expect(refused.length).toBeLessThanOrEqual(0.1 * cases.length)
    })

    test('single operators of com.microsoft as IR, every third of them', TIMEOUT, async () => {
      const { wrong } = await convertAll(casesOf('contrib').filter((_, i) => i % 3 === 0))
      expect(wrong).toEqual([])
    })

    test.each(['bert', 'llama_dynamo', 'shuffle_unit', 'control_flow', 'lstm_gru_tagger', 'dlrm'])(
      'there and back: %s is equal at every node that both have',
      TIMEOUT,
      async name => {
        const model = await load(join(DATA, 'zoo', name, 'model.onnx'))
        const feeds = Object.fromEntries(
          fillInputs(model, new Map(), { fill: { how: 'random', seed: 1 }, guess: true })
        )
        const { equal, pairs } = await compare(model, other(other(model)), feeds)
        expect(equal).toBe(true)
        expect(pairs.length).toBeGreaterThan(0)
      }
    )
  }
)
