// What npm runs in a clone after it installed the dependencies: the build. Where a package is installed globally from
// git, as pre-commit does, npm runs it without them (npm/cli#8440); they are installed here then. For that it imports
// nothing but Node's own modules.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

function npm(...args) {
  // "--global" of the command that called comes as a variable and would install this very package.
  const env = { ...process.env, npm_config_global: 'false', npm_config_location: 'project' }
  const { status } = spawnSync('npm', args, { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(join(root, 'node_modules'))) npm('ci', '--include=dev', '--ignore-scripts')
npm('run', 'build')
