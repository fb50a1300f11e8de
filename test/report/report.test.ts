import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { check, compare, type Finding, htmlReport, type Model, type ReportParts, Tensor } from '../../src/index.ts'
import { floats, node, onnxModel, port } from '../fixtures/onnx.ts'

const EVIL = '<script>alert("x")</script>&'

const model = (weight: number): Promise<Model> =>
  onnxModel({
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [1, weight])],
    values: [port('m', 'float', [3])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Mul', ['x', 'w'], ['m'], {}), node('Neg', ['m'], [EVIL]), node('Abs', [EVIL], ['y'])]
  })

const report = async (parts: Omit<ReportParts, 'checked'> = {}): Promise<string> => {
  const one = await model(2)
  return htmlReport(one, { checked: check(one), ...parts })
}

describe('a report', () => {
  test('has the findings with what is around them, and needs nothing else', async () => {
    const html = await report()
    expect(html).toContain('What is declared cannot all be true.')
    expect(html).toContain('<dd class="declared">[3]</dd>')
    expect(html).toContain('>Mul</text>')
    expect(html).toContain("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    expect(html).not.toMatch(/<script|<link|https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
  })

  test('names a value once where it is the place of a finding', async () => {
    const odd = await onnxModel({
      inputs: [port('x', 'float', [-3])],
      outputs: [port('y', 'float', ['n'])],
      nodes: [node('Abs', ['x'], ['y'])]
    })
    const [place] = /<p class="place">.*?<\/p>/.exec(htmlReport(odd, { checked: check(odd) }))!
    expect(place.match(/value &quot;x&quot;/g)).toHaveLength(1)
  })

  test('shows pictures as images, whatever is in them', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><text>"é \ud800" ${EVIL}</text></svg>`
    const html = await report({ pictures: [{ title: EVIL, svg }] })
    const [, address] = /<img alt="[^"]*" src="data:image\/svg\+xml,([^"]*)">/.exec(html)!
    expect(decodeURIComponent(address)).toBe(svg.replace('\ud800', '\ufffd'))
    expect(html).not.toContain('<script')
  })

  test('has tables, open or folded, and facts, all escaped', async () => {
    const html = await report({
      facts: [['Nodes', EVIL]],
      tables: [
        { title: 'Run', notes: [`done ${EVIL}`], head: ['output', 'mean'], rows: [[EVIL, '0.5']] },
        { title: 'All', head: ['a'], rows: [['b']], isFolded: true },
        { title: 'None', head: ['a'], rows: [] }
      ]
    })
    expect(html.match(/&lt;script&gt;alert/g)!.length).toBeGreaterThanOrEqual(3)
    expect(html).toContain('<details><summary>All</summary>')
    expect(html).not.toContain('<script')
    const body = html.slice(html.indexOf('<body>'), html.indexOf('</html>'))
    expect(XMLValidator.validate(body)).toBe(true)
    expect(() => new XMLParser().parse(body) as unknown).not.toThrow()
  })

  test('says how many rows of a long table are left out', async () => {
    const rows = Array.from({ length: 20_002 }, () => ['b'])
    expect(await report({ tables: [{ title: 'All', head: ['a'], rows }] })).toContain('<p>and 2 more rows</p>')
  })

  test('tells findings that are given, also with unknown codes, in place of those of the check', async () => {
    const given = [{ code: 'of-a-later-version', severity: 'warning', message: 'said elsewhere', place: {} }]
    const html = await report({ findings: given as unknown as Finding[] })
    expect(html).toContain('Nothing that is declared was found to be false.')
    expect(html).toContain('<b>1</b> warning')
    expect(html).toContain('<code>of-a-later-version</code></p>')
    expect(html).not.toContain('<dd class="declared">')
  })

  test('has what a comparison found', async () => {
    const [one, two] = await Promise.all([model(2), model(3)])
    const result = await compare(one, two, { x: new Tensor('float32', [1, -2], [2]) })
    const html = await report({ comparison: { other: 'two.onnx', result } })
    expect(html).toContain('<b class="declared">not equal</b>')
    expect(html).toContain('<dd>two.onnx</dd>')
    expect(html).toContain('first difference')
    expect(html).toContain('class="curve"')
  })
})
