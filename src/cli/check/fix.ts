import { dirname, resolve } from 'node:path'
import type { Registry } from '../../bind/registry.ts'
import { fixDeclarations } from '../../convert/edits/edit.ts'
import type { Change } from '../../convert/edits/nodes.ts'
import { dialectOf, filesOf, formatOf } from '../../convert/formats.ts'
import type { Model } from '../../graph/graph.ts'
import { saveFiles } from '../../io/save.ts'
import { badUsage } from '../failure.ts'

/** Writes a model with its false declarations replaced, in its own dialect; says what it changed. */
export async function writeFixed(model: Model, out: string, registry: Registry): Promise<readonly Change[]> {
  const format = formatOf(out)
  if (dialectOf(format) !== model.dialect)
    badUsage(`--fix ${out}: the model stays in its dialect; nodewise convert writes the other one`)
  const { model: fixed, changed } = fixDeclarations(model, registry)
  const keepExternal = resolve(dirname(model.file)) === resolve(dirname(out))
  await saveFiles(filesOf(fixed, out, { keepExternal }).files)
  return changed
}
