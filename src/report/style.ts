/** How the page of `check` looks, by day and by night. */
export const STYLE = `
:root {
  color-scheme: light dark; --ink: #1c2330; --soft: #5a6475; --paper: #fff; --card: #f5f7fa; --line: #c3cad5;
  --error: #b3201f; --warning: #8a5a00; --note: #22609c; --good: #1d6b3a
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ef; --soft: #a2acbb; --paper: #14181f; --card: #1d232d; --line: #475163; --error: #ff8a80;
    --warning: #f2bd5c; --note: #86bdf5; --good: #7fd39b
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; padding: 1rem; max-width: 60rem; font: 16px/1.45 system-ui, sans-serif; color: var(--ink);
  background: var(--paper)
}
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere }
h2 span { text-transform: uppercase; font-size: .75rem; letter-spacing: .05em; margin-right: .35em }
.tiles { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .75rem 0; list-style: none }
.tiles li { padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 1rem }
.tiles .error, .error h2 span, .declared { color: var(--error) }
.tiles .warning, .warning h2 span { color: var(--warning) }
.tiles .note, .note h2 span { color: var(--note) }
.tiles .none, .place, .facts, .code { color: var(--soft) }
td.error { color: var(--error) }
td.warning { color: var(--warning) }
td.note { color: var(--note) }
a { color: inherit }
h1[id] { margin-top: 2rem }
.inferred { color: var(--good) }
article {
  margin: 1rem 0; padding: .8rem; border-left: 4px solid var(--line); border-radius: 4px;
  background: var(--card)
}
article.error { border-color: var(--error) }
article.warning { border-color: var(--warning) }
article.note { border-color: var(--note) }
article p { margin: .3rem 0; font-size: .9rem; overflow-wrap: anywhere }
dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .4rem 0;
  font: 14px ui-monospace, monospace
}
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
pre, .drawing {
  overflow-x: auto; margin: .5rem 0; padding: .5rem; border: 1px solid var(--line); border-radius: 4px;
  background: var(--paper)
}
pre { font: 13px/1.4 ui-monospace, monospace }
pre b { color: var(--error) }
svg { display: block; margin: 0 auto }
svg text { font: 11px ui-monospace, monospace; text-anchor: middle; fill: var(--ink) }
svg .name { fill: var(--soft) }
svg .type { font-weight: bold }
svg .label { paint-order: stroke; stroke: var(--paper); stroke-width: 4px }
svg .inferred { fill: var(--good) }
svg .declared { fill: var(--error) }
.box { fill: var(--card); stroke: var(--line) }
.centre { stroke: var(--ink); stroke-width: 2 }
.edge { fill: none; stroke: var(--soft) }
table { border-collapse: collapse; font: 13px ui-monospace, monospace }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; white-space: nowrap }
`
