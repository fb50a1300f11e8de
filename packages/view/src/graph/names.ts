/**
 * The groups that a node's name says it is in, outermost first, and its own name last. Exporters write paths with `/`;
 * OpenVINO's PyTorch frontend writes modules with dots (`__module.encoder.layer.3.dense/aten::linear/MatMul`). A number
 * belongs to the word before it: `layer.3`.
 */
export function pathOf(name: string): string[] {
  const parts = name.split('/').filter(part => part !== '')
  const first = parts.at(0)
  if (first?.startsWith('__module.')) parts.splice(0, 1, ...first.slice('__module.'.length).split('.'))
  const path: string[] = []
  for (const part of parts) {
    const before = path.at(-1)
    if (/^\d+$/.test(part) && before !== undefined && !/\d$/.test(before)) path[path.length - 1] = `${before}.${part}`
    else path.push(part)
  }
  return path
}
