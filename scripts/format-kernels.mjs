// Formats src/wasm/assembly as Prettier formats the rest. Prettier cannot parse AssemblyScript's decorators of
// functions and variables, so they are comments while it runs.
//
//   node scripts/format-kernels.mjs           formats all files
//   node scripts/format-kernels.mjs --check   only names those that are not formatted, and fails
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as prettier from 'prettier'

const folder = fileURLToPath(new URL('../src/wasm/assembly/', import.meta.url))
const isCheck = process.argv.includes('--check')
const MARK = '// decorator: '

const options = { ...(await prettier.resolveConfig(join(folder, 'index.ts'))), parser: 'typescript' }
let different = 0
for (const name of readdirSync(folder, { recursive: true })
  .map(String)
  .filter(file => file.endsWith('.ts'))
  .sort()) {
  const text = readFileSync(join(folder, name), 'utf8')
  const hidden = text.replace(/^( *)(@\w+.*)$/gm, `$1${MARK}$2`)
  const formatted = (await prettier.format(hidden, options)).replaceAll(MARK, '')
  if (formatted === text) continue
  different++
  console.log(`src/wasm/assembly/${name}${isCheck ? ' is not formatted' : ''}`)
  if (!isCheck) writeFileSync(join(folder, name), formatted)
}
if (isCheck && different > 0) process.exitCode = 1
