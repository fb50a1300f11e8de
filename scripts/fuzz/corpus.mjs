// The models that mutants are made from: those of the repository, and the test data beside it where there is any.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = [
  'models',
  '../shared/data/contrib',
  '../shared/data/contrib-zoo',
  '../shared/data/gather',
  '../shared/data/ml',
  '../shared/data/onnx-node',
  '../shared/data/openvino-op',
  '../shared/data/openvino-op2',
  '../shared/data/openvino-zoo',
  '../shared/data/zoo'
]
/** Larger models make slow mutants. */
const MAX_BYTES = 24 * 1024

/** Folders that there are, relative to the repository. */
export const corpusFolders = () => FOLDERS.filter(folder => existsSync(join(ROOT, folder)))

/**
 * Models of a format in the order of their paths: `{ name, path, size }`, where `name` is stable from machine to
 * machine.
 * @param {'onnx' | 'ir'} format
 */
export function corpus(format, folders) {
  const extension = format === 'onnx' ? '.onnx' : '.xml'
  const found = []
  const walk = (folder, depth) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (depth < 3) walk(path, depth + 1)
      } else if (entry.name.endsWith(extension)) {
        const { size } = statSync(path)
        if (size <= MAX_BYTES) found.push({ name: relative(ROOT, path), path, size })
      }
    }
  }
  for (const folder of folders) walk(join(ROOT, folder), 0)
  if (found.length === 0) throw new Error(`no ${extension} model in ${folders.join(', ')}`)
  return found
}

const read = new Map()

/** Bytes of a model, of its .bin where it has one, and the folder of its inputs. */
export function baseModel({ path }) {
  let base = read.get(path)
  if (base === undefined) {
    const bin = path.replace(/\.xml$/, '.bin')
    const data = join(path, '../test_data_set_0')
    const isAlone = /^(model|layer|fragment)\./.test(basename(path))
    base = {
      model: readFileSync(path),
      bin: bin !== path && existsSync(bin) ? readFileSync(bin) : undefined,
      data: isAlone && existsSync(data) ? data : undefined
    }
    read.set(path, base)
  }
  return base
}
