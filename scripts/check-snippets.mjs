// Holds the TypeScript snippets of README.md and docs/ true, against a packed package: every one compiles, strictly,
// under the oldest compiler that the README names and the newest, for Node and for bundlers, and runs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { root } from './program.mjs'

/** Snippets of a page, each with the line that it starts at. */
function snippetsOf(page) {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(({ 1: code, index }) => ({
    code,
    title: `${page}:${text.slice(0, index).split('\n').length + 1}`
  }))
}

/** How users set their compilers up. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  target: 'ES2022',
  lib: ['ES2023', 'DOM'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  // The types of Node ask for a newer compiler than the oldest; the package's own are checked all the same.
  skipLibCheck: true
}
const FORMS = {
  NodeNext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  Bundler: { module: 'ESNext', moduleResolution: 'Bundler' }
}
/** Packages of the oldest compiler that the README names and the newest one. */
const COMPILERS = ['typescript-5.4', 'typescript-7']

/** What a compiler says of the snippets in one form. */
function compile(compiler, form, folder) {
  const project = join(folder, 'snippets', `${form}.json`)
  writeFileSync(project, JSON.stringify({ compilerOptions: { ...STRICT, ...FORMS[form] }, include: ['*.mts'] }))
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  return status === 0 ? [] : [`${compiler}, ${form}: ${stdout}${stderr}`]
}

/**
 * @param {string} folder a folder with `node_modules/nodewise`
 * @returns {string[]} what is wrong
 */
export function checkSnippets(folder) {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)]
  const snippets = pages.filter(name => name.endsWith('.md')).flatMap(snippetsOf)
  mkdirSync(join(folder, 'snippets'))
  snippets.forEach(({ code }, i) => writeFileSync(join(folder, 'snippets', `${i}.mts`), code))
  const named = text => text.replace(/\S*snippets\/(\d+)\.m?ts/g, (_, i) => snippets[i].title)
  // Some write files, which are to go with the folder.
  symlinkSync(join(root, 'models'), join(folder, 'models'), 'junction')
  const wrong = COMPILERS.flatMap(compiler =>
    Object.keys(FORMS).flatMap(form => compile(compiler, form, folder).map(named))
  )
  snippets.forEach(({ code, title }, i) => {
    const file = join(folder, 'snippets', `${i}.mjs`)
    writeFileSync(file, transformSync(code, { loader: 'ts' }).code)
    const { status, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', timeout: 60_000 })
    if (status !== 0) wrong.push(`${title} does not run: ${stderr}`)
  })
  return wrong.length > 0 ? wrong : snippets.length > 0 ? [] : ['there are no snippets']
}
