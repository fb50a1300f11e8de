import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { pageReport } from '../../../src/cli/check/page.ts'
import type { Checked } from '../../../src/cli/check/report.ts'
import { Tally } from '../../../src/cli/check/report.ts'
import { type ByteSource, bytesSource } from '../../../src/files/byte-source.ts'
import type { Model } from '../../../src/graph/graph.ts'
import { check } from '../../../src/index.ts'
import { load } from '../../../src/load.ts'
import { type ModelParts, node, onnxModel, port } from '../../fixtures/onnx.ts'

function pageOf(model: Model, { withValues = false, source }: { withValues?: boolean; source?: ByteSource }): string {
  const outcome: Checked = {
    file: model.file,
    model,
    result: check(model),
    ignored: 0,
    gone: 0,
    fingerprints: [],
    source
  }
  const [report, tally] = [pageReport({ isMany: false, withValues }), new Tally()]
  report.add(outcome)
  tally.add(outcome)
  return report.end(tally.totals)
}

const page = async (parts: ModelParts, withValues = false): Promise<string> =>
  pageOf(await onnxModel(parts), { withValues })

const gather = (name = 'h'): ModelParts => ({
  inputs: [port('x', 'float', [6, 'n']), port('ids', 'int64', [4])],
  values: [port(name, 'float', [5, 'n'])],
  outputs: [port('y', 'float', [4, 'n'])],
  nodes: [node('Gather', ['x', 'ids'], [name]), node('Relu', [name], ['y'])]
})

const drawings = (html: string): string[] => html.match(/<svg[^]*?<\/svg>/g) ?? []
const textsIn = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text)

describe('the page of a check', () => {
  test('draws a finding with what its node reads and who reads it, dims on the edges', async () => {
    const [svg, ...more] = drawings(await page(gather()))
    expect(more).toEqual([])
    expect(XMLValidator.validate(svg)).toBe(true)
    expect(textsIn(svg)).toEqual([
      'x',
      'float32 [6, n]',
      'graph input',
      'x',
      'ids',
      'int64 [4]',
      'graph input',
      'ids',
      'h',
      'float32 [4, n]',
      'declared float32 [5, n]',
      'Relu',
      'Relu_y',
      'Gather',
      'Gather_h'
    ])
    expect(
      (
        new XMLParser({ ignoreAttributes: false, isArray: name => name === 'path' }).parse(svg) as {
          svg: { path: unknown[] }
        }
      ).svg.path
    ).toHaveLength(3)
  })

  test('stands alone: no script, nothing to load', async () => {
    const html = await page(gather(), true)
    expect(html).toContain("default-src 'none'; style-src 'unsafe-inline'")
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import| on\w+=/i)
  })

  test('escapes whatever a file names', async () => {
    const name = '</script><script>alert("1")</script>\'&\u001b\u202e\0'
    const html = await page(gather(name), true)
    expect(html).not.toMatch(/<\/?script/i)
    expect(html).toContain(
      '&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;\\u001b\\u202e\\u0000'
    )
    expect(html.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    for (const svg of drawings(html)) expect(XMLValidator.validate(svg)).toBe(true)
  })

  test('fits a phone, and shortens names that do not', async () => {
    const html = await page(gather('n'.repeat(500)))
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    const [, width] = /<svg[^>]* width="(\d+)"/.exec(html) ?? []
    expect(Number(width)).toBeLessThan(900)
    expect(html).toContain(`<title>${'n'.repeat(500)}</title>`)
  })

  test('shows the lines of an IR', async () => {
    const xml = `<net name="m" version="11"><layers>
  <layer id="0" name="x" type="Parameter" version="opset1"><data shape="6" element_type="f32"/>
  <output><port id="0" precision="FP32"><dim>6</dim></port></output></layer>
  <layer id="1" name="r" type="Result" version="opset1"><input><port id="0">
    <dim>7</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>`
    const bytes = Buffer.from(xml)
    const model = await load(new Uint8Array(bytes), { name: 'm.xml' })
    const html = pageOf(model, { source: bytesSource('m.xml', bytes) })
    expect(html).toContain('5 |     &lt;dim&gt;7&lt;/dim&gt;')
    expect(textsIn(drawings(html)[0])).toContain('read as ? [7]')
  })

  test('draws a few neighbours and counts the rest', async () => {
    const html = await page({
      inputs: [port('x', 'float', [6])],
      values: [port('h', 'float', [5])],
      outputs: [port('y0', 'float')],
      nodes: [node('Neg', ['x'], ['h']), ...Array.from({ length: 40 }, (_, i) => node('Relu', ['h'], [`y${i}`]))]
    })
    expect(textsIn(drawings(html)[0])).toContain('… 37 more')
  })

  test('says that nothing is false where nothing is', async () => {
    const html = await page({ ...gather(), values: [] })
    expect(html).toContain('<b>0</b> errors')
    expect(html).not.toContain('<article')
  })
})
