const list = (text: string): string[] => text.trim().split(/\s*,\s*/)

export const domains = list('example.com, mail.org, acme.io, corp.net, post.eu, shop.com, lab.dev, team.co')

export const languages = list(
  'French, German, Spanish, Italian, Polish, Dutch, Greek, Turkish, Korean, Japanese, Hindi, Arabic',
)

export const currencies = list('USD, EUR, GBP, JPY, CHF, CAD, AUD, SEK, INR, BRL, PLN, NOK')

export const symbols = list('AAPL, MSFT, TSLA, NVDA, AMZN, IBM, ORCL, INTC, NFLX, SAP, SHEL, TM')

export const rooms = list(
  'kitchen, bedroom, bathroom, office, garage, hallway, living room, attic, cellar, guest room, nursery, studio',
)

export const adjectives =
  list(`red, blue, green, old, new, small, big, quiet, fast, slow, bright, dark, cold, warm, dry, wet,
  round, long, short, early, late, open, free, full, empty, heavy, light, soft, hard, sweet`)

export const extensions = list('txt, md, csv, json, pdf, log, png, ts, py, html, yaml, xml')

/** What tools' results are made of: the field and the kind of its value. */
export const resultFields =
  list(`temperature integer -10 38, condition choice sunny/cloudy/rainy/windy/foggy/snowy, humidity integer 10 99,
  status choice ok/done/sent/queued/active/pending/closed/shipped/failed/ready, id id, price number 1 900, total number 5 990,
  count integer 0 99, city city, name person, owner person, email email, date date, due date, time time, amount number 1 990,
  currency currency, balance number 1 9900, title name, subject name, language language, paid flag, active flag, available flag,
  success flag, room room, day weekday, file file, path path, size integer 1 9999, duration integer 1 240, distance integer 1 950,
  speed integer 5 130, version version, branch word, label word, color choice red/blue/green/black/white, level choice low/medium/high,
  score integer 0 100, rating number 1 5, stock integer 0 500, code id, reference id, ticket id, order_id id, created_at date,
  updated_at date, expires date, sent_to email, assigned_to person, author person, translation words, text words, message words,
  note words, summary words, symbol symbol, change number 0 9, rate number 0 9, port integer 1000 9999, users integer 1 900,
  errors integer 0 40, open_tasks integer 0 40, next_stop city, country_code choice FR/DE/US/JP/IT, artist person, track name,
  volume integer 0 100, battery integer 1 100, locked flag, seats integer 1 300, gate id, weight integer 1 90, unread integer 0 99`)

export const toolErrors =
  list(`not found, city not found, permission denied, timeout, connection refused, invalid id, no such file,
  user not found, rate limit reached, service unavailable, out of stock, access denied, invalid date, network error,
  card declined, unknown currency, order not found, disk full, no route found, device offline, invalid email, login required,
  quota exceeded, no results, unknown language, room is booked, file is locked, bad request, server error, token expired`)
