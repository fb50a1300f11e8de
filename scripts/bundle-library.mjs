// Bundles the library for Node: node scripts/bundle-library.mjs [FOLDER], dist/node by default. What comes out:
//   program.js       the entries of the package in one script; a module runs when an entry that needs it is imported
//   openvino.js      the reader of OpenVINO IR, read when something of it is first asked for
//   networks.js      operators and kernels, read in the same way
//   rest.js          everything else, read in the same way
//   *.js.map         their source maps
//   *.cache          V8's compiled forms of them for this version of Node, which save half of the time to start
//   *.wasm           the kernels
//   start.cjs        starts the program
//   NAME.mjs         the entry NAME of the package: what it exports of the program
//   NAME.cjs         the same for `require`
//   licenses.txt     the licences of the packages that went into it
// Bundlers take the modules in dist/ instead, of which they can leave out what is not used (package.json, `exports`).
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { buildProgram, GATHER, LOAD, root, writeCaches, writeFiles } from './program.mjs'
import { beginBuild, BUNDLE_INPUTS } from './stamp.mjs'

/** The sources of the entries by name, which package.json names too. */
const ENTRIES = {
  index: './index.ts',
  graph: './entries/graph.ts',
  core: './entries/core.ts',
  ops: './entries/ops.ts'
}

/** What a program runs that gathers from a model of ONNX. */
const FIRST = ['src/index.ts', 'src/entries/graph.ts', 'src/entries/core.ts', 'src/onnx/load.ts', ...GATHER]

const START = `'use strict'
${LOAD}
const { runInThisContext } = require('node:vm')

// Node maps the stacks of modules only, not of scripts, when it is started with --enable-source-maps. A sandbox, such
// as that of Jest, has classes of its own, which a module gets and a script does not.
const isModule = process.sourceMapsEnabled || runInThisContext('globalThis') !== globalThis
const load = isModule ? require('./program.js') : program()
const MODULES = {
  openvino: () => require('./openvino.js'),
  networks: () => require('./networks.js'),
  rest: () => require('./rest.js')
}
const partHere = name => (isModule && name in MODULES ? MODULES[name]() : part(name))
exports.entries = load(require, pathToFileURL(__filename).href, partHere)
`

const RUN = `
  const { createRequire } = require('node:module')
  const filename = join(folder, 'program.js')
  const { InferenceSession, Tensor } = load(createRequire(filename), pathToFileURL(filename).href, part).index()
  async function run(model, inputs) {
    const session = await InferenceSession.create(model)
    const [[name, dims]] = Object.entries(inputs)
    const count = dims.reduce((product, dim) => product * dim)
    const data = name === 'ids' ? new BigInt64Array(count) : new Float32Array(count)
    await session.run({ [name]: new Tensor(name === 'ids' ? 'int64' : 'float32', data, dims) })
  }`

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
async function bundleLibrary(folder) {
  const finish = beginBuild(folder, BUNDLE_INPUTS)
  const { files } = await buildProgram(
    Object.entries(ENTRIES)
      .map(([name, source]) => `export const ${name} = () => require('${source}')`)
      .join('\n'),
    FIRST,
    { sourcemap: true }
  )
  writeFiles(folder, { 'package.json': '{"type": "commonjs"}\n', ...files, 'start.cjs': START })
  writeCaches(folder, RUN)
  const { entries } = createRequire(import.meta.url)(join(folder, 'start.cjs'))
  for (const name of Object.keys(ENTRIES)) {
    const exported = Object.keys(entries[name]()).sort()
    writeFiles(folder, { [`${name}.mjs`]: entryOf(name, exported), [`${name}.cjs`]: requiredOf(name, exported) })
  }
  finish()
}

await bundleLibrary(resolve(process.argv[2] ?? join(root, 'dist/node')))
