import { tool } from '../skills/tool-plan.ts'

/** Tools for mail, calendar, money and selling. */
export const officeTools = [
  tool('send_email', 'Sends an e-mail.', 'to|recipient|address: email; subject?: name; body|text|message: text', [
    '[send|write] [an email|a mail|an e-mail] to {to}[| with the subject "{subject}"] [saying|that says]: {body}',
    '[email|mail] {to}[| with the subject "{subject}"]: {body}',
    '[send|write] {to} an email[| with the subject "{subject}"] saying "{body}"',
  ]),
  tool('send_message', 'Sends a chat message to a person.', 'to|recipient|person: person; text|message: text', [
    '[tell|message|text|ping] {to}: {text}',
    '[send|write] [a message|a chat message|a text] to {to} saying "{text}"',
    '[send|write] {to} [a message|a text]: {text}',
    'let {to} know: "{text}"',
  ]),
  tool('make_call', 'Calls a phone number.', 'number|phone|phone_number: phone', [
    '[call|dial|ring|phone] {number}[| now| for me]',
    '[make|start|place] a call to {number}',
  ]),
  tool('create_event', 'Creates an event in the calendar.', 'title|name: name; date|day: date; time?|start: time', [
    '[create|add|make|schedule|plan] [an event|a meeting|a calendar entry] [called|named|titled] {title} [on|for] {date}[| at {time}]',
    'put {title} [in|into|on] [my|the] calendar [on|for] {date}[| at {time}]',
  ]),
  tool('list_events', 'Lists the events of a day in the calendar.', 'date|day: date', [
    "?[what is|what's] [on|in] my calendar on {date}",
    '?what [events|meetings|appointments] do I have on {date}',
    '[show|list|get] my [events|meetings|appointments|calendar] [of|on|for] {date}',
  ]),
  tool('create_reminder', 'Reminds the user of something.', 'text|about: text; date|day|when: date', [
    'remind me on {date}: {text}',
    '[set|create|add] a reminder [on|for] {date}: {text}',
    '[set|create|add] a reminder "{text}" [on|for] {date}',
  ]),
  tool('create_note', 'Saves a note.', 'text|content|note: text', [
    '[write|take|make|save|create] a note[|: |, ]"{text}"',
    '[note down|take a note|write down]: {text}',
    '[save|keep] "{text}" as a note',
  ]),
  tool('add_task', 'Adds a task to the to-do list.', 'title|task: text; priority?: choice low,medium,high', [
    '[add|put] "{title}" [to|on] my [tasks|to-do list|todo list][| with {priority} priority]',
    '[create|add|make] a [|{priority} priority ]task[|: | called ]"{title}"',
    '[add a task|add a todo|note a task]: {title}',
  ]),
  tool('find_contact', 'Finds a contact by name.', 'name|person: person', [
    '?what is the [number|address|contact] of {name}',
    '[find|look up|search|get|show] [the contact|the contact details of|my contact] {name}',
    '?do I have a contact [called|named] {name}',
  ]),
  tool('get_stock_price', 'Gets the price of a stock.', 'symbol|ticker: symbol', [
    "?[what is|what's] the [stock price|share price|price] of {symbol}",
    '?how is {symbol} [trading|doing][| today| now]',
    '[get|check|show me|look up] the [stock |share |][price|quote] [of|for] {symbol}',
  ]),
  tool(
    'convert_currency',
    'Converts money into another currency.',
    'amount|value: number 1 900; from|source: currency; to|target: currency',
    [
      '[convert|change|exchange] {amount} {from} [to|into] {to}',
      '?[how much is|what is|what are] {amount} {from} in {to}',
      '?how many {to} do I get for {amount} {from}',
    ],
    'currency',
  ),
  tool(
    'get_exchange_rate',
    'Gets the exchange rate of two currencies.',
    'base|from: currency; quote|to: currency',
    [
      "?[what is|what's] the [exchange |]rate [from|of] {base} to {quote}",
      '[get|check|show me|look up] the exchange rate [from|of] {base} to {quote}',
    ],
    'currency',
  ),
  tool(
    'transfer_money',
    'Transfers money to a person.',
    'to|recipient: person; amount|sum: number 1 900; currency?: currency',
    ['[send|transfer|pay] {amount}[| {currency}] to {to}', '[pay|send|wire] {to} {amount}[| {currency}]'],
  ),
  tool('get_balance', 'Gets the balance of an account.', 'account|account_id: id', [
    "?[what is|what's] the balance of account {account}",
    '[show|get|check|tell me] the balance of account {account}',
    '?how much money is [on|in] account {account}',
  ]),
  tool(
    'get_order_status',
    'Gets the status of an order.',
    'order_id|order|id: id',
    [
      '?where is [my |]order {order_id}',
      "?[what is|what's] the status of [my |]order {order_id}",
      '[check|look up|get|track|show] [the status of |][my |]order {order_id}',
      '?has [my |]order {order_id} [arrived|shipped|been sent]',
    ],
    'order',
  ),
  tool('cancel_order', 'Cancels an order.', 'order_id|order|id: id; reason?: text', [
    '[cancel|stop|call off] [my |the |]order {order_id}[| with the reason "{reason}"]',
    "I don't want order {order_id} any more, cancel it",
  ]),
  tool('refund_payment', 'Refunds a payment.', 'payment_id|payment: id; amount?: number 1 300', [
    '[refund|pay back|return] [|{amount} of ]payment {payment_id}',
    '[give|make] a refund [of {amount} |]for payment {payment_id}',
  ]),
  tool('add_to_cart', 'Puts a product into the cart.', 'product_id|sku|product: id; quantity: integer 1 20', [
    '[add|put] {quantity} of {product_id} [to|into|in] [the|my] [cart|basket]',
    'I want [to buy |]{quantity} [pieces |]of {product_id}[| in my cart]',
  ]),
  tool('search_products', 'Searches the shop.', 'query|keyword: query; max_price?|price_limit: integer 5 500', [
    '[search|look|check] the shop for "{query}"[| under {max_price}| below {max_price}]',
    '?do you sell "{query}"[| under {max_price}| for less than {max_price}]',
    '[show|find] me products [for|like|matching] "{query}"[| under {max_price}]',
  ]),
  tool(
    'create_ticket',
    'Opens a support ticket.',
    'title|subject|summary: text; priority?|severity: choice low,normal,urgent',
    [
      '[open|create|file|make] a [|{priority} ]ticket[|: | with the title ]"{title}"',
      '[open|create|file] a ticket: {title}',
    ],
  ),
  tool(
    'close_ticket',
    'Closes a support ticket.',
    'ticket_id|ticket|id: id; solved?|resolved: flag solved/not solved',
    ['[close|finish|end] [the |]ticket {ticket_id}[| as {solved}]', '?can ticket {ticket_id} be closed[| as {solved}]'],
  ),
]
