import { companion } from './companion.ts'
import type { Terminal } from './terminal.ts'

/** What is needed of the package that serves models. */
interface ServePackage {
  main(args: readonly string[], terminal: Pick<Terminal, 'stdout' | 'stderr'>): Promise<number>
}

/**
 * `nodewise serve`, which the package nodewise-serve does: it brings servers of HTTP and gRPC.
 * @returns the exit code
 */
export const serve = (args: readonly string[], terminal: Terminal): Promise<number> =>
  companion<ServePackage>('serve', terminal).main(args, terminal)
