import { signal } from '@preact/signals'
import type { GraphView } from './view.ts'

/** The view on the page. */
export const current = signal<GraphView | undefined>(undefined)
/** Counts movements of its camera. */
export const cameraMoved = signal(0)
