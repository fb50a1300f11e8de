/** `nodewise-score`: models over tables. */
export type { OnError, Progress, ScoreOptions, ScoreResult } from './options.ts'
export { score } from './score.ts'
export type { Format } from './table.ts'
