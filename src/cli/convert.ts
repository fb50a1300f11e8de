import { dirname, resolve } from 'node:path'
import { convertModel, type ConvertOptions } from '../convert/convert.ts'
import type { Change } from '../convert/edits/nodes.ts'
import { dialectOf, filesOf, type Format, formatOf } from '../convert/formats.ts'
import { allGraphs, type Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { saveFiles } from '../io/save.ts'
import { ALL_CONVERSIONS } from '../ops/conversions.ts'
import { EXIT, failureIn } from './failure.ts'
import { inputShapes } from './inputs/input-shapes.ts'
import { type ModelFlags, openModel } from './model.ts'
import { type OpsFlags, registryOf } from './own-ops.ts'
import { print, type Terminal, warn } from './terminal.ts'

export interface ConvertFlags extends ModelFlags, OpsFlags {
  readonly externalData?: number
  readonly inferShapes?: boolean
  readonly inputShape?: readonly string[]
  readonly from?: readonly string[]
  readonly to?: readonly string[]
  readonly simplify?: boolean
  readonly f16?: boolean
  readonly opset?: number
  readonly json?: boolean
}

/** `nodewise convert <in> <out>` */
export async function convert(
  [from, to]: readonly [string, string],
  flags: ConvertFlags,
  terminal: Terminal
): Promise<number> {
  const format = formatOf(to)
  const model = await openModel(from, flags, { terminal, whole: true })
  try {
    const options = optionsOf(model, format, flags)
    const { model: edited, changed } = convertModel(model, registryOf(flags), ALL_CONVERSIONS, options)
    const written = filesOf(edited, to, {
      keepExternal: resolve(dirname(from)) === resolve(dirname(to)),
      ...(flags.externalData !== undefined && { externalBytes: flags.externalData })
    })
    await saveFiles(written.files)
    if (flags.json) print(terminal, stringifyExact(resultJson(edited, written.bytes, changed), 2))
    else {
      for (const { node, how } of changed) print(terminal, `${node}: ${how}`)
      for (const note of written.notes) terminal.stderr.write(`${note}\n`)
      if (flags.externalData !== undefined && format !== '.onnx')
        warn(terminal, `--external-data is not used: a file of ${format} has no external data`)
    }
    return EXIT.yes
  } catch (error) {
    throw failureIn(model, error)
  }
}

const optionsOf = (
  model: Model,
  format: Format,
  { from, to, inputShape, simplify, opset, f16, inferShapes }: ConvertFlags
): ConvertOptions => ({
  dialect: dialectOf(format),
  ...(from && { from: from.flatMap(text => valueNames(model, text)) }),
  ...(to && { to: to.flatMap(text => valueNames(model, text)) }),
  ...(inputShape && { inputShapes: inputShapes(model, inputShape) }),
  ...(opset !== undefined && { opset }),
  simplify: simplify === true,
  half: f16 === true,
  inferShapes: inferShapes === true
})

/** Names of values, separated by commas; a name may have commas itself. */
const valueNames = ({ graph }: Model, text: string): string[] =>
  [...graph.values.values()].some(({ names }) => names.includes(text))
    ? [text]
    : text.split(',').map(name => name.trim())

const resultJson = (model: Model, bytes: number, changed: readonly Change[]): Json => ({
  ...sizesOf(model),
  bytes,
  changed: changed.map(change => ({ ...change }))
})

/** Nodes and values of all graphs. */
function sizesOf(model: Model): { nodes: number; values: number } {
  const sizes = { nodes: 0, values: 0 }
  for (const { nodes, values } of allGraphs(model)) {
    sizes.nodes += nodes.length
    sizes.values += values.size
  }
  return sizes
}
