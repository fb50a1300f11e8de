import { CODES } from '../../check/codes.ts'
import type { Finding } from '../../graph/graph.ts'

/** What a code of a finding means: a sentence or two, in Markdown. */
export const meaningOf = (code: Finding['code']): string => CODES[code][0]
