// Bundles small programs as bundlers do without a configuration, prints their sizes and runs them in a browser:
// node scripts/bundlers/check.mjs FOLDER [--only REGEX] [--browser NAME]
// In the node_modules of FOLDER are nodewise and vite, webpack with webpack-cli, rollup with its plugins node-resolve,
// commonjs and terser, esbuild, next with react and react-dom; a bundler that is not there is left out.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { reportFrom } from '../browser/serve.mjs'
import { bert } from '../transformers/text.mjs'
import { moduleOf, PROGRAMS } from './programs.mjs'

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, browser: { type: 'string', default: 'chromium' } }
})
const folder = resolve(positionals[0])

const PAGE = '<!doctype html><script type="module" src="main.js"></script>'
const START = "import { run } from './program.js'\nrun()\n"

/** What Next renders; without a program it is the page whose size is taken off. */
const nextPage = program => `'use client'
import { useEffect } from 'react'
${program ? "import { run } from '../program.js'" : 'const run = () => {}'}
export default function Page() {
  useEffect(() => void run(), [])
  return <p>…</p>
}
`
const LAYOUT = `export const metadata = { title: 'check' }
export default ({ children }) => <html><body>{children}</body></html>
`

/**
 * The files that each bundler starts from, its command, where it puts what a page loads, and the page that loads it
 * where the bundler makes none.
 */
const BUNDLERS = {
  vite: {
    files: { 'index.html': PAGE, 'main.js': START },
    command: ['vite', 'build', '--logLevel', 'warn'],
    out: 'dist'
  },
  webpack: {
    files: { 'src/index.js': START.replace('./', '../') },
    command: ['webpack', '--mode', 'production'],
    out: 'dist'
  },
  rollup: {
    files: { 'main.js': START },
    command: [
      'rollup',
      'main.js',
      '-d',
      'dist',
      ...['node-resolve', 'commonjs', 'terser'].flatMap(name => ['-p', name])
    ],
    out: 'dist'
  },
  esbuild: {
    files: { 'main.js': START },
    command: ['esbuild', 'main.js', '--bundle', '--minify', '--format=esm', '--outdir=dist', '--log-level=warning'],
    out: 'dist'
  },
  next: {
    files: program => ({ 'app/layout.jsx': LAYOUT, 'app/page.jsx': nextPage(program) }),
    command: ['next', 'build'],
    out: '.next'
  }
}

function writeAll(at, files) {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), content)
  }
}

/** Bundles a program (none: an empty page) and gives what a page loads, by its address. */
function bundle(name, program, at) {
  const { files, command, out } = BUNDLERS[name]
  rmSync(at, { recursive: true, force: true })
  writeAll(at, typeof files === 'function' ? files(program) : files)
  writeAll(at, {
    'package.json': JSON.stringify({ name: 'page', private: true, type: 'module' }),
    ...(program && { 'program.js': moduleOf(program) })
  })
  const bin = join(folder, 'node_modules/.bin', command[0])
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  const { status, stdout, stderr } = spawnSync(bin, command.slice(1), { cwd: at, encoding: 'utf8', env })
  if (status !== 0) throw new Error(`${name}: ${`${stdout}${stderr}`.slice(-2000)}`)
  const warnings = `${stdout}${stderr}`
    .split('\n')
    .filter(line => /warning(?! via)/i.test(line) && !/limit|performance|compiled/.test(line))
  if (warnings.length > 0 && name !== 'next') console.log(`${name}: ${warnings.join('\n')}`)
  return name === 'next' ? nextFiles(join(at, out)) : filesIn(join(at, out))
}

/** All files below a folder by their paths. */
const filesIn = at =>
  Object.fromEntries(
    readdirSync(at, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path.slice(at.length + 1), readFileSync(path)])
  )

/** The page that Next rendered, and what is static. */
function nextFiles(at) {
  const chunks = Object.entries(filesIn(join(at, 'static')))
  return {
    ...Object.fromEntries(chunks.map(([name, content]) => [`_next/static/${name}`, content])),
    'index.html': readFileSync(join(at, 'server/app/index.html'))
  }
}

/** The bytes of all scripts, as they are and by gzip. */
function sizeOf(files) {
  const scripts = Object.entries(files).filter(([name]) => name.endsWith('.js'))
  return scripts.reduce(
    ([all, zipped], [, { length }], i) => [all + length, zipped + gzipSync(scripts[i][1]).length],
    [0, 0]
  )
}

async function runIn(browser, files, at) {
  const own = {
    'index.html': PAGE,
    'palette.onnx': readFileSync(fileURLToPath(new URL('../../models/palette.onnx', import.meta.url))),
    'bert.onnx': bert({ seed: 1, form: 'float', vocabulary: 10, head: 'hidden' })
  }
  const { found } = await reportFrom(browser, { at, contentOf: name => files[name] ?? own[name] })
  return found
}

for (const name of Object.keys(BUNDLERS)) {
  if (!existsSync(join(folder, 'node_modules', name))) continue
  const at = join(folder, 'work', name)
  const programs = Object.entries(PROGRAMS).filter(([title]) => new RegExp(options.only).test(`${name} ${title}`))
  if (programs.length === 0) continue
  const [plain, plainZipped] = name === 'next' ? sizeOf(bundle(name, undefined, at)) : [0, 0]
  for (const [title, program] of programs) {
    try {
      const files = bundle(name, program, at)
      const [size, zipped] = sizeOf(files)
      const found = await runIn(options.browser, files, mkdtempSync(join(tmpdir(), 'nodewise-bundlers-')))
      const wrong = found === program.expected ? '' : ` | WRONG: ${found}`
      const sizes = [size - plain, zipped - plainZipped].map(bytes => `${Math.round(bytes / 1000)} kB`)
      console.log(`${name} | ${title} | ${sizes.join(' | ')}${wrong}`)
      if (wrong) process.exitCode = 1
    } catch (error) {
      console.log(`${name} | ${title} | ${error.message}`)
      process.exitCode = 1
    }
  }
}
