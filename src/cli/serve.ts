import { createRequire } from 'node:module'
import { join } from 'node:path'
import { NodewiseError } from '../errors.ts'
import type { Terminal } from './terminal.ts'

/** What is needed of the package that serves models. */
interface ServePackage {
  main(args: readonly string[], terminal: Pick<Terminal, 'stdout' | 'stderr'>): Promise<number>
}

const PACKAGE = 'nodewise-serve'

/**
 * `nodewise serve`: the package `nodewise-serve` of the project of the current folder, or beside this command. It is a
 * package of its own since it brings servers of HTTP and gRPC.
 * @returns the exit code
 */
export const serve = (args: readonly string[], terminal: Terminal): Promise<number> =>
  installed(terminal).main(args, terminal)

function installed({ cwd, program }: Terminal): ServePackage {
  for (const from of [join(cwd, 'package.json'), program]) {
    const require = createRequire(from)
    try {
      require.resolve(PACKAGE)
    } catch {
      continue
    }
    return require(PACKAGE) as ServePackage
  }
  throw new NodewiseError('bad-usage', `models are served by the package ${PACKAGE}: npm install ${PACKAGE}`)
}
