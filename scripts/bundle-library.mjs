// Bundles the library for Node: node scripts/bundle-library.mjs [FOLDER], dist/node by default. What comes out:
//   program.js       all entries of the package in one script; a module runs when an entry that needs it is imported
//   program.js.map   its source map
//   program.cache    V8's compiled form of it, which saves half of the time to start
//   program.mjs      starts the program
//   NAME.mjs         the entry NAME of the package: what it exports of the program
//   licenses.txt     the licences of the packages that went into it
// Bundlers take the modules in dist/ instead, of which they can leave out what is not used (package.json, `exports`).
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildProgram, root, SAMPLES, writeCache, writeFiles } from './program.mjs'

/** The sources of the entries by name, which package.json names too. */
const ENTRIES = {
  index: './index.ts',
  graph: './entries/graph.ts',
  core: './entries/core.ts',
  ops: './entries/ops.ts'
}

const PROGRAM = `import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

const filename = fileURLToPath(new URL('program.js', import.meta.url))

function cache() {
  try {
    return readFileSync(fileURLToPath(new URL('program.cache', import.meta.url)))
  } catch {
    return undefined
  }
}

const require = createRequire(import.meta.url)
// Node maps the stacks of modules only, not of scripts, when it is started with --enable-source-maps.
const load = process.sourceMapsEnabled
  ? require('./program.js')
  : new Script(readFileSync(filename, 'latin1'), { filename, cachedData: cache() }).runInThisContext()

export const entries = load(require, import.meta.url)
`

const RUN = `
  const { createRequire } = require('node:module')
  const { InferenceSession, Tensor } =
    load(createRequire(filename), pathToFileURL(filename).href).index()
  for (const model of ${JSON.stringify(SAMPLES)})
    InferenceSession.create(model).then(session => session.run({ ids: new Tensor('int64', [0n], [1]) }))`

/** The text of an entry that exports these names of the program. */
const entryOf = (name, exported) => `import { entries } from './program.mjs'

const entry = entries.${name}()
export const { ${exported.filter(each => each !== 'default').join(', ')} } = entry
${exported.includes('default') ? 'export default entry.default\n' : ''}`

/** @param {string} folder where the files go */
export async function bundleLibrary(folder) {
  const { program, map, licenses } = await buildProgram({
    stdin: {
      contents: Object.entries(ENTRIES)
        .map(([name, source]) => `export const ${name} = () => require('${source}')`)
        .join('\n'),
      resolveDir: join(root, 'src'),
      sourcefile: 'entries.js'
    },
    outfile: join(folder, 'program.js'),
    sourcemap: true
  })
  writeFiles(folder, {
    'package.json': '{"type": "commonjs"}\n',
    'program.js': program,
    'program.js.map': map,
    'program.mjs': PROGRAM,
    'licenses.txt': licenses
  })
  writeCache(folder, RUN)
  const start = pathToFileURL(join(folder, 'program.mjs')).href
  const { entries } = await import(start)
  const shims = Object.keys(ENTRIES).map(name => [`${name}.mjs`, entryOf(name, Object.keys(entries[name]()).sort())])
  writeFiles(folder, Object.fromEntries(shims))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await bundleLibrary(resolve(process.argv[2] ?? join(root, 'dist/node')))
