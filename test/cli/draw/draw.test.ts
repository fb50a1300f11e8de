import { XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { draw } from '../../../src/cli/draw/draw.ts'
import { drawSvg } from '../../../src/cli/draw/svg.ts'
import { parseModel } from '../../../src/index.ts'
import { processorSeconds } from '../../processor-time.ts'

const HEAD = '<ir_version: 8, opset_import: ["" : 17, "own" : 1]>'

describe('a drawing', () => {
  test('says in a body what a value and a weight of the graph around it are', () => {
    const model = parseModel(`${HEAD} g (float[2] x, bool c, int64 n) => (float[2] y) <float[2] w = {1, 2}> {
      y = If (c) <
        then_branch = t () => (float[2] a) {
          a = If (c) <
            then_branch = tt () => (float[2] p) { p = Add (x, w) },
            else_branch = te () => (float[2] q) { q = Neg (x) }
          >
        },
        else_branch = e () => (float[2] b) { b = Abs (x) }
      >
    }`)
    const text = draw(model, 'dot')
    expect(text).toContain('[label="Add\\nw: float32 [2]"]')
    const captures = text.split('\n').filter(line => line.includes('style=dashed'))
    expect(captures.map(line => /-> \S+ \[label="(.*?)"/.exec(line)?.[1]).sort()).toEqual(
      ['bool []', ...new Array<string>(3).fill('float32 [2]')].sort()
    )
  })

  test('gives an input of a function no type of a value that has its name', () => {
    const model = parseModel(`${HEAD} g (float[2] x, int64[3] i) => (float[2] y) { j = own.f (i)  y = Neg (x) }
      <domain: "own", opset_import: ["" : 17]> f (x) => (z) { z = Identity (x) }`)
    expect(draw(model, 'dot')).toContain('f0_in0 [label="x", shape=ellipse]')
  })

  test('of a long chain takes time in proportion to its nodes', async () => {
    const count = 10_000
    const nodes = Array.from({ length: count }, (_, i) => `v${i + 1} = Relu (v${i})`).join('\n')
    const model = parseModel(`${HEAD} g (float[2] v0) => (float[2] v${count}) { ${nodes} }`)
    let text = ''
    expect(await processorSeconds(() => (text = draw(model, 'dot')))).toBeLessThan(1)
    expect(text.match(/->/g)).toHaveLength(count + 1)
  })
})

describe('a picture', () => {
  /** All numbers of a picture are numbers, and its texts lie in their boxes. */
  const sound = (svg: string): string => {
    expect(XMLValidator.validate(svg)).toBe(true)
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
    return svg
  }

  test('of a graph without nodes, inputs and outputs is empty', async () => {
    expect(sound(await drawSvg(parseModel(`${HEAD} g () => () { }`)))).toContain('viewBox="0 0 0 0"')
  })

  test('has room for a function that does nothing', async () => {
    const model = parseModel(`${HEAD} g (float[2] x) => (float[2] y) { y = Neg (x) }
      <domain: "own", opset_import: ["" : 17]> f () => () { }`)
    expect(sound(await drawSvg(model))).toMatch(/<rect class="frame" .*width="\d/)
  })

  test('has boxes as wide as their texts, of scripts with wide letters too', async () => {
    const nameOf = (letter: string): string => letter.repeat(30)
    const widths = await Promise.all(
      ['a', '字', 'ま', '글'].map(async letter => {
        const model = parseModel(`${HEAD} g (float[2] x) => (float[2] y) { ["${nameOf(letter)}"] y = Neg (x) }`)
        return Number(/<rect class="node" .*width="([\d.]+)"/.exec(sound(await drawSvg(model)))?.[1])
      })
    )
    // At 11 pixels a letter of these scripts is 11 wide, one of a monospaced font below 7.
    expect(widths.map(width => width > 30 * 11)).toEqual([false, true, true, true])
  })
})
