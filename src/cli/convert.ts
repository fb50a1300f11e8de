import { dirname, resolve } from 'node:path'
import { registryWith } from '../built-in.ts'
import { inDialect } from '../convert/dialect.ts'
import { type Edited, editModel, type EditOptions } from '../convert/edits/edit.ts'
import { dialectOf, filesOf, formatOf, type ModelFiles } from '../convert/formats.ts'
import { allGraphs, type Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { saveFiles } from '../io/save.ts'
import { ALL_CONVERSIONS } from '../ops/conversions.ts'
import { EXIT, failureIn } from './failure.ts'
import { inputShapes } from './input-shapes.ts'
import { type ModelFlags, openModel } from './model.ts'
import { print, type Terminal } from './terminal.ts'

export interface ConvertFlags extends ModelFlags {
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
  const model = await openModel(from, flags)
  try {
    const said = inDialect(model, dialectOf(format), registryWith(), ALL_CONVERSIONS)
    const edited = editModel(said, registryWith(), editsOf(said, flags))
    const written = filesOf(edited.model, to, {
      keepExternal: resolve(dirname(from)) === resolve(dirname(to)),
      ...(flags.externalData !== undefined && { externalBytes: flags.externalData })
    })
    await saveFiles(written.files)
    if (flags.json) print(terminal, stringifyExact(resultJson(edited, written), 2))
    else {
      for (const { node, how } of edited.changed) print(terminal, `${node}: ${how}`)
      for (const note of written.notes) terminal.stderr.write(`${note}\n`)
    }
    return EXIT.yes
  } catch (error) {
    throw failureIn(model, error)
  }
}

const editsOf = (
  model: Model,
  { f16, from, to, inferShapes, inputShape, opset, simplify }: ConvertFlags
): EditOptions => ({
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
  graph.values.has(text) ? [text] : text.split(',').map(name => name.trim())

function resultJson({ model, changed }: Edited, { bytes }: ModelFiles): Json {
  return { ...sizesOf(model), bytes, changed: changed.map(change => ({ ...change })) }
}

/** Nodes and values of all graphs. */
function sizesOf(model: Model): { nodes: number; values: number } {
  const sizes = { nodes: 0, values: 0 }
  for (const { nodes, values } of allGraphs(model)) {
    sizes.nodes += nodes.length
    sizes.values += values.size
  }
  return sizes
}
