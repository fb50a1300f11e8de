import { collectLeaf } from '../info.ts'
import type { Element, XmlTree } from '../tree.ts'
import type { Pair, XmlText } from './xml-text.ts'

/** Values by the path of their names, as `collectLeaves` gives them. */
export type Leaves = ReadonlyMap<string, string>

/** How an entry is written of which only the path is known: its tag and attributes. */
export type EntryForm = (name: string) => { readonly tag: string; readonly attributes: readonly Pair[] }

/** Entries of the `<rt_info>` of a layer: `<attribute name="decompression" version="0" />`. */
export const attributeForm: EntryForm = name => ({
  tag: 'attribute',
  attributes: [
    ['name', name],
    ['version', '0']
  ]
})

/** Entries of the `<rt_info>` of a model: elements, and `<info name=…>` for names that are no tags. */
export const infoForm: EntryForm = name =>
  /^[A-Za-z_][\w.-]*$/.test(name) ? { tag: name, attributes: [] } : { tag: 'info', attributes: [['name', name]] }

/** Copies the children of an element, but for those with a leaf that is gone or has another value than before. */
export function copyUnchanged(
  out: XmlText,
  xml: XmlTree,
  parent: Element,
  prefix: string,
  isUnchanged: (path: string) => boolean
): void {
  for (const child of xml.children(parent)) {
    const leaves = new Map<string, string>()
    collectLeaf(xml, child, prefix, leaves)
    if ([...leaves.keys()].every(isUnchanged)) out.copy(xml, child)
  }
}

/** Writes leaves as elements, nested as the parts of their paths are. */
export function writeLeaves(out: XmlText, leaves: Leaves, form: EntryForm): void {
  const groups = new Map<string, { value?: string; below: Map<string, string> }>()
  for (const [path, value] of leaves) {
    const slash = path.indexOf('/')
    const name = slash < 0 ? path : path.slice(0, slash)
    let group = groups.get(name)
    if (group === undefined) groups.set(name, (group = { below: new Map() }))
    if (slash < 0) group.value = value
    else group.below.set(path.slice(slash + 1), value)
  }
  for (const [name, { value, below }] of groups) {
    const { tag, attributes } = form(name)
    out.open(
      tag,
      value === undefined || (value === '' && tag === 'attribute') ? attributes : [...attributes, ['value', value]]
    )
    writeLeaves(out, below, form)
    out.close(tag)
  }
}
