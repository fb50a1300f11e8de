/** The node that the page's address names: `#node=encoder/layer.3/MatMul`. */
export const readLink = (): string | undefined =>
  new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B')).get('node') ?? undefined

/** Names a node in the page's address, so that it can be passed on. */
export function writeLink(node: string | undefined): void {
  const { pathname, search } = location
  const hash = node === undefined ? '' : `#node=${encodeURIComponent(node)}`
  history.replaceState(null, '', `${pathname}${search}${hash}`)
}
