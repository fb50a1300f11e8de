import { signal } from '@preact/signals'
import type { GraphView } from './view.ts'

/** The view on the page. */
export const current = signal<GraphView | undefined>(undefined)
/** The view of the graph beside it, while two models are compared. */
export const currentBeside = signal<GraphView | undefined>(undefined)
/** Counts movements of its camera. */
export const cameraMoved = signal(0)
