import { printable } from '../io/print.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

/** Text that is safe in an element and in a quoted attribute; what could not be seen is written out. */
export const escaped = (text: string): string => printable(text).replace(/[&<>"']/g, character => ENTITIES[character])

/** A coordinate of a picture: more digits than that show nothing. */
export const toTenth = (value: number): number => Math.round(value * 10) / 10

/** Nothing runs and nothing is loaded; pictures are within the page. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/** A page that needs nothing else: no script, no network. */
export const pageOf = (title: string, style: string, body: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...body,
    '</main>',
    '</body>',
    '</html>'
  ].join('\n')

/** A row of a table; `look` names how it looks. */
export function rowHtml(cells: readonly string[], tag: 'td' | 'th', look = ''): string {
  // A header without text would be none to a screen reader.
  const cell = (text: string): string => (text === '' ? '<td></td>' : `<${tag}>${escaped(text)}</${tag}>`)
  return `<tr${look === '' ? '' : ` class="${look}"`}>${cells.map(cell).join('')}</tr>`
}

/** A frame that scrolls where its content is wide; keys scroll it too. */
export const framed = (content: string): string => `<div class="drawing" tabindex="0">${content}</div>`

/** A table of rows as {@link rowHtml} writes them. */
export const tableHtml = (rows: readonly string[]): string => framed(`<table>${rows.join('\n')}</table>`)
