import { isMainThread } from 'node:worker_threads'
import { NodewiseError } from '../errors.ts'
import { EXIT, reportFailure } from './failure.ts'
import { main, reportFlags } from './main.ts'
import { processTerminal } from './terminal.ts'

// The program that is bundled: the command as a process, and `main` for those who call it.

export { main }

/** What the file of the command does: it is the command, or a worker of `nodewise test`. */
export function start(): void {
  if (isMainThread) startCommand(process.argv.slice(2))
  else void import('./test/test-worker.ts').then(({ serveCases }) => serveCases())
}

function startCommand(args: readonly string[]): void {
  const terminal = processTerminal()
  const end = (code: number): never => process.exit(code)
  // A reader of the output that has seen enough (`nodewise run … | head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') end(EXIT.yes)
    const failure = new NodewiseError('write-failed', `cannot write the output: ${error.message}`)
    end(reportFailure(failure, { json: false, debug: false }, terminal))
  })
  // A failure to write to stderr cannot be reported anywhere.
  process.stderr.on('error', () => undefined)
  process.on('uncaughtException', error => end(reportFailure(error, reportFlags(args), terminal)))
  void main(args, terminal).then(code => {
    process.exitCode = code
  })
}
