import { Worker } from 'node:worker_threads'
import { clock } from '../../host.ts'
import type { Case } from './cases.ts'
import type { Asked, CaseResult } from './run-case.ts'

/**
 * Runs cases in threads of the program. A thread that dies (out of memory, say) makes its case an error and is
 * replaced.
 * @param onResult called once a case, in whatever order they end
 */
export async function runInWorkers(
  cases: readonly Case[],
  { program, count, asked }: { program: URL; count: number; asked: Asked },
  onResult: (index: number, result: CaseResult) => void
): Promise<void> {
  let next = 0
  const serve = async (): Promise<void> => {
    while (next < cases.length) await serveWith(new Worker(program, { workerData: asked }))
  }
  /** Gives one worker cases until there are none or it dies. */
  const serveWith = async (worker: Worker): Promise<void> => {
    let isAlive = true
    // A thread may also die after it has answered; the next case then goes to another.
    const died = (): void => {
      isAlive = false
    }
    worker.on('error', died).on('exit', died)
    try {
      while (isAlive && next < cases.length) {
        const index = next++
        onResult(index, await ask(worker, cases[index]))
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: count }, serve))
}

function ask(worker: Worker, one: Case): Promise<CaseResult> {
  const start = clock()
  return new Promise(resolve => {
    const end = (result: CaseResult): void => {
      worker.off('message', end).off('error', failed).off('exit', ended)
      resolve(result)
    }
    const died = (reason: string): void =>
      end({
        name: one.name,
        status: 'error',
        message: `the thread that ran it ended: ${reason}`,
        milliseconds: clock() - start
      })
    const failed = (error: Error): void => died(error.message)
    const ended = (code: number): void => died(`exit code ${code}`)
    worker.on('message', end).on('error', failed).on('exit', ended)
    worker.postMessage(one)
  })
}
