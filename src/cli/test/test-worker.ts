import { parentPort, workerData } from 'node:worker_threads'
import type { Case } from './cases.ts'
import { type Asked, runCase } from './run-case.ts'

/** Runs the cases that the main thread sends, one after the other. */
export function serveCases(): void {
  parentPort?.on('message', (one: Case) => {
    void runCase(one, workerData as Asked).then(result => parentPort?.postMessage(result))
  })
}
