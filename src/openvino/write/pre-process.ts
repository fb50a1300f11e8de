import type { Graph, GraphPort, InputMean } from '../../graph/graph.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { unsigned } from '../numbers.ts'
import type { Element, XmlTree } from '../tree.ts'
import type { Bin } from './constants.ts'
import type { Pair, XmlText } from './xml-text.ts'

/** Copies a `<pre-process>`; mean images have the offsets that they have in the new .bin. */
export function copyPreProcess(out: XmlText, xml: XmlTree, element: Element, graph: Graph, bin: Bin): void {
  const images = graph.inputs.find(({ mean }) => mean !== undefined)?.mean?.images
  out.open('pre-process', xml.attributePairs(element))
  for (const [index, channel] of xml.children(element, 'channel').entries()) {
    const id = xml.attribute(channel, 'id')
    const image = images?.at(id === undefined ? index : (unsigned(id) ?? index))
    const slot = image && bin.slotOf(image)
    const mean = xml.child(channel, 'mean')
    out.open('channel', xml.attributePairs(channel))
    for (const child of xml.children(channel)) {
      const pairs = new Map(xml.attributePairs(child))
      if (child === mean && slot !== undefined && pairs.has('offset')) pairs.set('offset', String(slot.offset))
      out.copy(xml, child, pairs)
    }
    out.close('channel')
  }
  out.close('pre-process')
}

/** Writes the `<pre-process>` of a model that has no file. */
export function writePreProcess(out: XmlText, graph: Graph, bin: Bin): void {
  const port = graph.inputs.find(({ mean }) => mean !== undefined)
  if (port?.mean === undefined) return
  out.open('pre-process', [
    ['mean-precision', 'FP32'],
    ['reference-layer-name', layerName(graph, port)]
  ])
  for (const [id, mean] of meansOf(port.mean, bin).entries()) {
    out.open('channel', [['id', id]])
    out.leaf('mean', mean)
    out.close('channel')
  }
  out.close('pre-process')
}

const layerName = ({ nodes }: Graph, { name, node }: GraphPort): string =>
  node === undefined ? name : nodes[node].name

function meansOf(mean: InputMean, bin: Bin): Pair[][] {
  if (mean.images === undefined) return Array.from(toNumbers(mean.read()), value => [['value', value]])
  return mean.images.map(image => {
    const { offset, size } = bin.slotOf(image) ?? { offset: 0, size: image.byteLength }
    return [
      ['offset', offset],
      ['size', size]
    ]
  })
}
