import type { Refusal } from './seccomp.ts'

/** Flags of clone: of a thread of the same process, and of a process that is root in a world of its own. */
const clonesThread = 0x10000
const clonesUser = 0x1000_0000

/** All of the network, and the sockets of other programs on this machine. What is open already stays open. */
const anySocket: readonly Refusal[] = [{ answer: 'not permitted', calls: ['socket'] }]

/**
 * The driver of a card by NVIDIA names a socket of this machine after its process, and does not begin where it cannot.
 *
 * Others could ask it for memory of the card to share. It is never connected to anything, nor anything let in.
 */
const allButTheDriversSocket: readonly Refusal[] = [
  { answer: 'not permitted', calls: ['socket'], unlessSocketIs: { family: 1, type: 5 } },
  { answer: 'not permitted', calls: ['connect', 'accept', 'accept4'] },
]

/** What an engine never does, from its first moment on. */
export function refusedFromTheStart(drivesNvidia: boolean): readonly Refusal[] {
  return [...(drivesNvidia ? allButTheDriversSocket : anySocket), ...refusedAlways]
}

const refusedAlways: readonly Refusal[] = [
  // These could do what is refused here without making the calls. Libraries do without them.
  { answer: 'no such call', calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'clone3'] },
  { answer: 'not permitted', calls: ['clone'], where: { firstArgumentHas: clonesUser } },
  // Other processes.
  {
    answer: 'not permitted',
    calls: ['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_open', 'pidfd_getfd', 'pidfd_send_signal'],
  },
  // Other views of the file system.
  {
    answer: 'not permitted',
    calls: ['mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns', 'open_by_handle_at', 'mount_setattr'],
  },
  { answer: 'not permitted', calls: ['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick'] },
  // The machine itself, and the parts of the kernel through which it was broken into before.
  {
    answer: 'not permitted',
    calls: ['bpf', 'perf_event_open', 'userfaultfd', 'keyctl', 'add_key', 'request_key', 'acct', 'iopl', 'ioperm'],
  },
  {
    answer: 'not permitted',
    calls: ['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'reboot'],
  },
  { answer: 'not permitted', calls: ['swapon', 'swapoff', 'settimeofday', 'clock_settime'] },
]

/** The calls that an engine needs no more once its library is open: those for other programs and processes, and their signals. */
export function refusedAfterwards(pid: number): readonly Refusal[] {
  return [
    { answer: 'not permitted', calls: ['execve', 'execveat', 'fork', 'vfork'] },
    { answer: 'not permitted', calls: ['clone'], where: { firstArgumentLacks: clonesThread } },
    {
      answer: 'not permitted',
      calls: ['kill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo'],
      unlessFirstArgumentIs: pid,
    },
    { answer: 'not permitted', calls: ['tkill'] },
  ]
}
