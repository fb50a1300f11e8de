import { existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import { Refusal } from '../refusal.ts'
import { type ModelConfig, readConfig } from './config.ts'

/** Where a version of a model lies. */
export interface VersionFile {
  readonly version: string
  /** The file that is loaded. */
  readonly path: string
  /** All files beside it, of which weights may come, and itself. */
  readonly files: readonly string[]
}

/** A model that a repository offers. */
export interface ModelFolder {
  readonly name: string
  /** All versions, the latest last. */
  readonly versions: readonly VersionFile[]
  /** Those that are served. */
  readonly served: readonly VersionFile[]
  readonly config: ModelConfig
  /** Changes when a file of it does. */
  readonly fingerprint: string
}

/** Files that are models, best first. */
const MODEL_FILES = ['model.onnx', 'model.xml', 'model.onnxtxt']
const SUFFIXES = ['.onnx', '.xml', '.onnxtxt']
const CONFIG = 'nodewise.json'

/** Where models come from. */
export interface Repository {
  /** Names of its models. */
  names(): string[]
  /**
   * A model as the files say it now.
   * @throws Refusal `unknown-model`; `bad-request` for a wrong configuration
   */
  find(name: string): ModelFolder
}

/**
 * One model file, or a folder of folders as Triton and OpenVINO Model Server have it: `name/1/model.onnx`. A folder
 * without numbered versions, `name/model.onnx`, is version 1.
 * @param name of a single model; that of its file when left out
 * @throws Refusal `missing-file`
 */
export function openRepository(path: string, name?: string): Repository {
  const root = resolve(path)
  if (!existsSync(root)) throw new Refusal('missing-file', `there is no model and no repository ${path}`)
  if (statSync(root).isFile()) return singleFile(root, name ?? basename(root, extname(root)))
  const own = modelIn(root)
  if (own !== undefined || versionsIn(root).length > 0) return singleFolder(root, name ?? basename(root))
  return {
    names: () =>
      readdirSync(root, { withFileTypes: true })
        .filter(entry => !entry.name.startsWith('.') && isFolderOfModel(join(root, entry.name)))
        .map(entry => entry.name)
        .sort(),
    find: wanted => folderOf(inside(root, wanted), wanted)
  }
}

const unknown = (name: string): never => {
  throw new Refusal('unknown-model', `there is no model ${JSON.stringify(name)}`)
}

/** The folder of a model, which lies in the repository itself: names are no paths, and lead nowhere else. */
function inside(root: string, name: string): string {
  if (name === '' || name.startsWith('.') || /[/\\\0]/.test(name)) return unknown(name)
  const folder = join(root, name)
  if (!existsSync(folder)) return unknown(name)
  // Links inside the repository, such as those of a ConfigMap, are followed.
  const real = realpathSync(folder)
  return real.startsWith(realpathSync(root) + sep) ? folder : unknown(name)
}

const singleFile = (path: string, name: string): Repository => ({
  names: () => [name],
  find: wanted =>
    wanted === name
      ? described({ name, versions: [{ version: '1', path, files: [path] }], configPath: undefined })
      : unknown(wanted)
})

const singleFolder = (root: string, name: string): Repository => ({
  names: () => [name],
  find: wanted => (wanted === name ? folderOf(root, name) : unknown(wanted))
})

function folderOf(folder: string, name: string): ModelFolder {
  const direct = modelIn(folder)
  const versions = versionsIn(folder)
  if (direct !== undefined && versions.length === 0) versions.push(versionFile('1', direct))
  if (versions.length === 0) return unknown(name)
  const config = join(folder, CONFIG)
  return described({ name, versions, configPath: existsSync(config) ? config : undefined })
}

interface Found {
  readonly name: string
  readonly versions: readonly VersionFile[]
  readonly configPath: string | undefined
}

function described({ name, versions, configPath }: Found): ModelFolder {
  const config = configPath === undefined ? {} : readConfig(configPath)
  const wanted = config.versions ?? 'latest'
  const served =
    wanted === 'all'
      ? versions
      : wanted === 'latest'
        ? versions.slice(-1)
        : versions.filter(({ version }) => wanted.includes(Number(version)))
  if (served.length === 0) throw new Refusal('bad-request', `model "${name}" has none of the versions of its ${CONFIG}`)
  const own = configPath === undefined ? [] : [stampOfPath(configPath)]
  return { name, versions, served, config, fingerprint: [...own, ...versions.map(stampOf)].join('\n') }
}

const versionFile = (version: string, path: string): VersionFile => ({
  version,
  path,
  files: filesIn(dirname(path)).map(file => join(dirname(path), file))
})

/** Changes when a file of a version does. */
export const stampOf = ({ files }: VersionFile): string => files.map(stampOfPath).join('\n')

function stampOfPath(path: string): string {
  const { mtimeMs = 0, size = 0, ino = 0 } = statOf(path) ?? {}
  return `${path} ${mtimeMs} ${size} ${ino}`
}

function versionsIn(folder: string): VersionFile[] {
  return filesIn(folder)
    .filter(entry => /^[1-9]\d{0,15}$/.test(entry))
    .flatMap(version => {
      const path = modelIn(join(folder, version))
      return path === undefined ? [] : [versionFile(version, path)]
    })
    .sort((a, b) => Number(a.version) - Number(b.version))
}

/** The model file in a folder: one of the usual names, or the only one with the suffix of a model. */
function modelIn(folder: string): string | undefined {
  if (!statOf(folder)?.isDirectory()) return undefined
  const files = filesIn(folder)
  const usual = MODEL_FILES.find(name => files.includes(name))
  const only = files.filter(file => SUFFIXES.includes(extname(file)))
  const found = usual ?? (only.length === 1 ? only[0] : undefined)
  return found === undefined ? undefined : join(folder, found)
}

const isFolderOfModel = (folder: string): boolean =>
  statOf(folder)?.isDirectory() === true && (modelIn(folder) !== undefined || versionsIn(folder).length > 0)

/** What the system says of a path that leads to nothing that this process may see, such as `lost+found` of a volume. */
const OUT_OF_REACH: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']

const filesIn = (folder: string): string[] => withinReach(() => readdirSync(folder)) ?? []
const statOf = (path: string): Stats | undefined => withinReach(() => statSync(path))

/** Undefined for what is out of reach: that is no fault of the models beside it. */
function withinReach<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (OUT_OF_REACH.includes((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}
