import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf, parseAddressList, siteOf, type AddressList } from './address-list.ts'

function listOf(...entries: string[]): AddressList {
  const list = parseAddressList(entries)
  ok('includes' in list)
  return list
}

test('a list includes the addresses and networks of both families that it names', () => {
  const list = listOf('10.1.0.0/16', '192.0.2.7', '2001:db8::/32', 'fe80::1')
  for (const inside of ['10.1.0.0', '10.1.255.255', '192.0.2.7', '2001:db8:ffff::1', 'fe80::1', 'fe80::1%eth0']) {
    equal(list.includes(inside), true, inside)
  }
  for (const outside of ['10.2.0.0', '10.0.255.255', '192.0.2.8', '2001:db9::', 'fe80::2', '::1']) {
    equal(list.includes(outside), false, outside)
  }
})

test('an IPv4 address that arrives at an IPv6 socket is the same address', () => {
  equal(listOf('10.1.0.0/16').includes('::ffff:10.1.2.3'), true)
  equal(listOf('10.1.0.0/16').includes('::ffff:10.2.2.3'), false)
})

test('a list may include every address or none', () => {
  equal(listOf('0.0.0.0/0').includes('203.0.113.9'), true)
  equal(listOf('0.0.0.0/0').includes('2001:db8::1'), false)
  equal(listOf().includes('203.0.113.9'), false)
  for (const nonsense of ['', 'unknown', '10.1.2', '10.1.2.3, 10.1.2.4', "' OR 1=1"]) {
    equal(listOf('0.0.0.0/0', '::/0').includes(nonsense), false, nonsense)
  }
})

test('the first entry that is no network is named', () => {
  for (const fault of [
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    '10.0.0.0/-1',
    'localhost',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '1.2.3.4/',
  ]) {
    const list = parseAddressList(['10.0.0.0/8', fault, 'x'])
    equal('fault' in list && list.fault, fault)
  }
})

test('a client that has left has no address, and is in no network', () => {
  equal(listOf('0.0.0.0/0', '::/0').includes(undefined), false)
  equal(networkOf(undefined), '')
  equal(siteOf(undefined), null)
})

test('addresses of one site are in the same network, however they are written', () => {
  equal(siteOf('203.0.113.7'), '203.0.113.0/24')
  equal(siteOf('::ffff:203.0.113.254'), '203.0.113.0/24')
  equal(siteOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1::/48')
  equal(siteOf('2001:0DB8:0001::9'), '2001:db8:1::/48')
  equal(siteOf('2001:db8::1'), '2001:db8:0::/48')
  equal(siteOf('::1'), '0:0:0::/48')
  equal(siteOf('fe80::1%eth0'), 'fe80:0:0::/48')
  for (const none of ['', 'unknown', '10.1.2', '1.2.3.4.5']) equal(siteOf(none), null, none)
})

test('addresses of IPv6 within one /64 stand for the same network', () => {
  equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'))
  equal(networkOf('2001:db8::1'), '2001:db8:0:0')
  equal(networkOf('::1'), '0:0:0:0')
  equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0')
  equal(networkOf('::ffff:10.1.2.3'), '10.1.2.3')
  equal(networkOf('10.1.2.3'), '10.1.2.3')
})
