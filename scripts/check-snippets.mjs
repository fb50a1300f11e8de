// Holds the TypeScript snippets of README.md and docs/ true, against a packed package: every one compiles, strictly,
// under the oldest compiler that the README names and the one of the project, for Node and for bundlers, and runs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import newest from 'typescript'
import oldest from 'typescript-5.4'
import { root } from './program.mjs'

/** Snippets of a page, each with the line that it starts at. */
function snippetsOf(page) {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(({ 1: code, index }) => ({
    code,
    title: `${page}:${text.slice(0, index).split('\n').length + 1}`
  }))
}

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  target: newest.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  // The types of Node ask for a newer compiler than the oldest; the package's own are checked all the same.
  skipLibCheck: true
}

/** How users set their compilers up. The numbers of these options are the same in all versions. */
const FORMS = {
  NodeNext: { module: newest.ModuleKind.NodeNext, moduleResolution: newest.ModuleResolutionKind.NodeNext },
  Bundler: { module: newest.ModuleKind.ESNext, moduleResolution: newest.ModuleResolutionKind.Bundler }
}

function compile(ts, files) {
  return Object.entries(FORMS).flatMap(([form, options]) => {
    const program = ts.createProgram(files, { ...STRICT, ...options })
    return ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
      const where = file ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start ?? 0).line + 1}` : ''
      return `TypeScript ${ts.version}, ${form}: ${where} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
  })
}

/**
 * @param {string} folder a folder with `node_modules/nodewise`
 * @returns {string[]} what is wrong
 */
export function checkSnippets(folder) {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)]
  const snippets = pages.filter(name => name.endsWith('.md')).flatMap(snippetsOf)
  mkdirSync(join(folder, 'snippets'))
  const files = snippets.map(({ code }, i) => {
    const file = join(folder, 'snippets', `${i}.mts`)
    writeFileSync(file, code)
    return file
  })
  const named = text => text.replace(/\S*snippets\/(\d+)\.m?ts/g, (_, i) => snippets[i].title)
  const wrong = [newest, oldest].flatMap(ts => compile(ts, files)).map(named)
  snippets.forEach(({ code, title }, i) => {
    const file = join(folder, 'snippets', `${i}.mjs`)
    const { outputText } = newest.transpileModule(code, { compilerOptions: { ...STRICT, ...FORMS.Bundler } })
    writeFileSync(file, outputText)
    const { status, stderr } = spawnSync(process.execPath, [file], { cwd: root, encoding: 'utf8', timeout: 60_000 })
    if (status !== 0) wrong.push(`${title} does not run: ${stderr}`)
  })
  return wrong.length > 0 ? wrong : snippets.length > 0 ? [] : ['there are no snippets']
}
