// Parts of the two bundles, the command (bundle.mjs) and the library (bundle-library.mjs): a bundle is one script,
// beside which lies V8's compiled form of it. One script starts in a few milliseconds, hundreds of modules do not.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { lazyModules } from './lazy-modules.mjs'
import { lazyOps } from './lazy-ops.mjs'
import { lightLong } from './light-long.mjs'
import { parts, PARTS } from './parts.mjs'
import { WASM_FILES, wasmFiles, wasmInFiles } from './wasm-files.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

const OTHERS = PARTS.slice(1)

/**
 * Name of the compiled form of a part, for the Node that runs. V8 refuses what another of its versions compiled, but
 * versions of Node with the same V8 differ in what compiled code refers to, and crash.
 */
const CACHE = '`${part}.${process.version}-${process.platform}-${process.arch}.cache`'

/**
 * Statements of CommonJS that give the function of the program that lies beside the file, and what gives it the rest
 * and WebAssembly. Names of files are written out, for tools that look in the text for the files of a package.
 */
export const LOAD = `const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Script } = require('node:vm')

function compiledForm(part) {
  try {
    return readFileSync(join(__dirname, ${CACHE}))
  } catch {
    return undefined
  }
}

function compiled(part, filename) {
  const cachedData = compiledForm(part)
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData }).runInThisContext()
}

const program = () => compiled('program', join(__dirname, 'program.js'))
const PARTS = {
${OTHERS.map(name => `  ${name}: () => compiled('${name}', join(__dirname, '${name}.js'))`).join(',\n')},
${WASM_FILES.map(name => `  '${name}': () => readFileSync(join(__dirname, '${name}'))`).join(',\n')}
}
const part = name => PARTS[name]()
`

const HOLDER = "typeof module === 'object' ? module : {}"

/** How a script of a part begins, whose value is a function of these names. */
const bannerOf = names => `(${HOLDER}).exports = function (${names.join(', ')}) { const module = { exports: {} };`

/** How each part comes to the modules of the others; `whole` is never run. */
const bannerFor = part =>
  part === 'program'
    ? `${bannerOf(['require', 'nodewiseUrl', 'nodewisePart'])}
const nodewiseParts = { program: module }
function nodewiseOf(part, name, asking) {
  nodewiseParts[part] ??= { exports: nodewisePart(part)(require, nodewiseUrl, nodewisePart, nodewiseOf) }
  return nodewiseParts[part].exports.modules(name, asking)
}`
    : bannerOf(['require', 'nodewiseUrl', 'nodewisePart', 'nodewiseOf'])

/**
 * Bundles a program as scripts (parts.mjs): `program`, a function of `require`, of the URL of the file that starts it
 * and of a function that gives the other files, which returns what the entry exports; and the others. Modules that are
 * imported by `import()` or `require` run when they are first asked for.
 * @param {string} entry text of a module of `src/`
 * @param {readonly string[]} start the modules that every start runs, which are in the first part
 * @param {import('esbuild').BuildOptions} options beside those that every bundle has
 */
export async function buildProgram(entry, start, { define, plugins = [], ...options } = {}) {
  const inputs = new Set()
  const bundled = async (part, contents, own) => {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: join(root, 'src'), sourcefile: `${part}.js` },
      outfile: join(root, `${part}.js`),
      metafile: true,
      absWorkingDir: root,
      write: false,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      // The script is read as latin1, one byte a character.
      charset: 'ascii',
      // Names stay, so that a stack can be read.
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: 'none',
      logLevel: 'warning',
      define: { 'import.meta.url': 'nodewiseUrl', ...define },
      supported: { 'dynamic-import': false },
      // The function is the value of the script, and what it exports where it is loaded as a module.
      banner: { js: bannerFor(part) },
      footer: { js: 'return module.exports }' },
      plugins: [...own, lazyOps, lazyModules, lightLong, wasmInFiles, ...plugins],
      ...options,
      sourcemap: part !== 'whole' && options.sourcemap
    })
    for (const name of Object.keys(metafile.inputs)) inputs.add(name)
    const text = end => outputFiles.find(({ path }) => path.endsWith(end))?.text
    return { text: text('.js'), map: text('.js.map'), metafile }
  }
  const bundles = Object.entries(await parts(entry, inputs => [start, OPENVINO, networkModules(inputs)], bundled))
  const scripts = bundles.map(([part, { text }]) => [`${part}.js`, text])
  const maps = bundles.flatMap(([part, { map }]) => (map === undefined ? [] : [[`${part}.js.map`, map]]))
  const files = Object.fromEntries([...scripts, ...maps])
  return { files: { ...files, ...wasmFiles(), 'licenses.txt': licensesOf([...inputs]) } }
}

/** What reads an IR of OpenVINO. */
const OPENVINO = ['src/openvino/load.ts']

/** What networks need: all operators, and their accelerated kernels. */
const networkModules = inputs => [
  ...inputs['src/ops/library.ts'].imports.map(({ path }) => path).filter(path => path.startsWith('src/ops/')),
  'src/wasm/selectors.ts'
]

/** The licences of the packages to which these files belong. */
function licensesOf(files) {
  const packages = new Set(
    files.flatMap(file => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  )
  return [...packages]
    .sort()
    .map(name => {
      const folder = join(root, 'node_modules', name)
      const text = readdirSync(folder)
        .filter(file => /^licen[cs]e/i.test(file))
        .map(file => readFileSync(join(folder, file), 'utf8').trim())
        .join('\n\n')
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Writes a file so that a reader finds the old one or the new one, never a part. */
function replace(path, content) {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, content)
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** @param {Record<string, string>} files by name */
export function writeFiles(folder, files) {
  mkdirSync(folder, { recursive: true })
  // A compiled form of another text must never meet the new one.
  if ('program.js' in files)
    for (const name of readdirSync(folder).filter(file => /\.cache$/.test(file))) rmSync(join(folder, name))
  for (const [name, content] of Object.entries(files)) replace(join(folder, name), content)
}

/**
 * Has V8 compile the scripts of a folder and what a small run of each needs, and keeps the compiled forms for this
 * version of Node; others compile the texts. The first script must not hold what only the second run needs.
 * @param {string} run statements that make a function `run(model, inputs)` of a path and of the dims of its input by
 *   name; `load` is the function of the program, `folder` where it lies
 */
export function writeCaches(folder, run) {
  const own = mkdtempSync(join(tmpdir(), 'nodewise-sample-'))
  const net = join(own, 'net.onnxtxt')
  try {
    writeFileSync(net, smallNet())
    for (const [part, samples] of Object.entries(samplesWith(net))) writeCache(folder, part, run, samples)
  } finally {
    rmSync(own, { recursive: true })
  }
}

function writeCache(folder, part, run, samples) {
  const script = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const { join } = require('node:path')
    const { Script } = require('node:vm')
    const { pathToFileURL } = require('node:url')
    const { setFlagsFromString } = require('node:v8')
    // The collector drops what was compiled of functions that have not run for a while, the outermost among them.
    setFlagsFromString('--no-flush-bytecode')
    const folder = process.argv[1]
    const scripts = {}
    function compiled(part) {
      const filename = join(folder, part + '.js')
      scripts[part] = new Script(readFileSync(filename, 'latin1'), { filename })
      return scripts[part].runInThisContext()
    }
    const part = name => (name.endsWith('.wasm') ? readFileSync(join(folder, name)) : compiled(name))
    const load = compiled('program')
    ${run}
    for (const [model, inputs] of ${JSON.stringify(samples)}) run(model, inputs)
    process.on('exit', () => {
      const part = ${JSON.stringify(part)}
      if (!(part in scripts)) compiled(part)
      // A form that was made under other flags is refused.
      setFlagsFromString('--flush-bytecode')
      writeFileSync(join(folder, ${CACHE}), scripts[part].createCachedData())
      process.exitCode = 0
    })`
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8'
  })
  if (status !== 0) console.warn(`no compiled form of ${part}.js in ${folder}: ${stderr}`)
}

/**
 * Models that are run for the compiled form of each part, and their inputs: a gather of each format, and what most
 * networks need beside it. What more of them need would make the forms larger, and reading them slower. No run needs
 * the rest.
 */
const samplesWith = net => ({
  program: [[join(root, 'models/palette.onnx'), { ids: [1] }]],
  openvino: [[join(root, 'models/palette.xml'), { ids: [1] }]],
  networks: [[net, { x: [1, 8, 32, 32] }]],
  rest: []
})

/** A small network in the text format of ONNX, whose calls are large enough for accelerated kernels. */
function smallNet() {
  const weights = { w: [8, 8, 3, 3], b: [8], d: [8, 1, 3, 3], m: [10, 8], c: [10] }
  const initializers = Object.entries(weights).map(([name, dims]) => {
    const count = dims.reduce((product, dim) => product * dim)
    const values = Array.from({ length: count }, (_, i) => `0.${i % 10}`)
    return `float[${dims.join()}] ${name} = {${values.join()}}`
  })
  return `<ir_version: 8, opset_import: ["" : 17]>
    net (float[1,8,32,32] x) => (float[1,10] y) <${initializers.join(', ')}> {
      convolved = Conv <pads = [1,1,1,1]> (x, w, b)
      clipped = Clip (convolved)
      filtered = Conv <pads = [1,1,1,1], group = 8> (clipped, d)
      added = Add (filtered, x)
      pooled = MaxPool <kernel_shape = [2,2], strides = [2,2]> (added)
      mean = GlobalAveragePool (pooled)
      features = Flatten (mean)
      scores = Gemm <transB = 1> (features, m, c)
      y = Softmax (scores)
    }`
}

/** The operator of the sample that starts are measured with. */
export const GATHER = ['src/ops/gather/gather.ts']
