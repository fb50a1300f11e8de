// Bundles the library for Node: node scripts/bundle-library.mjs [FOLDER], dist/node by default. What comes out:
//   program.js       all entries of the package in one script; a module runs when an entry that needs it is imported
//   program.js.map   its source map
//   program.*.cache  V8's compiled form of it for this version of Node, which saves half of the time to start
//   start.cjs        starts the program
//   NAME.mjs         the entry NAME of the package: what it exports of the program
//   NAME.cjs         the same for `require`
//   licenses.txt     the licences of the packages that went into it
// Bundlers take the modules in dist/ instead, of which they can leave out what is not used (package.json, `exports`).
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildProgram, LOAD, root, SAMPLES, writeCache, writeFiles } from './program.mjs'

/** The sources of the entries by name, which package.json names too. */
const ENTRIES = {
  index: './index.ts',
  graph: './entries/graph.ts',
  core: './entries/core.ts',
  ops: './entries/ops.ts'
}

const START = `'use strict'
${LOAD}
const { runInThisContext } = require('node:vm')

// Node maps the stacks of modules only, not of scripts, when it is started with --enable-source-maps. A sandbox, such
// as that of Jest, has classes of its own, which a module gets and a script does not.
const isModule = process.sourceMapsEnabled || runInThisContext('globalThis') !== globalThis
exports.entries = (isModule ? require('./program.js') : compiled())(require, pathToFileURL(__filename).href)
`

const RUN = `
  const { createRequire } = require('node:module')
  const { InferenceSession, Tensor } =
    load(createRequire(filename), pathToFileURL(filename).href).index()
  for (const model of ${JSON.stringify(SAMPLES)})
    InferenceSession.create(model).then(session => session.run({ ids: new Tensor('int64', [0n], [1]) }))`

/** The text of an entry that exports these names of the program. */
const entryOf = (name, exported) => `import { entries } from './start.cjs'

const entry = entries.${name}()
export const { ${exported.filter(each => each !== 'default').join(', ')} } = entry
${exported.includes('default') ? 'export default entry.default\n' : ''}`

/** The same for `require`, said so that tools which only read it know the names. */
const requiredOf = (name, exported) => `'use strict'
const entry = require('./start.cjs').entries.${name}()
Object.defineProperty(exports, '__esModule', { value: true })
${exported.map(each => `exports.${each} = entry.${each}\n`).join('')}`

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
    'start.cjs': START,
    'licenses.txt': licenses
  })
  writeCache(folder, RUN)
  const { entries } = createRequire(import.meta.url)(join(folder, 'start.cjs'))
  for (const name of Object.keys(ENTRIES)) {
    const exported = Object.keys(entries[name]()).sort()
    writeFiles(folder, { [`${name}.mjs`]: entryOf(name, exported), [`${name}.cjs`]: requiredOf(name, exported) })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await bundleLibrary(resolve(process.argv[2] ?? join(root, 'dist/node')))
