import { parentPort, workerData } from 'node:worker_threads'
import type { Case } from './cases.ts'
import { runCase } from './run-case.ts'
import type { WorkerStart } from './workers.ts'

/** Runs the cases that the main thread sends, one after the other. */
export function serveCases(): void {
  const { asked } = workerData as WorkerStart
  parentPort?.on('message', (one: Case) => {
    void runCase(one, asked).then(result => parentPort?.postMessage(result))
  })
}
