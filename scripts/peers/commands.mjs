// Runs many commands in one process, for the scripts of this folder: node scripts/peers/commands.mjs <folder of bundle>
// A line of stdin is a JSON list of arguments; the line of stdout that answers it is {"code", "stdout", "stderr"}.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

const folder = resolve(process.argv[2])
function compiled(part) {
  const filename = join(folder, `${part}.js`)
  return new Script(readFileSync(filename, 'latin1'), { filename }).runInThisContext()
}
const program = pathToFileURL(join(folder, 'program.js'))
const part = name => (name.endsWith('.wasm') ? readFileSync(join(folder, name)) : compiled(name))
const { main } = compiled('program')(createRequire(program), program.href, part)

for await (const line of createInterface({ input: process.stdin })) {
  const said = { stdout: '', stderr: '' }
  const stream = name => ({ isTTY: false, write: text => (said[name] += text) })
  const terminal = { stdout: stream('stdout'), stderr: stream('stderr'), env: {}, cwd: process.cwd() }
  const code = await main(JSON.parse(line), terminal)
  process.stdout.write(`${JSON.stringify({ code, ...said })}\n`)
}
