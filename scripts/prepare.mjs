// What npm runs in a clone after it installed the dependencies: the build. Where a package is installed globally from
// git, as pre-commit does, npm runs it without them (npm/cli#8440); they are installed here then. For that it imports
// nothing but Node's own modules.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

function npm(...args) {
  // "--global" of the command that called comes as a variable and would install this very package.
  const env = { ...process.env, npm_config_global: 'false', npm_config_location: 'project' }
  const { status } = spawnSync('npm', args, { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

// The workspaces depend on this package by a link. npm prepares links, links the commands that were built, and prepares
// the project: one build serves both. npm sets the first variable for dependencies alone.
const { npm_package_optional: dependency, npm_config_local_prefix: project } = process.env
const isOwnLink = dependency !== undefined && project !== undefined && relative(project, root) === ''
const preparedAsLink = join(root, 'node_modules', '.prepared-as-link')

if (!isOwnLink && existsSync(preparedAsLink)) rmSync(preparedAsLink)
else {
  if (!existsSync(join(root, 'node_modules'))) npm('ci', '--include=dev', '--ignore-scripts')
  npm('run', 'build')
  if (isOwnLink) writeFileSync(preparedAsLink, '')
}
