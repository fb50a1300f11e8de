import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, temporaryFolder } from '../command.ts'

export const palette = join(MODELS, 'palette.onnx')

/** Rows of the table of `gather`. */
export const TABLE = 'table=[[0,1,2],[10,11,12]]'

/** Models in a folder that goes with the file of tests which asks for it. */
export interface RunModels {
  readonly folder: string
  /** Writes a file into the folder; its path. */
  readonly file: (name: string, content: string | Uint8Array) => string
  readonly gather: string
  readonly identity: string
}

export function runModels(): RunModels {
  const folder = temporaryFolder()
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const gather = file(
    'gather.onnx',
    onnxBytes({
      inputs: [port('table', 'float', ['rows', 3]), port('ids', 'int64', ['n'])],
      outputs: [port('y', 'float', ['n', 3])],
      nodes: [node('Gather', ['table', 'ids'], ['y'])]
    })
  )
  const identity = file(
    'identity.onnx',
    onnxBytes({
      inputs: [port('a', 'float', ['n', 'm']), port('b', 'int64', ['n'])],
      outputs: [port('x', 'float'), port('y', 'int64')],
      nodes: [node('Identity', ['a'], ['x']), node('Identity', ['b'], ['y'])]
    })
  )
  return { folder, file, gather, identity }
}
