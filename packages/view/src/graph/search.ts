import { type Columns, countOf, KIND, nameOf } from './columns.ts'
import type { KnownTexts } from './known.ts'

export interface Hit {
  readonly record: number
  readonly score: number
}

const MAX_HITS = 200

/**
 * The nodes that a text finds, best first. Each word must be found: in the name, in the operator, or in a shape
 * (`1x128x768`, `?x768`). `type:Gather` asks for the operator alone.
 */
export function search(columns: Columns, text: string, facts?: KnownTexts, most = MAX_HITS): Hit[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
  if (words.length === 0) return []
  const byShape = words.map(word =>
    /^[\d?\w]*([x×][\d?\w]+)+$/.test(word) && facts ? recordsWith(columns, word, facts) : undefined
  )
  const hits: Hit[] = []
  for (let record = 0; record < countOf(columns); record++) {
    if (columns.kind[record] === KIND.constant) continue
    const name = nameOf(columns, record).toLowerCase()
    const type = columns.types[columns.type[record]].toLowerCase()
    let score = 0
    for (const [i, word] of words.entries()) {
      const found = byShape[i]?.has(record) ? 2 : scoreOf(word, name, type)
      if (found === 0) {
        score = 0
        break
      }
      score += found
    }
    if (score > 0) hits.push({ record, score: score - name.length / 1e4 })
  }
  return hits.sort((a, b) => b.score - a.score).slice(0, most)
}

function scoreOf(word: string, name: string, type: string): number {
  if (word.startsWith('type:')) return type === word.slice(5) ? 4 : 0
  if (type === word || name === word) return 5
  if (name.endsWith(`/${word}`)) return 4
  if (type.startsWith(word)) return 3
  if (name.includes(word)) return 2
  return type.includes(word) ? 1 : 0
}

/** The records that make a value of a shape; `?` stands for any dim. */
function recordsWith({ maker }: Columns, word: string, { texts, dims }: KnownTexts): Set<number> {
  const parts = word.split(/[x×]/)
  const isWanted = texts.map(text => {
    const own = text.toLowerCase().split('×')
    return own.length === parts.length && parts.every((part, i) => part === '?' || part === own[i])
  })
  const found = new Set<number>()
  dims.forEach((text, value) => {
    if (isWanted[text]) found.add(maker[value])
  })
  return found
}
