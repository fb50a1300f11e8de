import { render } from 'preact'
import { App } from './App.tsx'
import { begin } from './state/begin.ts'
import './style/all.css'

render(<App />, document.getElementById('page')!)
begin()
