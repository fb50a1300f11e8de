#!/usr/bin/env node
import { main } from './main.ts'

// The command of the package by itself: what `nodewise serve` calls.
const code = await main(process.argv.slice(2))
process.exit(code)
