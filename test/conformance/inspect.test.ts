import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { registryWith } from '../../src/built-in.ts'
import { describeModel } from '../../src/cli/inspect/describe.ts'
import { inspectText } from '../../src/cli/inspect/text.ts'
import { load } from '../../src/load.ts'
import { DATA, describeData } from './data.ts'
import { indexOf } from './supported.ts'

/** The folders of the data that hold models; a new folder takes part without being named here. */
const foldersOfModels = (): string[] => readdirSync(DATA).filter(folder => modelsIn(folder).length > 0)

/** The models of a folder; a `layer.xml` is an excerpt of the documentation that is no XML by itself. */
const modelsIn = (folder: string): string[] =>
  statSync(join(DATA, folder)).isDirectory()
    ? readdirSync(join(DATA, folder), { recursive: true, encoding: 'utf8' })
        .filter(name => /\.(onnx|xml)$/.test(name) && !name.endsWith('/layer.xml'))
        .map(name => `${folder}/${name}`)
        .sort()
    : []

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

/** The nodes or layers that another reader finds in a model. */
function countedByAnotherReader(name: string, bytes: Uint8Array): number {
  if (name.endsWith('.xml')) return countLayers(xml.parse(bytes))
  const { graph, functions = [] } = onnx.ModelProto.decode(bytes)
  return [graph, ...functions].reduce((sum, each) => sum + countNodes(each), 0)
}

const registry = registryWith()

/** Operators that inspect names in a model, those that are functions of the model aside; by the model's name. */
const operators = new Map<string, readonly string[]>()

/** What inspect says of a model. */
async function described(name: string, bytes: Uint8Array): Promise<ReturnType<typeof describeModel>> {
  const model = await load(bytes, { name })
  const found = describeModel(model, registry, bytes.length)
  const own = new Set(
    [...model.functions.values()].map(({ domain, name: function_ }) =>
      domain === 'ai.onnx' ? function_ : `${domain}::${function_}`
    )
  )
  operators.set(
    name,
    Object.keys(found.ops).filter(op => !own.has(op))
  )
  return found
}

describeData('inspect over all models', () => {
  // A fragment of the documentation is no whole file, and other readers do not count it.
  const isWhole = (name: string): boolean => !name.endsWith('/fragment.xml')

  test.each(foldersOfModels())(
    'counts what another reader counts and prints for people every model of %s, without its weights',
    async folder => {
      for (const name of modelsIn(folder)) {
        const bytes = readFileSync(join(DATA, name))
        const found = await described(name, bytes)
        if (isWhole(name)) {
          expect(`${name}: ${found.nodes}`).toBe(`${name}: ${countedByAnotherReader(name, bytes)}`)
          expect(Object.values(found.ops).reduce((a, b) => a + b, 0)).toBe(found.nodes)
        }
        const text = inspectText(found)
        expect(text.startsWith(name)).toBe(true)
        expect(text).not.toMatch(/undefined|\[object/)
      }
    }
  )

  test.each(['onnx-node', 'zoo', 'openvino-zoo', 'contrib'])(
    'names the operators that the index of %s names',
    async folder => {
      for (const { name, ops = [] } of indexOf(folder)) {
        const file = folder === 'openvino-zoo' ? 'model.xml' : 'model.onnx'
        const path = `${folder}/${name}/${file}`
        if (!operators.has(path)) await described(path, readFileSync(join(DATA, path)))
        expect(`${name}: ${[...operators.get(path)!].sort().join(' ')}`).toBe(
          `${name}: ${[...new Set(ops.map(op => op.split('@')[0]))].sort().join(' ')}`
        )
      }
    }
  )
})
