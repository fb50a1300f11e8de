import type { ComparedValue, Comparison, FirstDifference } from '../../compare/result.ts'
import type { Model } from '../../graph/graph.ts'
import { nodeText } from '../../report/compared-words.ts'
import { COMPARISON_STYLE, comparisonHeader, comparisonParts } from '../../report/comparison.ts'
import { escaped, framed, pageOf } from '../../report/html.ts'
import { STYLE } from '../../report/style.ts'
import { surroundingsOf } from '../draw/neighbourhood.ts'
import { drawSvg } from '../draw/svg.ts'

/** What is compared, by the names that the caller gave; a recording has no model. */
export interface Subjects {
  readonly a: string
  readonly b: string
  readonly modelA?: Model | undefined
  readonly modelB?: Model | undefined
}

const OWN_STYLE = `
body { max-width: 76rem }
svg rect { fill: var(--card); stroke: var(--line) }
svg .port { stroke-dasharray: none; fill: var(--paper) }
svg .constant { stroke-dasharray: 4 3 }
svg .marked { stroke: var(--error); stroke-width: 3 }
svg .edge { marker-end: url(#tip) }
svg .tip { fill: var(--soft) }
`

/** What a comparison found as one page that needs nothing else. */
export async function comparePage(result: Comparison, subjects: Subjects): Promise<string> {
  const { a, b } = subjects
  const around = result.first ? await pictures(result.first, subjects) : ''
  return pageOf(`${a} and ${b}`, STYLE + COMPARISON_STYLE + OWN_STYLE, [
    comparisonHeader(result, a, b),
    ...comparisonParts(result, around)
  ])
}

async function pictures({ a, b }: FirstDifference, { modelA, modelB }: Subjects): Promise<string> {
  const side = async (name: string, model: Model | undefined, value: ComparedValue): Promise<string> => {
    const around = model && surroundingsOf(model, value)
    const picture = around
      ? await drawSvg(around.model, { marked: new Set([`g_${around.index}`]), isInline: true })
      : `<p>${escaped(nodeText(value))}</p>`
    return `<section><h2>${name}</h2>${framed(picture)}</section>`
  }
  return `<div class="sides">${await side('a', modelA, a)}${await side('b', modelB, b)}</div>`
}
