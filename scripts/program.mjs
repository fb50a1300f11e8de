// Parts of the two bundles, the command (bundle.mjs) and the library (bundle-library.mjs): a bundle is one script,
// beside which lies V8's compiled form of it. One script starts in a few milliseconds, hundreds of modules do not.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { lazyModules } from './lazy-modules.mjs'
import { lazyOps } from './lazy-ops.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Name of the compiled form, for the Node that runs. V8 refuses what another of its versions compiled, but versions of
 * Node with the same V8 differ in what compiled code refers to, and crash.
 */
const CACHE = '`program.${process.version}-${process.platform}-${process.arch}.cache`'

/** Statements of CommonJS that give `load`, the function of a program that lies beside the file. */
export const LOAD = `const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Script } = require('node:vm')

function compiledForm() {
  try {
    return readFileSync(join(__dirname, ${CACHE}))
  } catch {
    return undefined
  }
}

function compiled() {
  const filename = join(__dirname, 'program.js')
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData: compiledForm() }).runInThisContext()
}
`

const HOLDER = "typeof module === 'object' ? module : {}"

/**
 * Bundles an entry into the text of a script: a function of `require` and of the URL of the file that starts it, which
 * returns what the entry exports. Modules that are imported by `import()` or `require` run when they are first asked
 * for.
 * @param {import('esbuild').BuildOptions} options beside those that every bundle has
 */
export async function buildProgram({ define, plugins = [], ...options }) {
  const { outputFiles, metafile } = await build({
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
    banner: { js: `(${HOLDER}).exports = function (require, nodewiseUrl) { const module = { exports: {} };` },
    footer: { js: 'return module.exports }' },
    plugins: [lazyOps, lazyModules, ...plugins],
    ...options
  })
  const text = end => outputFiles.find(({ path }) => path.endsWith(end))?.text
  return { program: text('.js'), map: text('.js.map'), licenses: licensesOf(Object.keys(metafile.inputs)) }
}

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
    for (const name of readdirSync(folder).filter(file => /^program\..*cache$/.test(file))) rmSync(join(folder, name))
  for (const [name, content] of Object.entries(files)) replace(join(folder, name), content)
}

/**
 * Has V8 compile program.js of a folder and what a small run of it needs, and keeps the compiled form for this version
 * of Node; others compile the text.
 * @param {string} run statements that run the program: `load` is its function, `folder` where it lies
 */
export function writeCache(folder, run) {
  const script = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const { join } = require('node:path')
    const { Script } = require('node:vm')
    const { pathToFileURL } = require('node:url')
    const folder = process.argv[1]
    const filename = join(folder, 'program.js')
    const script = new Script(readFileSync(filename, 'latin1'), { filename })
    const load = script.runInThisContext()
    ${run}
    process.on('exit', () => {
      writeFileSync(join(folder, ${CACHE}), script.createCachedData())
      process.exitCode = 0
    })`
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8'
  })
  if (status !== 0) console.warn(`no compiled form of the program in ${folder}: ${stderr}`)
}

/** One small model a format: what more of them need would make the cache larger, and reading it slower. */
export const SAMPLES = ['palette.onnx', 'palette.xml'].map(name => join(root, 'models', name))
