import { closeSync, openSync, readSync } from 'node:fs'
import { extname, isAbsolute, join, resolve, sep } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import { isUrl } from '../places.ts'
import { statOf } from '../stat.ts'

/** The files that a command is about. */
export interface Selection {
  /** Paths and URLs in the order of the arguments, each once. */
  readonly files: readonly string[]
  /** Folders and globs that have no models. */
  readonly failures: readonly NodewiseError[]
  /** More was asked for than one file by its name; then reports have the form for many, whatever was found. */
  readonly isMany: boolean
}

export interface SelectOptions {
  /** Files that folders and globs leave out. */
  readonly isExcluded?: (file: string) => boolean
  /** Folder that the arguments start from, if it is not that of the process. */
  readonly folder?: string
  /** Pass over `.xml` files that are no models, also where they are named. */
  readonly onlyModels?: boolean
}

const SUFFIXES = new Set(['.onnx', '.onnxtxt', '.xml'])
/** Folders in which no models are looked for. */
const NEVER = ['**/node_modules/**']

/** Files, folders (all models in them, at any depth) and globs, as files. */
export async function selectFiles(args: readonly string[], options: SelectOptions = {}): Promise<Selection> {
  const { folder = '', onlyModels = false } = options
  const files = new Map<string, string>()
  const failures: NodewiseError[] = []
  let isMany = args.length !== 1
  for (const arg of args) {
    const path = isUrl(arg) ? arg : fromFolder(folder, arg)
    const stat = isUrl(arg) ? undefined : statOf(path)
    const kind = stat?.isDirectory() ? 'folder' : stat || isUrl(arg) || !isGlob(arg) ? 'file' : 'glob'
    if (kind !== 'file') isMany = true
    const found = kind === 'file' ? [path] : await filesIn(kind, path, options)
    if (found.length === 0) failures.push(new NodewiseError('missing-file', nothingIn(kind), { file: path }))
    for (const file of found)
      if (!onlyModels || kind !== 'file' || !isOtherXml(file)) files.set(isUrl(file) ? file : resolve(file), file)
  }
  return { files: [...files.values()], failures, isMany }
}

/** A path as it is shown: where the command runs in another folder, from there. */
const fromFolder = (folder: string, path: string): string =>
  folder === '' || isAbsolute(path) ? path : join(folder, path)

const isGlob = (text: string): boolean => /[*?[\]{}]/.test(text)

const nothingIn = (kind: string): string =>
  kind === 'folder' ? 'the folder has no .onnx, .onnxtxt or .xml of a model' : 'no file is like this pattern'

async function filesIn(
  kind: 'folder' | 'glob',
  path: string,
  { isExcluded = () => false }: SelectOptions
): Promise<string[]> {
  const { glob } = await import('tinyglobby')
  const [folder, pattern] = kind === 'folder' ? [path, '**/*.{onnx,onnxtxt,xml}'] : withoutGlob(path)
  const found = await glob(pattern, {
    cwd: folder === '' ? '.' : folder,
    ignore: NEVER,
    followSymbolicLinks: false,
    expandDirectories: false
  })
  // A glob that names a suffix means it; others are about models.
  const isNamed = kind === 'glob' && /\.[^*?/]+$/.test(pattern)
  return found
    .map(file => join(folder, file))
    .filter(file => (isNamed || (SUFFIXES.has(extname(file)) && !isOtherXml(file))) && !isExcluded(file))
    .sort()
}

/** The folder that a glob begins with, and the rest of it. */
function withoutGlob(path: string): [folder: string, pattern: string] {
  const parts = (sep === '\\' ? path.replaceAll('\\', '/') : path).split('/')
  const first = parts.findIndex(isGlob)
  const folder = parts.slice(0, first).join('/')
  return [folder === '' && first > 0 ? '/' : folder, parts.slice(first).join('/')]
}

const HEAD = 4096

/** Whether a file is XML of something else than a model: its first element is neither `<net>` nor `<layer>`. */
function isOtherXml(file: string): boolean {
  if (extname(file) !== '.xml') return false
  const bytes = Buffer.alloc(HEAD)
  try {
    const handle = openSync(file, 'r')
    try {
      const first = firstElement(bytes.toString('latin1', 0, readSync(handle, bytes, 0, HEAD, 0)))
      return first !== undefined && first !== 'net' && first !== 'layer'
    } finally {
      closeSync(handle)
    }
  } catch {
    // What cannot be read is told where it is opened.
    return false
  }
}

/** The name of the first element of XML, after declarations and comments; undefined where it is not in this part. */
function firstElement(head: string): string | undefined {
  let at = head.indexOf('<')
  while (at >= 0 && (head[at + 1] === '?' || head[at + 1] === '!')) {
    const end = head.startsWith('<!--', at) ? '-->' : head[at + 1] === '?' ? '?>' : '>'
    const next = head.indexOf(end, at + 2)
    at = next < 0 ? -1 : head.indexOf('<', next)
  }
  return at < 0 ? undefined : /^[^\s/>]+/.exec(head.slice(at + 1))?.[0]
}
