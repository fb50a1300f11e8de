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
