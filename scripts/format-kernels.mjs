// Formats src/wasm/assembly as the formatter does the rest. It cannot parse AssemblyScript's decorators of functions
// and variables, so they are comments while it runs.
//
//   node scripts/format-kernels.mjs           formats all files
//   node scripts/format-kernels.mjs --check   only names those that are not formatted, and fails
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'oxfmt'

const folder = fileURLToPath(new URL('../src/wasm/assembly/', import.meta.url))
const isCheck = process.argv.includes('--check')
const MARK = '// decorator: '

// Imports stay as they are: their order is that of the code in the module.
const config = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'))
const options = { ...config, sortImports: false }
let different = 0
for (const name of readdirSync(folder, { recursive: true })
  .map(String)
  .filter(file => file.endsWith('.ts'))
  .sort()) {
  const text = readFileSync(join(folder, name), 'utf8')
  const hidden = text.replace(/^( *)(@\w+.*)$/gm, `$1${MARK}$2`)
  const { code, errors } = await format(name, hidden, options)
  if (errors.length > 0) throw new Error(`src/wasm/assembly/${name}: ${errors[0].message}`)
  const formatted = code.replaceAll(MARK, '')
  if (formatted === text) continue
  different++
  console.log(`src/wasm/assembly/${name}${isCheck ? ' is not formatted: run node scripts/format-kernels.mjs' : ''}`)
  if (!isCheck) writeFileSync(join(folder, name), formatted)
}
if (isCheck && different > 0) process.exitCode = 1
