// Bundles the command line: node scripts/bundle.mjs [FOLDER], bin by default. What comes out:
//   program.js     everything in one file, since one file starts in a few milliseconds and hundreds of modules do not;
// modules that a command
//                  imports when it is called are functions in it, which run when they are first needed
//   program.cache  V8's compiled form of it, which saves half of the time to start; made here, for the Node that
// builds, and passed over by others
//   nodewise.js    the command, which starts the program
//   licenses.txt   the licences of the packages that went into it
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

const START = `#!/usr/bin/env node
'use strict'
const { readFileSync } = require('node:fs')
const { Script } = require('node:vm')

function cache() {
  try {
    return readFileSync(\`\${__dirname}/program.cache\`)
  } catch {
    return undefined
  }
}

const filename = \`\${__dirname}/program.js\`
const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData: cache() })
script.runInThisContext()(require, require('node:url').pathToFileURL(__filename).href).start()
`

/**
 * Commander asks for child processes at once and uses them for commands in files of their own, of which there are none.
 */
const withoutChildProcess = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('commander') ? { path: 'none', namespace: 'none' } : undefined
    )
    onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'module.exports = {}' }))
  }
}

async function buildProgram() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { outputFiles, metafile } = await build({
    metafile: true,
    absWorkingDir: root,
    entryPoints: [join(root, 'src/cli/program.ts')],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // The start reads it as one byte a character.
    charset: 'ascii',
    // Names stay, so that the stack that --debug prints can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: { NODEWISE_VERSION: JSON.stringify(version), 'import.meta.url': 'nodewiseUrl' },
    supported: { 'dynamic-import': false },
    plugins: [withoutChildProcess],
    banner: { js: '(function (require, nodewiseUrl) { const module = { exports: {} };' },
    footer: { js: 'return module.exports })' }
  })
  return { program: outputFiles[0].text, licenses: licensesOf(Object.keys(metafile.inputs)) }
}

/** The texts under which packages are, whose files are among these. */
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

/** Runs the program, so that what a run needs is compiled, and keeps what V8 has compiled. */
const MAKE_CACHE = `
const { readFileSync, writeFileSync } = require('node:fs')
const { pathToFileURL } = require('node:url')
const { Script } = require('node:vm')
const [folder, runs] = process.argv.slice(1)
const filename = folder + '/program.js'
const script = new Script(readFileSync(filename, 'latin1'), { filename })
const load = script.runInThisContext()
for (const args of JSON.parse(runs)) {
  process.argv = [process.execPath, folder + '/nodewise.js', ...args]
  load(require, pathToFileURL(folder + '/nodewise.js').href).start()
}
process.on('exit', () => {
  writeFileSync(folder + '/program.cache', script.createCachedData())
  process.exitCode = 0
})
`

/** One small run a format: what more runs need would make the cache larger, and reading it slower. */
const sampleRuns = () =>
  ['palette.onnx', 'palette.xml']
    .map(name => join(root, 'models', name))
    .filter(existsSync)
    .map(model => ['run', model, '-i', 'ids=[0]'])

/** @param {string} folder where the files go */
export async function bundle(folder) {
  const { program, licenses } = await buildProgram()
  mkdirSync(folder, { recursive: true })
  // A compiled form of another text must never meet this one.
  rmSync(join(folder, 'program.cache'), { force: true })
  replace(join(folder, 'package.json'), '{"type": "commonjs"}\n')
  replace(join(folder, 'licenses.txt'), licenses)
  replace(join(folder, 'program.js'), program)
  replace(join(folder, 'nodewise.js'), START)
  chmodSync(join(folder, 'nodewise.js'), 0o755)
  const { status, stderr } = spawnSync(process.execPath, ['-e', MAKE_CACHE, folder, JSON.stringify(sampleRuns())], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8'
  })
  if (status !== 0) console.warn(`no compiled form of the program: ${stderr}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await bundle(resolve(process.argv[2] ?? join(root, 'bin')))
