import { tool } from '../skills/tool-plan.ts'

const money = [
  tool('request_money', 'Asks a person for money.', 'from|payer: person; amount|sum: number 1 900', [
    '[ask|bill] {from} for {amount}',
    'request {amount} from {from}',
    '{from} owes me {amount}, ask for it',
  ]),
  tool('pay_salary', 'Pays the salary of an employee.', 'employee|person: person; amount|salary: number 1 900', [
    'pay {employee} [a|the] salary of {amount}',
    '[send|wire|transfer] {employee} a salary of {amount}',
    '{employee} earned {amount}, pay the salary',
  ]),
  tool('lend_money', 'Lends money to a person.', 'person|borrower: person; sum|amount: number 1 900', [
    'lend {person} {sum}',
    '[lend|give] {sum} to {person} [as a loan|for now]',
  ]),
  tool('tip_driver', 'Gives a tip to a driver.', 'driver|name: person; tip|amount: integer 1 60', [
    'tip {driver} {tip}',
    '[send|pay|give] {driver} a tip of {tip}',
    '{tip} as a tip for {driver}',
  ]),
  tool('donate_money', 'Donates money to an organization.', 'organization|to: name; sum|amount: number 1 900', [
    'donate {sum} to {organization}',
    '[send|pay|wire] {sum} [as a donation|as a gift] to {organization}',
  ]),
  tool('deposit_cash', 'Puts money into an account.', 'account|account_id|into: id; amount|money: number 1 900', [
    '[put|pay|deposit] {amount} [on|into] account {account}',
    'account {account} gets {amount}, pay it in',
  ]),
  tool('withdraw_cash', 'Takes money out of an account.', 'account|account_id|from: id; amount|money: number 1 900', [
    '[take|draw|withdraw] {amount} [from|out of] account {account}',
    'I need {amount} in cash from account {account}',
  ]),
  tool('get_credit_limit', 'Gets the credit limit of an account.', 'account|account_id|number: id', [
    '?how much [can|may] account {account} [spend|borrow]',
    '[show|get|check] the [limit|credit limit] of account {account}',
  ]),
  tool('list_payments', 'Lists the payments of an account.', 'account|account_id: id; count?|limit: integer 2 50', [
    '[show|list|get] the [|last {count} ]payments of account {account}',
    '?what was [paid|spent] from account {account}',
  ]),
  tool('get_debt', 'Tells how much a person owes.', 'person|debtor: person', [
    '?how much [money |]does {person} owe [me|us]',
    '?what are the debts of {person}',
  ]),
  tool('freeze_account', 'Freezes a bank account.', 'account|account_id|id: id; reason?|why: text', [
    '[freeze|block] account {account}[| because "{reason}"]',
    'nothing may leave account {account} any more, freeze it',
  ]),
  tool('split_bill', 'Splits a bill between people.', 'total|amount: number 1 900; people|persons: integer 2 12', [
    '[split|divide|share] {total} [between|among] {people} [people|persons|friends]',
    '?what does each of {people} people pay for a bill of {total}',
  ]),
]

const people = [
  tool(
    'remove_user',
    'Removes a user account.',
    'user|username|name: person; notify?: flag with a notice/without a notice',
    [
      '[remove|delete|close] [the account of|the user account of|the user] {user}[| {notify}]',
      '{user} has left, take the account away[| {notify}]',
    ],
  ),
  tool(
    'invite_member',
    'Invites a person to the team.',
    'name|person: person; email|mail: email; admin?|as_admin: flag as an admin/as a member',
    [
      'invite {name} [to the team |]with [the |]email {email}[| {admin}]',
      '[ask|get] {name} to join [the team|us], [the mail is|mail] {email}[| {admin}]',
      '{name} should be in the team, the address is {email}[| {admin}]',
    ],
  ),
  tool(
    'add_customer',
    'Adds a customer.',
    'customer|name|full_name: person; mail|email|contact: email; vip?: flag as a VIP/without VIP',
    [
      '[add|enter|register|sign up] [the |a new |]customer {customer} with [the |]e-mail {mail}[| {vip}]',
      '[make|set up] [an account|a record] for [the |]customer {customer}, {mail}[| {vip}]',
    ],
  ),
  tool(
    'update_email',
    'Changes the e-mail address of a user.',
    'user|name|username: person; email|mail|new_email: email',
    [
      '[change|set|update] the [email|mail|address] of {user} to {email}',
      '{user} has a new address, it is {email}',
      '[mail for|from now on] {user} goes to {email}',
    ],
  ),
  tool('enroll_student', 'Signs a student up for a course.', 'student|name: person; course|class: name', [
    '[sign up|enrol|enroll|register] {student} for [the course |]{course}',
    'put {student} into the course {course}',
    '{student} wants to take {course}',
  ]),
  tool(
    'subscribe_newsletter',
    'Signs an address up for the newsletter.',
    'email|address|mail: email; weekly?: flag weekly/monthly',
    [
      '[sign up|subscribe|add|register] {email} [to|for] the newsletter[|, {weekly}]',
      '{email} wants our news[|, {weekly}]',
    ],
  ),
  tool('grant_admin', 'Gives a user admin rights.', 'user|username|name: person', [
    'make {user} an admin',
    '[give|grant] {user} admin rights',
    '{user} needs to be an admin',
  ]),
  tool('find_user', 'Finds the user of an e-mail address.', 'email|mail: email', [
    '?who [has|uses|owns] the [account|address|email] {email}',
    '[find|look up] the [user|account|person] with [the email |]{email}',
  ]),
  tool('unlock_account', 'Unlocks the account of a user.', 'user|username|account: email', [
    '{user} is locked out, [open the account|let them in] again',
    'unlock [the account of |the user |]{user}',
  ]),
  tool('send_login_link', 'Sends a user a link to log in.', 'user|email|to: email', [
    '{user} cannot log in, send a link',
    '[send|mail] {user} a [login link|link to log in|sign-in link]',
  ]),
  tool('change_username', 'Changes the name of a user.', 'user|email: email; username|new_name: slug', [
    'the user {user} [wants to be|should be] called {username}',
    'change the name of the user {user} to {username}',
  ]),
  tool('list_logins', 'Lists when a user logged in.', 'user|username|email: email; days?|last_days: integer 2 60', [
    '?when did {user} log in[| in the last {days} days]',
    '[show|list] the logins of {user}[| of {days} days]',
  ]),
]

const tickets = [
  tool(
    'report_bug',
    'Reports a bug in the software.',
    'text|title|description: text; severity?|level: choice low,medium,high',
    [
      '[report|file] a [|{severity} ]bug: {text}',
      '[report|file|enter] the [|{severity} ]bug "{text}"',
      '?can you [report|file] a [|{severity} ]bug with the text "{text}"',
    ],
  ),
  tool(
    'open_incident',
    'Opens an incident.',
    'summary|title|what: text; urgency?|severity: choice minor,major,critical',
    [
      '[open|declare|raise|file] [a|an] [|{urgency} ]incident: {summary}',
      '[open|declare|raise|file] [a|an] [|{urgency} ]incident [with the title |called ]"{summary}"',
    ],
  ),
  tool(
    'file_complaint',
    'Files a complaint of a customer.',
    'text|complaint|subject: text; priority?|urgency: choice low,normal,urgent',
    [
      '[file|write down|enter] a [|{priority} ]complaint: {text}',
      '[file|open|create] a [|{priority} ]complaint [with the subject |that says ]"{text}"',
    ],
  ),
  tool('assign_ticket', 'Gives a ticket to a person.', 'ticket|ticket_id|id: id; person|assignee|to: person', [
    '[assign|give|hand] ticket {ticket} to {person}',
    '{person} [takes|looks after] ticket {ticket}',
  ]),
  tool('comment_on_ticket', 'Writes a comment on a ticket.', 'ticket|ticket_id|id: id; comment|text|message: text', [
    '[write|put|add] "{comment}" [on|to|under] ticket {ticket}',
    'comment on ticket {ticket}: {comment}',
  ]),
  tool('reopen_ticket', 'Opens a closed ticket again.', 'ticket|ticket_id|id: id', [
    'open ticket {ticket} again',
    'ticket {ticket} is not solved at all, reopen it',
  ]),
]

const orders = [
  tool('cancel_booking', 'Cancels a booking.', 'booking|booking_id|id: id; reason?|why: text', [
    '[cancel|call off|drop|stop] [my |the |]booking {booking}[| because "{reason}"]',
    "I don't [need|want] [my |the |]booking {booking} [any more|now], call it off",
  ]),
  tool('stop_subscription', 'Ends a subscription.', 'subscription|subscription_id|id: id; comment?|reason: text', [
    '[stop|end|quit|cancel] [my |the |]subscription {subscription}[| with the comment "{comment}"]',
    'I no longer want [my |the |]subscription {subscription}, stop it',
  ]),
  tool('return_parcel', 'Sends a parcel back.', 'parcel|parcel_id|number: id; reason?|why: text', [
    '[return|send back] [my |the |]parcel {parcel}[| because "{reason}"]',
    "I don't want [my |the |]parcel {parcel}, it goes back",
  ]),
  tool('get_order_items', 'Lists what an order holds.', 'order|order_id|number: id', [
    '?what [is|was] in [my |the |]order {order}',
    '[list|show] the [things|items|products] in [my |the |]order {order}',
  ]),
  tool('order_again', 'Orders the same things again.', 'order|order_id|number: id; quantity?|times: integer 2 9', [
    'I want the same as in order {order}[|, {quantity} times]',
    'repeat [my |the |]order {order}[|, {quantity} times]',
  ]),
  tool('change_delivery_city', 'Sends an order to another city.', 'order|order_id|number: id; city|town: city', [
    '[send|deliver] [my |the |]order {order} to {city}',
    '[my |the |]order {order} should go to {city}',
  ]),
]

/**
 * Tools for practice alone: the evaluation never declares one. They say in many ways what tools are about
 * (accounts, money, tickets, orders), so that a tool nobody has seen is understood by its words.
 */
export const businessPracticeTools = [...money, ...people, ...tickets, ...orders]
