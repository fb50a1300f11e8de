import type { CaseResult } from './run-case.ts'

/** The results as JUnit XML, as build servers read it. */
export function junitReport(results: readonly CaseResult[]): string {
  const count = (status: CaseResult['status']): number => results.filter(result => result.status === status).length
  const seconds = results.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000
  const totals = [
    `tests="${results.length}" failures="${count('fail')}" errors="${count('error')}"`,
    `skipped="${count('skip')}" time="${seconds.toFixed(3)}"`
  ].join(' ')
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="nodewise" ${totals}>`,
    `  <testsuite name="nodewise" ${totals}>`,
    ...results.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    ''
  ].join('\n')
}

const ELEMENTS = { fail: 'failure', error: 'error', skip: 'skipped' } as const

function testCase({ name, status, message, milliseconds }: CaseResult): string {
  const at = name.lastIndexOf('/')
  const names = `classname="${escape(name.slice(0, Math.max(at, 0)))}" name="${escape(name.slice(at + 1))}"`
  const head = `    <testcase ${names} time="${(milliseconds / 1000).toFixed(3)}"`
  return status === 'pass' ? `${head}/>` : `${head}><${ELEMENTS[status]} message="${escape(message)}"/></testcase>`
}

/** Readers of XML make blanks of line breaks and tabs in attributes, but for those that are written as references. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;'
}

/** Characters that XML 1.0 does not have, not even as references; half of a surrogate pair is one of them. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

const escape = (text: string): string =>
  text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"\t\n\r]/g, character => ENTITIES[character])
