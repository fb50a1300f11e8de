import type { Model } from '../graph/graph.ts'
import { load } from '../load.ts'
import { failureOf } from './failure.ts'

/** The model that a command is about; its failures carry the file's name. */
export async function openModel(path: string, { dataRoot }: { dataRoot?: string }): Promise<Model> {
  try {
    return await load(path, dataRoot === undefined ? {} : { dataRoot })
  } catch (error) {
    throw failureOf(error).at({ file: path })
  }
}
