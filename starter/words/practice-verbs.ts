import { tool } from '../skills/tool-plan.ts'

const desk = [
  tool(
    'open_case',
    'Opens a case of the help desk.',
    'title|summary|subject: text; level?|priority: choice low,normal,urgent',
    [
      '[open|file|start|raise] a [|{level} ]case: {title}',
      '[open|file|start|raise] a [|{level} ]case [called |with the title ]"{title}"',
      '?can you [open|file] a [|{level} ]case "{title}"',
    ],
  ),
  tool(
    'submit_request',
    'Hands a request in to the help desk.',
    'text|request|what: text; urgent?: flag urgently/without hurry',
    ['[submit|file|hand in] a request[| {urgent}]: {text}', '[submit|file|hand in] the request "{text}"[| {urgent}]'],
  ),
  tool(
    'register_guest',
    'Registers a guest.',
    'guest|name|full_name: person; mail|email: email; vip?|is_vip: flag as a VIP/as a normal guest',
    [
      'register {guest} with {mail}[| {vip}]',
      '[register|enter|add] the guest {guest} with the e-mail {mail}[| {vip}]',
      '?can {guest}, {mail}, be registered[| {vip}]',
    ],
    'register',
  ),
  tool(
    'open_login',
    'Makes a login for a person.',
    'person|name|username: person; email|mail|address: email; editor?|can_edit: flag as an editor/as a reader',
    [
      '[open|make|create|set up] a login for {person} with the address {email}[| {editor}]',
      '{person} needs a login, the mail is {email}[| {editor}]',
      'let {person} in with {email}[| {editor}]',
    ],
  ),
  tool(
    'hire_employee',
    'Enters a new employee.',
    'employee|name: person; email|mail|contact: email; remote?|is_remote: flag working remotely/in the office',
    [
      '[hire|enter|add|sign on] {employee} with [the mail |]{email}[| {remote}]',
      '{employee} starts with us, mail {email}[| {remote}]',
    ],
  ),
  tool('join_waitlist', 'Puts a person on the waiting list.', 'name|person: person; email|contact: email', [
    '[put|sign up|enter] {name} with {email} [on|for] the waiting list',
    '{name}, {email}, wants to be on the waiting list',
  ]),
  tool('new_password', 'Gives a user a new password.', 'account|user|login: email', [
    '[replace|change|renew] the [password|passphrase] of {account}',
    'a new password for {account}',
    '{account} lost the password, [make|give them] a new one',
  ]),
  tool('renew_key', 'Renews the key of a user.', 'user|owner|email: email', [
    'renew the key [of|for] {user}',
    "{user}'s key has expired, renew it",
  ]),
  tool('stop_delivery', 'Stops a delivery that is on its way.', 'delivery|delivery_id|id: id; reason?|why: text', [
    '[stop|halt|cancel|call off] [my |the |]delivery {delivery}[| because "{reason}"]',
    'delivery {delivery} must not arrive, stop it',
  ]),
  tool('change_order', 'Changes how many pieces are ordered.', 'order|order_id|id: id; quantity|pieces: integer 1 60', [
    'make it {quantity} [pieces |]in [my |the |]order {order}',
    '[change|set] [my |the |]order {order} to {quantity} pieces',
  ]),
]

const payments = [
  tool(
    'pay_person',
    'Pays a person.',
    'person|payee|name: person; sum|amount|value: number 1 900; unit?|currency: currency',
    [
      'pay {person} {sum}[| {unit}]',
      '[pay|hand|give] {sum}[| {unit}] to {person}',
      '{person} gets {sum}[| {unit}] from me',
    ],
    'pay',
  ),
  tool(
    'wire_funds',
    'Wires money to another account.',
    'to|account|receiver: id; amount|sum: number 1 900; currency?|unit: currency',
    ['wire {amount}[| {currency}] to [account |]{to}', '[wire|send|transfer] account {to} {amount}[| {currency}]'],
  ),
  tool(
    'send_gift_card',
    'Sends a person a gift card.',
    'to|person|receiver: person; value|amount|worth: integer 5 200; currency?|unit: currency',
    ['send {to} a gift card of {value}[| {currency}]', 'a gift card of {value}[| {currency}] [for|to] {to}'],
  ),
  tool(
    'repay_loan',
    'Pays money back that a person lent.',
    'lender|person|to: person; amount|sum: number 1 900; currency?|unit: currency',
    [
      '[pay back|repay|return] {amount}[| {currency}] to {lender}',
      '[pay|send] {lender} back {amount}[| {currency}]',
      'I owe {lender} {amount}[| {currency}], pay it back',
    ],
  ),
  tool(
    'share_costs',
    'Sends a person their part of the costs.',
    'with|person: person; part|amount|share: number 1 900',
    ['[share|send] {part} of the costs [with|to] {with}', '{with} pays {part} of the costs'],
  ),
]

/**
 * Tools for practice alone: the evaluation never declares one. In each a verb of everyday speech stands
 * for a deed that the tool's name and description put in other words.
 */
export const verbPracticeTools = [...desk, ...payments]
