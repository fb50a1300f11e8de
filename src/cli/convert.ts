import { dirname, resolve } from 'node:path'
import { type Conversion, convertModel } from '../convert/convert.ts'
import { dialectOf, filesOf, formatOf, type ModelFiles } from '../convert/formats.ts'
import { allGraphs, type Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { saveFiles } from '../io/save.ts'
import { EXIT, failureIn } from './failure.ts'
import { type ModelFlags, openModel } from './model.ts'
import { print, type Terminal } from './terminal.ts'

export interface ConvertFlags extends ModelFlags {
  readonly externalData?: number
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
    const conversion = convertModel(model, { dialect: dialectOf(format) })
    const written = filesOf(conversion.model, to, {
      keepExternal: resolve(dirname(from)) === resolve(dirname(to)),
      ...(flags.externalData !== undefined && { externalBytes: flags.externalData })
    })
    await saveFiles(written.files)
    if (flags.json) print(terminal, stringifyExact(resultJson(conversion, written), 2))
    else {
      for (const { node, how } of conversion.changed) print(terminal, `${node}: ${how}`)
      for (const note of written.notes) terminal.stderr.write(`${note}\n`)
    }
    return EXIT.yes
  } catch (error) {
    throw failureIn(model, error)
  }
}

function resultJson({ model, changed }: Conversion, { bytes }: ModelFiles): Json {
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
