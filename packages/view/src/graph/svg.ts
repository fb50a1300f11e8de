/** What the painter draws with: a canvas, or {@link SvgPen}. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'setTransform'
  | 'clearRect'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'bezierCurveTo'
  | 'quadraticCurveTo'
  | 'arc'
  | 'roundRect'
  | 'fill'
  | 'stroke'
  | 'fillText'
  | 'strokeText'
  | 'setLineDash'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
  | 'globalAlpha'
>

const tenth = (number: number): string => `${Math.round(number * 10) / 10}`
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`).replace(/[^\P{C}\n]/gu, '�')

/** Writes what is drawn as SVG: the same picture without pixels. */
export class SvgPen implements Pen {
  fillStyle: Pen['fillStyle'] = '#000'
  strokeStyle: Pen['strokeStyle'] = '#000'
  lineWidth = 1
  lineJoin: CanvasLineJoin = 'round'
  font = ''
  textAlign: CanvasTextAlign = 'left'
  textBaseline: CanvasTextBaseline = 'middle'
  globalAlpha = 1
  private readonly parts: string[] = []
  private path: string[] = []
  private dash = ''
  private matrix = ''

  setTransform(a?: number | DOMMatrix2DInit, ...rest: number[]): void {
    this.matrix = `matrix(${[Number(a), ...rest].map(number => Number(number.toFixed(4))).join(' ')})`
  }

  clearRect(): void {
    this.parts.length = 0
  }

  beginPath(): void {
    this.path = []
  }

  moveTo(x: number, y: number): void {
    this.path.push(`M${tenth(x)} ${tenth(y)}`)
  }

  lineTo(x: number, y: number): void {
    this.path.push(`L${tenth(x)} ${tenth(y)}`)
  }

  bezierCurveTo(...points: number[]): void {
    this.path.push(`C${points.map(tenth).join(' ')}`)
  }

  quadraticCurveTo(...points: number[]): void {
    this.path.push(`Q${points.map(tenth).join(' ')}`)
  }

  /** Whole circles: the painter draws no others. */
  arc(x: number, y: number, radius: number): void {
    const [r, d] = [tenth(radius), tenth(2 * radius)]
    this.path.push(`M${tenth(x - radius)} ${tenth(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0z`)
  }

  /** One radius serves all corners; of several, the first the left ones. */
  roundRect(x: number, y: number, w: number, h: number, radii?: Parameters<Pen['roundRect']>[4]): void {
    const list = (Array.isArray(radii) ? radii : [radii ?? 0]).map(Number)
    const left = Math.min(list[0], w / 2, h / 2)
    const right = Math.min(list.length > 1 ? list[1] : list[0], w / 2, h / 2)
    const corner = (radius: number, dx: number, dy: number): string =>
      radius === 0 ? '' : `a${tenth(radius)} ${tenth(radius)} 0 0 1 ${tenth(dx)} ${tenth(dy)}`
    this.path.push(
      `M${tenth(x + left)} ${tenth(y)}H${tenth(x + w - right)}${corner(right, right, right)}V${tenth(y + h - right)}` +
        `${corner(right, -right, right)}H${tenth(x + left)}${corner(left, -left, -left)}V${tenth(y + left)}` +
        `${corner(left, left, -left)}z`
    )
  }

  fill(): void {
    this.add(`<path d="${this.path.join('')}" fill="${this.fillStyle as string}"${this.opacity()}/>`)
  }

  stroke(): void {
    const stroke = `stroke="${this.strokeStyle as string}" stroke-width="${tenth(this.lineWidth)}"${this.dash}`
    this.add(`<path d="${this.path.join('')}" fill="none" ${stroke}${this.opacity()}/>`)
  }

  fillText(text: string, x: number, y: number): void {
    this.add(`<text ${this.textAt(x, y)} fill="${this.fillStyle as string}">${escaped(text)}</text>`)
  }

  strokeText(text: string, x: number, y: number): void {
    const stroke = `fill="none" stroke="${this.strokeStyle as string}" stroke-width="${tenth(this.lineWidth)}"`
    this.add(`<text ${this.textAt(x, y)} ${stroke} stroke-linejoin="round">${escaped(text)}</text>`)
  }

  setLineDash(dashes: Iterable<number>): void {
    const list = [...dashes].join(' ')
    this.dash = list === '' ? '' : ` stroke-dasharray="${list}"`
  }

  /** The picture so far, on a ground. */
  text(width: number, height: number, ground: string): string {
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`,
      `<rect width="${width}" height="${height}" fill="${ground}"/>`,
      `<g transform="${this.matrix}">`,
      ...this.parts,
      '</g></svg>'
    ].join('\n')
  }

  private add(part: string): void {
    this.parts.push(part)
  }

  private opacity(): string {
    return this.globalAlpha === 1 ? '' : ` opacity="${this.globalAlpha.toFixed(2)}"`
  }

  private textAt(x: number, y: number): string {
    const anchor = this.textAlign === 'center' ? ' text-anchor="middle"' : ''
    const place = `x="${tenth(x)}" y="${tenth(y)}" dominant-baseline="middle"${anchor}`
    return `${place} style="font:${escaped(this.font.replaceAll('"', "'"))}"`
  }
}
