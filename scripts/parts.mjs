// Cuts a program for Node in two: what every start needs, and the rest, which is read when something of it is first
// asked for. A start costs what there is to read, to restore from V8's compiled form and to set up, so what it does not
// need must not be in the same script.
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const nameOf = path => relative(root, path).replaceAll('\\', '/')
const isPackage = name => name.startsWith('node_modules/')
const text = value => JSON.stringify(value)

/** Kinds of imports that run a module only when the program comes to them. */
const LATE = new Set(['require-call', 'dynamic-import'])

/** What a module's text is for those who import it from the other part. */
const NAMESPACE = 'other-part'

/**
 * The modules of the start: those of `first` and all that they import, but not what they import late.
 * @param inputs of the metafile of esbuild, with everything in one bundle
 * @param {readonly string[]} first paths from the root
 */
export function modulesOfStart(inputs, first) {
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

/** The modules of the start that others import. */
export function sharedModules(inputs, start) {
  const others = Object.entries(inputs).filter(([name]) => !start.has(name) && name !== '<stdin>')
  const imported = others.flatMap(([, { imports }]) => imports.map(({ path }) => path))
  return [...new Set(imported)].filter(name => start.has(name) && !name.includes(':')).sort()
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

/** A plugin that puts something in place of modules of the program: `replace(name, kind)` says of which. */
const replacing = (name, replace, load) => ({
  name,
  setup(build) {
    build.onResolve({ filter: /^[^<]/ }, async ({ path, pluginData, ...rest }) => {
      if (pluginData === name || rest.kind === 'entry-point') return undefined
      const { importer, namespace, resolveDir, kind } = rest
      const found = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: name })
      if (found.errors.length > 0 || found.external || found.namespace !== 'file') return undefined
      const module = nameOf(found.path)
      return replace(module, kind) ? { path: module, namespace: NAMESPACE } : undefined
    })
    build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({ contents: load(path), resolveDir: root }))
  }
})

/** A module that gives the modules of the start to the rest, by their paths: an object of what each exports. */
function bridge(shared, exported) {
  const imports = shared.map((name, i) => {
    const names = exported[name]?.map(each => `${each} as m${i}_${each}`)
    return isPackage(name) ? '' : `import { ${names.join(', ')} } from ${text(resolve(root, name))}`
  })
  const entries = shared.map((name, i) => {
    const value = isPackage(name)
      ? `require(${text(resolve(root, name))})`
      : `({ ${exported[name].map(each => `${text(each)}: m${i}_${each}`).join(', ')} })`
    return `${text(name)}: () => ${value}`
  })
  return `${imports.join('\n')}\nexport const modules = {\n${entries.join(',\n')}\n}`
}

const BRIDGE = 'bridge-to-the-rest'

/** A plugin that has {@link bridge} under its name. */
const bridging = contents => ({
  name: BRIDGE,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${BRIDGE}$`) }, () => ({ path: BRIDGE, namespace: BRIDGE }))
    onLoad({ filter: /./, namespace: BRIDGE }, () => ({ contents, resolveDir: root }))
  }
})

/**
 * The two bundles of a program.
 * @param {string} entry the text of a module of `src/`, which requires what it exports in functions
 * @param {readonly string[]} first modules that every start runs, as paths from the root
 * @param bundleOf bundles the text of a module with plugins before those of every bundle
 */
export async function parts(entry, first, bundleOf) {
  const { inputs } = (await bundleOf('whole', entry, [])).metafile
  const start = modulesOfStart(inputs, first)
  const shared = sharedModules(inputs, start)
  const exported = await exportsOf(shared)
  const late = new Set()
  const toRest = replacing(
    'to-the-rest',
    (name, kind) => LATE.has(kind) && !start.has(name),
    name => {
      late.add(name)
      return `module.exports = nodewiseRest(${text(name)})`
    }
  )
  const toStart = replacing(
    'to-the-start',
    name => start.has(name),
    name =>
      isPackage(name)
        ? `module.exports = nodewiseStart(${text(name)})`
        : // Constants, so that the rest names what it imports as it would in one bundle.
          `export const { ${exported[name].join(', ')} } = nodewiseStart(${text(name)})`
  )
  const program = await bundleOf(
    'program',
    `${entry}\nexport const modules = name => require('${BRIDGE}').modules[name]()`,
    [bridging(bridge(shared, exported)), toRest]
  )
  const modules = [...late].sort().map(name => `${text(name)}: () => require(${text(resolve(root, name))})`)
  const rest = await bundleOf('rest', `export const modules = {\n${modules.join(',\n')}\n}`, [toStart])
  return { program, rest }
}
