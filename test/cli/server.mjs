// A process that answers one command after the other: node server.mjs FOLDER, where the bundled program is. Each
// message is the arguments of a command; the answer is its exit code, what it printed, and the processor time and
// memory that it took.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import { peak } from './peak.mjs'

const folder = resolve(process.argv[2])
const program = pathToFileURL(join(folder, 'nodewise.js'))
// The compiled forms are of this very Node, which bundled the command: with them a process starts in half of the time.
const forms = readdirSync(folder).filter(name => name.endsWith('.cache'))
function compiled(part) {
  const filename = join(folder, `${part}.js`)
  const form = forms.find(name => name.startsWith(part))
  const cachedData = form && readFileSync(join(folder, form))
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData }).runInThisContext()
}
const part = name => (name.endsWith('.wasm') ? readFileSync(join(folder, name)) : compiled(name))
const { main } = compiled('program')(createRequire(program), program.href, part)

function collector() {
  const pieces = []
  const stream = new Writable({
    decodeStrings: false,
    write(piece, _, done) {
      pieces.push(piece)
      done()
    }
  })
  return { stream, text: () => pieces.join('') }
}

/** Makes Linux forget the most memory that this process has held; elsewhere the peak is that of the whole process. */
function forgetPeak() {
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5')
}

async function answer(args) {
  const [stdout, stderr] = [collector(), collector()]
  forgetPeak()
  const start = process.cpuUsage()
  const terminal = { stdout: stdout.stream, stderr: stderr.stream, env: process.env, cwd: process.cwd(), program }
  const status = await main(args, terminal)
  const { user, system } = process.cpuUsage(start)
  const memory = peak()
  process.send({ status, stdout: stdout.text(), stderr: stderr.text(), seconds: (user + system) / 1e6, memory })
}

process.on('message', args => void answer(args))
process.on('disconnect', () => process.exit())
