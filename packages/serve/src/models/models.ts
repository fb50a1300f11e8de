import { inThread, type StartEngine } from '../engine/instance.ts'
import { Refusal, refusalOf } from '../refusal.ts'
import type { ModelFolder, Repository } from './repository.ts'
import { type ModelDefaults, ModelVersion } from './version.ts'

/** States of the repository extension. */
export type State = 'READY' | 'LOADING' | 'UNLOADING' | 'UNAVAILABLE'

/** A line of the repository's index. */
export interface IndexEntry {
  readonly name: string
  readonly version: string
  readonly state: State
  readonly reason: string
}

export interface ModelsOptions extends ModelDefaults {
  /** Bytes that weights of all models may take; beyond it models that nobody uses are put away until they are asked. */
  readonly modelMemory?: number
  readonly startEngine?: StartEngine
}

/** Tells what happens to models. */
export type Tell = (event: 'loaded' | 'unloaded' | 'failed' | 'put away', name: string, more: object) => void

/** A model that has been asked for. */
interface Entry {
  readonly name: string
  versions: ReadonlyMap<string, ModelVersion>
  fingerprint: string
  state: State
  reason: string
  /** Served, but its engines are put away until a request comes. */
  isAway: boolean
  /** Requests that wait until it is back. */
  wanted: number
}

/** Names that a refusal lists. */
const MAX_LISTED = 20

/** The models of a repository: which are loaded, and in what state they are. */
export class Models {
  private readonly repository: Repository
  private readonly options: ModelsOptions
  private readonly tell: Tell
  private readonly entries = new Map<string, Entry>()
  /** The last change of each model that was begun; changes of a model follow each other, also where it was unloaded. */
  private readonly turns = new Map<string, Promise<unknown>>()
  /** Names that a request has unloaded: they stay so until one loads them. */
  private readonly unloaded = new Set<string>()
  /** Versions that are being loaded. */
  private readonly loading = new Set<ModelVersion>()
  private isClosed = false

  constructor(repository: Repository, options: ModelsOptions, tell: Tell = () => undefined) {
    this.repository = repository
    this.options = options
    this.tell = tell
  }

  /** Whether every model that was asked for is loaded. */
  get isReady(): boolean {
    return [...this.entries.values()].every(({ state }) => state === 'READY')
  }

  /** All versions that are loaded. */
  get loaded(): ModelVersion[] {
    return [...this.entries.values()].flatMap(({ versions }) => [...versions.values()])
  }

  /** Loads all models of the repository; those that fail are told and stay unavailable. */
  async loadAll(): Promise<void> {
    for (const name of this.repository.names()) this.entryOf(name).state = 'LOADING'
    for (const name of this.repository.names())
      if (!this.unloaded.has(name)) await this.load(name).catch(() => undefined)
  }

  /** What the repository offers, loaded or not. */
  index(): IndexEntry[] {
    const names = new Set([...this.repository.names(), ...this.entries.keys()])
    return [...names].sort().flatMap(name => this.indexOf(name))
  }

  private indexOf(name: string): IndexEntry[] {
    const { state, reason, versions } = this.entries.get(name) ?? { state: 'UNAVAILABLE' as const, reason: '' }
    let known: string[]
    try {
      known = this.repository.find(name).versions.map(({ version }) => version)
    } catch {
      known = []
    }
    for (const version of versions?.keys() ?? []) if (!known.includes(version)) known.push(version)
    if (known.length === 0) known.push('')
    return known.map(version => {
      const isServed = versions?.has(version) === true
      if (isServed && state === 'READY') return { name, version, state, reason: '' }
      const isOther = versions !== undefined && versions.size > 0 && !isServed
      return { name, version, state: isOther || state === 'READY' ? 'UNAVAILABLE' : state, reason }
    })
  }

  /**
   * Loads a model, or loads it anew: requests that are under way end with the engines that they began with. Where it
   * cannot be loaded, what was there before stays.
   * @throws Refusal (as a rejection)
   */
  load(name: string): Promise<void> {
    let folder: ModelFolder
    try {
      folder = this.repository.find(name)
    } catch (error) {
      const entry = this.entries.get(name)
      if (entry && entry.versions.size === 0)
        Object.assign(entry, { state: 'UNAVAILABLE', reason: refusalOf(error).message })
      return Promise.reject(refusalOf(error))
    }
    this.unloaded.delete(name)
    this.entryOf(name)
    return this.change(name, () => this.loadNow(this.entryOf(name), folder))
  }

  /**
   * Unloads a model until it is loaded by name: no look at the repository brings it back.
   * @throws Refusal (as a rejection) `unknown-model`
   */
  unload(name: string): Promise<void> {
    if (!this.entries.has(name)) return Promise.reject(this.unknown(name))
    this.unloaded.add(name)
    return this.remove(name)
  }

  private remove(name: string): Promise<void> {
    return this.change(name, async () => {
      const entry = this.entries.get(name)
      if (entry === undefined) return
      const { versions } = entry
      entry.state = 'UNLOADING'
      entry.versions = new Map()
      await drainAll(versions.values())
      this.entries.delete(name)
      this.tell('unloaded', name, {})
    })
  }

  /**
   * A loaded version; the latest where none is named.
   * @throws Refusal `unknown-model`, `not-ready`
   */
  find(name: string, version = ''): ModelVersion {
    const entry = this.entries.get(name)
    if (!entry) throw this.unknown(name)
    if (entry.versions.size === 0)
      throw new Refusal('not-ready', `model "${name}" is not ready${entry.reason === '' ? '' : `: ${entry.reason}`}`, {
        ...(entry.state === 'LOADING' && { retryAfter: 1 })
      })
    const found = version === '' ? [...entry.versions.values()].at(-1) : entry.versions.get(version)
    if (!found) throw new Refusal('unknown-model', `model "${name}" has no version ${JSON.stringify(version)}`)
    return found
  }

  /** The same with its engines at hand, which are loaded again where they were put away. */
  async awake(name: string, version?: string): Promise<ModelVersion> {
    const found = this.find(name, version)
    const entry = this.entryOf(name)
    if (!entry.isAway) return found
    entry.wanted++
    try {
      await this.change(name, async () => {
        const isThere = this.entries.get(name) === entry
        if (isThere && entry.isAway) await this.loadNow(entry, this.repository.find(name))
      })
    } finally {
      entry.wanted--
    }
    return this.find(name, version)
  }

  /** Names of versions that are loaded, the latest last. */
  versionsOf = (name: string): string[] => [...(this.entries.get(name)?.versions.keys() ?? [])]

  /** Whether a model can answer. */
  isModelReady(name: string, version?: string): boolean {
    const { queue } = this.find(name, version)
    return this.entryOf(name).state === 'READY' && !queue.isHalted
  }

  /**
   * Loads anew what has changed in the repository, loads what is new and unloads what is gone.
   * @param seen fingerprints of the last look: a file that is still being written is left until the next
   * @param isAll whether models are loaded that nobody has asked for
   */
  async refresh(seen: Map<string, string>, isAll: boolean): Promise<void> {
    const names = this.repository.names()
    for (const name of names) {
      if (!this.entries.has(name) && (!isAll || this.unloaded.has(name))) continue
      let fingerprint: string
      try {
        ;({ fingerprint } = this.repository.find(name))
      } catch {
        continue
      }
      const isStill = seen.get(name) === fingerprint
      seen.set(name, fingerprint)
      if (isStill && this.entries.get(name)?.fingerprint !== fingerprint) await this.load(name).catch(() => undefined)
    }
    for (const name of this.entries.keys())
      if (!names.includes(name) && !seen.delete(name)) await this.remove(name).catch(() => undefined)
    // What comes back under the name of one that is gone is another model.
    for (const name of this.unloaded) if (!names.includes(name)) this.unloaded.delete(name)
  }

  /** Ends all engines when their requests are over or `patience` milliseconds have passed; nothing is loaded then. */
  async close(patience: number): Promise<void> {
    this.isClosed = true
    const begun = [...this.loading].map(version => version.close())
    const drained = Promise.all(this.loaded.map(({ queue }) => queue.drained()))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([drained, new Promise(resolve => (timer = setTimeout(resolve, patience)))])
    clearTimeout(timer)
    await Promise.all([...begun, ...this.loaded.map(version => version.close())])
    this.entries.clear()
  }

  private unknown(name: string): Refusal {
    const known = [...this.entries.keys()].slice(0, MAX_LISTED).map(one => JSON.stringify(one))
    const others = known.length > 0 ? `; there are ${known.join(', ')}` : ''
    return new Refusal('unknown-model', `there is no model ${JSON.stringify(name)}${others}`)
  }

  private entryOf(name: string): Entry {
    let entry = this.entries.get(name)
    if (!entry) {
      entry = { name, versions: new Map(), fingerprint: '', state: 'LOADING', reason: '', isAway: false, wanted: 0 }
      this.entries.set(name, entry)
    }
    return entry
  }

  private change(name: string, action: () => Promise<void>): Promise<void> {
    const done = (this.turns.get(name) ?? Promise.resolve()).then(action)
    const turn = done
      .catch(() => undefined)
      .then(() => {
        if (this.turns.get(name) === turn) this.turns.delete(name)
      })
    this.turns.set(name, turn)
    return done
  }

  private async loadNow(entry: Entry, folder: ModelFolder): Promise<void> {
    const { name } = entry
    const before = entry.versions
    const started = performance.now()
    const versions = new Map<string, ModelVersion>()
    entry.fingerprint = folder.fingerprint
    if (before.size === 0) entry.state = 'LOADING'
    try {
      for (const file of folder.served) {
        if (this.isClosed) throw new Refusal('not-ready', 'the server is ending')
        const { startEngine = inThread, ...defaults } = this.options
        const onChange = (): void => {
          // Where it has been replaced, others answer already.
          if (entry.versions.get(file.version) === version) void this.load(name).catch(() => undefined)
        }
        const version = new ModelVersion(name, file, { config: folder.config, defaults, startEngine, onChange })
        versions.set(file.version, version)
        this.loading.add(version)
        await version.load().finally(() => this.loading.delete(version))
      }
    } catch (error) {
      await drainAll(versions.values())
      const { code, message } = refusalOf(error)
      // Nothing is said against the files: the next look tries them again.
      if (code === 'files-changed' || code === 'worker-ended') entry.fingerprint = ''
      if (before.size === 0) Object.assign(entry, { state: 'UNAVAILABLE', reason: message })
      if (!this.isClosed) this.tell('failed', name, { reason: message })
      throw error
    }
    Object.assign(entry, { versions, state: 'READY', reason: '', isAway: false })
    this.tell('loaded', name, { versions: [...versions.keys()], milliseconds: performance.now() - started })
    void drainAll(before.values())
    await this.makeRoom(entry)
  }

  /** Puts models away that have been idle for longest, until the others fit. */
  private async makeRoom(kept: Entry): Promise<void> {
    const { modelMemory = Infinity } = this.options
    const memoryOf = ({ versions }: Entry): number =>
      [...versions.values()].reduce((sum, { memory }) => sum + memory, 0)
    const lastUsed = ({ versions }: Entry): number => Math.max(...[...versions.values()].map(one => one.lastUsed))
    for (;;) {
      const used = [...this.entries.values()].reduce((sum, entry) => sum + memoryOf(entry), 0)
      if (used <= modelMemory) return
      const [idle] = [...this.entries.values()]
        .filter(entry => entry !== kept && !entry.isAway && entry.wanted === 0 && memoryOf(entry) > 0)
        .filter(({ versions }) => [...versions.values()].every(({ queue }) => queue.isIdle))
        .sort((a, b) => lastUsed(a) - lastUsed(b))
      if (idle === undefined) return
      idle.isAway = true
      await Promise.all([...idle.versions.values()].map(version => version.close()))
      this.tell('put away', idle.name, { used, limit: modelMemory })
    }
  }
}

/** Ends versions when their requests are over. */
async function drainAll(versions: Iterable<ModelVersion>): Promise<void> {
  await Promise.all(
    [...versions].map(async version => {
      await version.queue.drained()
      await version.close()
    })
  )
}
