import { render } from 'preact'
import { App } from './App.tsx'
import { begin } from './state/begin.ts'
import './style/tokens.css'
import './style/page.css'
import './style/panels.css'

render(<App />, document.getElementById('page')!)
begin()
