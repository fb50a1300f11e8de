import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { inspectText } from '../../src/cli/inspect-text.ts'
import { describeModel } from '../../src/cli/inspect.ts'
import { load } from '../../src/load.ts'
import { DATA, describeData } from './data.ts'
import { indexOf } from './supported.ts'

const modelsNamed = (pattern: RegExp): string[] =>
  readdirSync(DATA, { recursive: true, encoding: 'utf8' })
    .filter(name => pattern.test(name))
    .sort()

/** A graph as another reader of ONNX has it, as far as counting needs it. */
interface RawGraph {
  readonly node?: readonly RawNode[]
}
interface RawNode {
  readonly attribute?: readonly { readonly g?: RawGraph | null; readonly graphs?: readonly RawGraph[] }[]
}
interface RawModel {
  readonly graph: RawGraph
  readonly functions?: readonly RawGraph[]
}

const { onnx } = createRequire(import.meta.url)('onnx-proto') as {
  onnx: { ModelProto: { decode(bytes: Uint8Array): RawModel } }
}

const countNodes = (graph: RawGraph): number =>
  (graph.node ?? []).reduce(
    (sum, { attribute = [] }) =>
      sum +
      1 +
      attribute.reduce(
        (inner, { g, graphs = [] }) =>
          inner + [...(g ? [g] : []), ...graphs].reduce((all, body) => all + countNodes(body), 0),
        0
      ),
    0
  )

const xml = new XMLParser({ ignoreAttributes: false, isArray: name => name === 'layer' })

/** Every <layer> of <layers>, at any depth. */
function countLayers(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countLayers(item), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [name, item]) => sum + (name === 'layers' ? layersIn(item) : 0) + countLayers(item),
    0
  )
}

const layersIn = (layers: { layer?: unknown[] } | undefined): number => layers?.layer?.length ?? 0

describeData('inspect over all models', () => {
  test('counts the nodes of every ONNX model, in bodies and functions too, as another reader does', async () => {
    const models = modelsNamed(/(^|\/)model\.onnx$/)
    expect(models).toHaveLength(1866)
    for (const name of models) {
      const { graph, functions = [] } = onnx.ModelProto.decode(readFileSync(join(DATA, name)))
      const expected = [graph, ...functions].reduce((sum, each) => sum + countNodes(each), 0)
      const found = describeModel(await load(join(DATA, name)))
      expect(`${name}: ${found.nodes}`).toBe(`${name}: ${expected}`)
      expect(Object.values(found.ops).reduce((a, b) => a + b, 0)).toBe(found.nodes)
    }
  })

  test('counts the layers of every IR, in bodies too, as another reader does', async () => {
    const models = modelsNamed(/(^|\/)model\.xml$/)
    expect(models).toHaveLength(1620)
    for (const name of models) {
      const expected = countLayers(xml.parse(readFileSync(join(DATA, name))))
      const found = describeModel(await load(join(DATA, name)))
      expect(`${name}: ${found.nodes}`).toBe(`${name}: ${expected}`)
    }
  })

  test.each(['onnx-node', 'zoo', 'openvino-zoo'])('names the operators that the index of %s names', async folder => {
    for (const { name, ops = [] } of indexOf(folder)) {
      const model = await load(join(DATA, folder, name, folder === 'openvino-zoo' ? 'model.xml' : 'model.onnx'))
      const own = new Set(
        [...model.functions.values()].map(({ domain, name: function_ }) =>
          domain === 'ai.onnx' ? function_ : `${domain}::${function_}`
        )
      )
      const found = Object.keys(describeModel(model).ops).filter(op => !own.has(op))
      expect(`${name}: ${found.sort().join(' ')}`).toBe(
        `${name}: ${[...new Set(ops.map(op => op.split('@')[0]))].sort().join(' ')}`
      )
    }
  })

  test('needs no .bin, and prints every model for people', async () => {
    for (const name of modelsNamed(/(^|\/)(model\.(xml|onnx)|fragment\.xml)$/)) {
      const bytes = readFileSync(join(DATA, name))
      const text = inspectText(describeModel(await load(bytes, { name }), bytes.length))
      expect(text.startsWith(name)).toBe(true)
      expect(text).not.toMatch(/undefined|\[object/)
    }
  })
})
