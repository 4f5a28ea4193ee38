import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress } from './public-address.ts'

test('addresses of machines and houses are told from those of the open internet, however they are written', () => {
  for (const address of ['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1', '2a00:1450::1']) {
    equal(isPublicAddress(address), true, address)
  }
  const local = ['127.0.0.1', '127.9.9.9', '10.0.0.1', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1']
  const reserved = ['0.0.0.0', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fd00::1', 'ff02::1']
  const disguised = ['::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:1::1', '::7f00:1']
  const none = ['localhost', 'example.com', '']
  for (const address of [...local, ...reserved, ...disguised, ...none]) equal(isPublicAddress(address), false, address)
})
