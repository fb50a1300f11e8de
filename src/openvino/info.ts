import { trimBlanks } from './numbers.ts'
import type { Element, XmlTree } from './tree.ts'

/** Longer names are cut, so that paths stay short. */
const MAX_NAME_LENGTH = 256

/** Elements that are called by their attribute `name`, not by their tag. */
const NAMED = new Set(['attribute', 'info', 'user_data', 'custom'])

/**
 * Adds the leaves below an element such as `<rt_info>` or `<meta_data>` to `leaves`, by `prefix` and the path of their
 * names (`conversion_parameters/framework`). The value of a leaf is its attribute `value`, else its text, else the
 * values of its other attributes.
 */
export function collectLeaves(xml: XmlTree, parent: Element, prefix: string, leaves: Map<string, string>): void {
  for (const element of xml.children(parent)) collectLeaf(xml, element, prefix, leaves)
}

/** Adds an element, or the leaves below it, as {@link collectLeaves} does. */
export function collectLeaf(xml: XmlTree, element: Element, prefix: string, leaves: Map<string, string>): void {
  const tag = xml.name(element)
  const named = NAMED.has(tag) ? xml.attribute(element, 'name') : undefined
  const path = prefix + (named ?? tag).slice(0, MAX_NAME_LENGTH)
  const value = xml.attribute(element, 'value')
  const isLeaf = xml.children(element).length === 0
  if (isLeaf || value !== undefined) leaves.set(path, value ?? leafText(xml, element, named !== undefined))
  if (!isLeaf) collectLeaves(xml, element, `${path}/`, leaves)
}

function leafText(xml: XmlTree, element: Element, isNamed: boolean): string {
  const text = trimBlanks(xml.text(element))
  if (text !== '') return text
  const others = xml.attributePairs(element).filter(([name]) => name !== 'version' && !(isNamed && name === 'name'))
  return others.map(([, value]) => value).join(';')
}
