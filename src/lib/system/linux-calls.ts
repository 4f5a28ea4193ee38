import type * as Ffi from 'node:ffi'

/** The calls to Linux that Node has no functions for. */
export type LinuxCalls = {
  /** A system call by its number. Throws when it fails. */
  call(name: string, number: number, ...args: readonly CallArgument[]): number
  addressOf(bytes: Buffer): bigint
  /** The process so passes on an open file to the program that takes its place, or does not. */
  setClosesOnExec(file: number, closes: boolean): void
  limit(resource: Resource, most: number): void
  setOption(option: number, value?: number): void
}

/** A buffer stands for its address; it has to live until the call is over, which it does as an argument. */
type CallArgument = number | Buffer

const resources = { data: 2, core: 4 } as const
export type Resource = keyof typeof resources

const setsDescriptorFlags = 2
const closeOnExec = 1

/** Whether Node can make calls to the system here. */
export function hasLinuxCalls(): boolean {
  return process.platform === 'linux' && process.getBuiltinModule('node:ffi') !== undefined
}

/** Throws where Node cannot make calls to the system. Not imported, since that alone brings a warning to whoever needs none of it. */
export function openLinuxCalls(): LinuxCalls {
  const ffi = process.getBuiltinModule('node:ffi') as typeof Ffi | undefined
  if (ffi === undefined) throw new Error('This Node cannot make calls to the system.')
  const { dlopen, getRawPointer } = ffi
  const toWord = (argument: CallArgument) => (typeof argument === 'number' ? BigInt(argument) : getRawPointer(argument))
  const { functions } = dlopen(null, {
    syscall: { arguments: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64', 'i64'], return: 'i64' },
    fcntl: { arguments: ['i32', 'i32', 'i64'], return: 'i32' },
    setrlimit: { arguments: ['i32', 'i64'], return: 'i32' },
    prctl: { arguments: ['i32', 'i64', 'i64', 'i64', 'i64'], return: 'i32' },
  })
  const require = (name: string, result: number | bigint): number => {
    if (result < 0) throw new Error(`The system refuses ${name}.`)
    return Number(result)
  }
  return {
    call(name, number, ...args) {
      const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map(toWord)
      return require(name, functions.syscall(BigInt(number), a, b, c, d, e, f))
    },
    addressOf: getRawPointer,
    setClosesOnExec(file, closes) {
      require('fcntl', functions.fcntl(file, setsDescriptorFlags, closes ? BigInt(closeOnExec) : 0n))
    },
    limit(resource, most) {
      const pair = Buffer.from(BigUint64Array.of(BigInt(most), BigInt(most)).buffer)
      require('setrlimit', functions.setrlimit(resources[resource], getRawPointer(pair)))
    },
    setOption(option, value = 0) {
      require('prctl', functions.prctl(option, BigInt(value), 0n, 0n, 0n))
    },
  }
}
