/** One kind of thing to extract: what its key may be called, and how one asks for it in words. */
export type Field = {
  readonly keys: readonly string[]
  /** What people say; in snake case it is the key, where none is given. */
  readonly spoken: readonly string[]
  /** Where set, the value may be wanted as a number. */
  readonly number?: 'number' | 'integer'
}

/** By the slot that the value stands in. */
export const fields: Readonly<Record<string, Field>> = {
  person: {
    keys: [
      'name',
      'name',
      'name',
      'person',
      'customer',
      'full_name',
      'contact',
      'customer_name',
      'fullName',
      'client',
      'person_name',
      'who',
    ],
    spoken: ['name', 'name', 'person', 'full name', 'person name'],
  },
  email: {
    keys: ['email', 'email', 'email', 'mail', 'email_address', 'e_mail', 'emailAddress', 'contact_email'],
    spoken: ['email', 'email address', 'mail', 'mail address'],
  },
  date: { keys: ['date', 'date', 'date', 'day', 'when', 'event_date', 'date_text'], spoken: ['date', 'date', 'day'] },
  time: { keys: ['time', 'time', 'hour', 'time_of_day'], spoken: ['time', 'time', 'hour'] },
  amount: {
    keys: ['amount', 'amount', 'total', 'price', 'sum', 'cost', 'total_amount', 'money', 'value'],
    spoken: ['amount', 'price', 'total', 'sum', 'cost'],
    number: 'number',
  },
  company: {
    keys: [
      'company',
      'company',
      'company',
      'organization',
      'organisation',
      'firm',
      'company_name',
      'business',
      'companyName',
    ],
    spoken: ['company', 'company', 'organization', 'company name', 'firm'],
  },
  city: {
    keys: ['city', 'city', 'city', 'place', 'location', 'town', 'where'],
    spoken: ['city', 'city', 'place', 'location', 'town'],
  },
  from: { keys: ['from', 'origin', 'departure', 'from_city', 'start'], spoken: ['origin', 'departure city', 'start'] },
  to: {
    keys: ['to', 'destination', 'arrival', 'to_city', 'target'],
    spoken: ['destination', 'arrival city', 'target'],
  },
  phone: {
    keys: ['phone', 'phone', 'phone_number', 'telephone', 'tel', 'mobile', 'phoneNumber'],
    spoken: ['phone', 'phone number', 'telephone number'],
  },
  order: {
    keys: ['order_number', 'order', 'order_id', 'orderNumber', 'reference', 'order_no', 'orderId'],
    spoken: ['order number', 'order', 'order id', 'reference'],
  },
  product: {
    keys: ['product', 'product', 'item', 'product_name', 'article'],
    spoken: ['product', 'item', 'product name', 'article'],
  },
  products: { keys: ['product', 'product', 'item', 'article'], spoken: ['product', 'item', 'article'] },
  quantity: {
    keys: ['quantity', 'quantity', 'count', 'units', 'qty', 'pieces'],
    spoken: ['quantity', 'count', 'units'],
    number: 'integer',
  },
  age: { keys: ['age', 'age', 'age_years', 'years'], spoken: ['age'], number: 'integer' },
  job: {
    keys: ['job', 'role', 'position', 'job_title', 'profession'],
    spoken: ['job', 'role', 'position', 'job title', 'profession'],
  },
  people: { keys: ['names', 'names', 'people', 'persons', 'all_names'], spoken: ['names', 'people', 'persons'] },
  goods: { keys: ['products', 'items', 'articles'], spoken: ['products', 'items'] },
}
