// Names the lines of sources that are longer than 120 columns, and fails where there is one: the formatter breaks code,
// but no comment and no text. An import has its line to itself. Files: those that the lint reads, and the kernels' own.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { globSync } from 'tinyglobby'

const MAX_COLUMNS = 120

const root = fileURLToPath(new URL('..', import.meta.url))
const { ignorePatterns } = JSON.parse(readFileSync(new URL('../.oxlintrc.json', import.meta.url), 'utf8'))
const files = globSync('**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}', {
  cwd: root,
  ignore: ignorePatterns.filter(pattern => !pattern.startsWith('src/wasm/assembly'))
}).sort()

for (const file of files) {
  const lines = readFileSync(`${root}/${file}`, 'utf8').split('\n')
  lines.forEach((line, at) => {
    if (line.length <= MAX_COLUMNS || line.startsWith('import ')) return
    console.log(`${file}:${at + 1}: ${line.length} columns, of at most ${MAX_COLUMNS}`)
    process.exitCode = 1
  })
}
