// Cuts a program for Node in parts: what every start needs, what an IR of OpenVINO and what networks need beside it,
// and the rest. A part is read when something of it is first asked for. A start costs what there is to read, to restore
// from V8's compiled form and to set up, so what it does not need must not be in the same script.
import { basename, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const nameOf = path => relative(root, path).replaceAll('\\', '/')
const isPackage = name => name.startsWith('node_modules/')
const text = value => JSON.stringify(value)

/** Kinds of imports that run a module only when the program comes to them. */
const LATE = new Set(['require-call', 'dynamic-import'])

/** The parts in the order in which they may import each other's modules at once: later ones those of earlier ones. */
export const PARTS = ['program', 'openvino', 'networks', 'rest']

const NAMESPACE = 'other-part'

/**
 * The modules of a part: those of `first` and all that they import, but not what they import late.
 * @param inputs of the metafile of esbuild, with everything in one bundle
 * @param {readonly string[]} first paths from the root
 */
export function modulesFrom(inputs, first) {
  const found = new Set()
  const add = name => {
    if (found.has(name)) return
    if (!(name in inputs)) throw new Error(`${name} is not in the bundle`)
    found.add(name)
    for (const { path, kind, external } of inputs[name].imports)
      // Packages of CommonJS require what they need at once.
      if (!external && (isPackage(name) || !LATE.has(kind))) add(path)
  }
  for (const name of first) add(name)
  return found
}

/** Says of a module of which part it is, by number. */
export function partition(inputs, lists) {
  const sets = lists.map(first => modulesFrom(inputs, first))
  return name => {
    const at = sets.findIndex(set => set.has(name))
    return at < 0 ? sets.length : at
  }
}

/**
 * The modules of each later part that others ask for; those of the first by the number of the part that asks for them;
 * and all that later parts ask for. A module that stands in place of another, whose name has a colon, may be in several
 * parts, and counts as a part behind them; the entry is in the first.
 */
export function shared({ inputs, outputs }, partOf) {
  const entry = Object.values(outputs).find(({ entryPoint }) => entryPoint !== undefined).entryPoint
  const [asked, later] = [PARTS.map(() => new Set()), new Set()]
  const ofFirst = [...PARTS, 'in several'].map(() => new Set())
  for (const [name, { imports }] of Object.entries(inputs))
    for (const { path, external } of imports) {
      if (external || path.includes(':')) continue
      const from = name === entry ? 0 : name.includes(':') ? PARTS.length : partOf(name)
      const to = partOf(path)
      if (from !== to) (to === 0 ? ofFirst[from] : asked[to]).add(path)
      if (from > to) later.add(path)
    }
  const [askedOf, askedBy] = [asked, ofFirst].map(sets => sets.map(set => [...set].sort()))
  return { asked: askedOf, askedBy, later: [...later].sort() }
}

/** What each module exports, by its path from the root. */
async function exportsOf(names) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: names.filter(name => !isPackage(name)),
    outdir: 'exports',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'warning'
  })
  return Object.fromEntries(
    Object.values(metafile.outputs).flatMap(({ entryPoint, exports }) => (entryPoint ? [[entryPoint, exports]] : []))
  )
}

/** The file that an import leads to, as a path from the root; undefined for what is no file of the bundle. */
async function targetOf(inputs, build, { path, importer, namespace, resolveDir, kind }) {
  // The bundle of everything has resolved it. To ask esbuild for each import took three times as long as the rest.
  const known = inputs[nameOf(importer)]?.imports.find(({ original }) => original === path)
  if (known && namespace === 'file') return known.external || known.path.includes(':') ? undefined : known.path
  const found = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: NAMESPACE })
  return found.errors.length > 0 || found.external || found.namespace !== 'file' ? undefined : nameOf(found.path)
}

/**
 * Imports that may lead from a part to another. What passes, esbuild asks this process for, which takes it longer than
 * to bundle.
 */
function leaving(own, inputs, partOf) {
  const imports = Object.values(inputs).flatMap(input => input.imports)
  const names = imports
    .filter(({ path, external }) => !external && !path.includes(':') && partOf(path) !== own)
    .flatMap(({ original }) => (original === undefined ? [] : [basename(original)]))
  const literally = name => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?:^|/)(?:${[...new Set(names)].map(literally).join('|')})$`)
}

/** A plugin that puts in place of the modules of other parts than this one what gets them from there. */
const fromOthers = (own, { inputs, partOf, exported }) => ({
  name: NAMESPACE,
  setup(build) {
    build.onResolve({ filter: leaving(own, inputs, partOf) }, async asked => {
      if (asked.pluginData === NAMESPACE || asked.kind === 'entry-point') return undefined
      const name = await targetOf(inputs, build, asked)
      if (name === undefined || partOf(name) === own) return undefined
      const asking = asked.namespace === 'file' ? own : PARTS.length
      return { path: name, suffix: `?${asking}`, namespace: NAMESPACE, pluginData: asking }
    })
    build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path, pluginData: asking }) => {
      const module = `nodewiseOf(${text(PARTS[partOf(path)])}, ${text(path)}, ${asking})`
      const isModule = partOf(path) < own && !isPackage(path)
      // Constants, so that importers name what they import as they would in one bundle.
      const contents = isModule
        ? `export const { ${exported[path].join(', ')} } = ${module}`
        : `module.exports = ${module}`
      return { contents, resolveDir: root }
    })
  }
})

/**
 * A module that gives another part the modules of the start that it asks for, by their paths: an object of what each
 * exports, made when it is asked for, which {@link giving} would make at every start. All of them run when the part
 * first asks for one, so each part has a bridge of its own.
 */
function bridge(names, exported) {
  const imports = names.map((name, i) => {
    const exports = exported[name]?.map(each => `${each} as m${i}_${each}`)
    return isPackage(name) ? '' : `import { ${exports.join(', ')} } from ${text(resolve(root, name))}`
  })
  const entries = names.map((name, i) => {
    const value = isPackage(name)
      ? `require(${text(resolve(root, name))})`
      : `({ ${exported[name].map(each => `${text(each)}: m${i}_${each}`).join(', ')} })`
    return `${text(name)}: () => ${value}`
  })
  return `${imports.join('\n')}\nexport const modules = {\n${entries.join(',\n')}\n}`
}

const BRIDGE = 'bridge-to-part'

/** A plugin that has each {@link bridge} under its name, which ends with the number of the part that asks. */
const bridging = bridges => ({
  name: BRIDGE,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${BRIDGE}-\\d+$`) }, ({ path }) => ({ path, namespace: BRIDGE }))
    onLoad({ filter: /./, namespace: BRIDGE }, ({ path }) => ({ contents: bridges[path], resolveDir: root }))
  }
})

/** The text of a part that gives others its modules, by their paths. */
const giving = names =>
  `const asked = {\n${names.map(name => `${text(name)}: () => require(${text(resolve(root, name))})`).join(',\n')}\n}
export const modules = name => asked[name]()`

/**
 * The bundles of a program, by the names of its parts.
 * @param {string} entry the text of a module of `src/`, which requires what it exports in functions
 * @param first `(inputs) => lists`: the modules that the first parts begin with, as paths from the root
 * @param bundleOf bundles the text of a module with plugins before those of every bundle
 */
export async function parts(entry, first, bundleOf) {
  const { metafile } = await bundleOf('whole', entry, [])
  const partOf = partition(metafile.inputs, first(metafile.inputs))
  const { asked, askedBy, later } = shared(metafile, partOf)
  const exported = await exportsOf(later)
  const bundles = PARTS.map((part, i) => {
    const others = fromOthers(i, { inputs: metafile.inputs, partOf, exported })
    if (i > 0) return bundleOf(part, giving(asked[i]), [others])
    const bridges = askedBy.slice(1).map((names, j) => [`${BRIDGE}-${j + 1}`, bridge(names, exported)])
    const list = bridges.map(([name], j) => `${j + 1}: () => require('${name}')`)
    const start = `${entry}\nconst bridges = { ${list.join(', ')} }
export const modules = (name, asking) => bridges[asking]().modules[name]()`
    return bundleOf(part, start, [bridging(Object.fromEntries(bridges)), others])
  })
  return Object.fromEntries((await Promise.all(bundles)).map((bundle, i) => [PARTS[i], bundle]))
}
