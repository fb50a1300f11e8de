import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'

describeData('classical machine learning', () => testSupportedCases('ml'))
