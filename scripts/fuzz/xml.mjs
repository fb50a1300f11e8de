// IR files as trees of elements, which can be cut, copied and written wrongly in every way that XML allows.

const TOKEN =
  /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<(\/?)([^\s>/]+)((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * The tree of a well-formed file: `{ tag, attributes: [{ name, value }], children }`; texts among the children are `{
 * text }`. Values
 * stay as they are written.
 */
export function parseXml(source) {
  const top = { tag: '', attributes: [], children: [] }
  const open = [top]
  for (const [, close, tag, attributes, empty, text] of source.replace(/^\ufeff/, '').matchAll(TOKEN)) {
    if (text !== undefined) {
      if (text.trim() !== '' && open.length > 1) open.at(-1).children.push({ text })
    } else if (close) open.pop()
    else if (tag) {
      const element = {
        tag,
        attributes: [...attributes.matchAll(ATTRIBUTE)].map(([, name, a, b]) => ({ name, value: a ?? b })),
        children: []
      }
      open.at(-1).children.push(element)
      if (!empty) open.push(element)
    }
  }
  return top.children[0]
}

/**
 * The text of a tree. Besides what `parseXml` makes, an element may carry `close` (the name in its closing tag; `''`
 * leaves the tag out),
 * and anything may
 * carry `raw`, which is written as it is.
 */
export function writeXml(element) {
  const parts = []
  write(element, parts)
  return parts.join('')
}

function write(node, parts) {
  if (node.raw !== undefined || node.text !== undefined) {
    parts.push(node.raw ?? node.text)
    return
  }
  parts.push(`<${node.tag}`, ...node.attributes.map(({ name, value, raw }) => raw ?? ` ${name}="${value}"`))
  if (node.children.length === 0 && node.close === undefined) {
    parts.push('/>')
    return
  }
  parts.push('>')
  for (const child of node.children) write(child, parts)
  parts.push(
    node.close === '' ? '' : `</${node.close ?? node.tag}>`,
    node.tag === 'layer' || node.tag === 'edge' ? '\n' : ''
  )
}

export const copyOf = node =>
  node.children === undefined
    ? { ...node }
    : { ...node, attributes: node.attributes.map(attribute => ({ ...attribute })), children: node.children.map(copyOf) }

/** Every element of a tree, the root first. */
export function elementsIn(element, found = []) {
  if (element?.children === undefined) return found
  found.push(element)
  for (const child of element.children) elementsIn(child, found)
  return found
}

export const elementsOf = (root, tag) => elementsIn(root).filter(element => element.tag === tag)
export const attributeOf = (element, name) => element.attributes.find(attribute => attribute.name === name)
export const childOf = (element, tag) => element.children.find(child => child.tag === tag)

/** Text as it is written within an attribute or element. */
export const escaped = text => text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

export const element = (tag, attributes = {}, children = []) => ({
  tag,
  attributes: Object.entries(attributes).map(([name, value]) => ({ name, value: String(value) })),
  children
})
