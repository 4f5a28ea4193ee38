/** What people review. */
export const things: readonly string[] = `
service, delivery, product, food, room, staff, support, price, quality, app, website, packaging, battery, screen, sound,
camera, design, coffee, pizza, hotel, breakfast, meal, trip, tour, film, book, concert, show, game, course, lesson,
teacher, doctor, haircut, flight, seat, ride, car, phone, laptop, keyboard, chair, table, lamp, sofa, bed, mattress,
jacket, dress, bag, watch, headset, speaker, kettle, oven, fridge, vacuum cleaner, printer, update, software, menu,
checkout, hotline, chat, reply, advice, repair, installation, manual, garden, pool, beach, view, music, atmosphere,
location, restaurant, bar, bakery, museum, park, gym, shop, market, taxi, train ride, bike, helmet, tent, gift, cake,
soup, salad, wine, tea, burger, sandwich, ice cream, dentist, hairdresser, class, workshop, webinar, newsletter`
  .trim()
  .split(/,\s+/)

export const goodWords: readonly string[] = `
great, good, excellent, amazing, wonderful, fantastic, perfect, lovely, superb, brilliant, outstanding, awesome,
delightful, marvellous, terrific, fabulous, splendid, beautiful, nice, pleasant, impressive, exceptional, incredible,
magnificent, flawless, first-class, top-notch, remarkable, charming, stunning, magical, delicious, fine and friendly,
reliable, convincing, refreshing, inspiring, solid, enjoyable, unbeatable, gorgeous, sensational, heavenly, pleasing`
  .trim()
  .split(/,\s+/)

export const badWords: readonly string[] = `
terrible, bad, awful, horrible, poor, dreadful, disappointing, useless, disgusting, lousy, pathetic, miserable, broken,
shoddy, unacceptable, ridiculous, annoying, frustrating, unbearable, worthless, sloppy, boring, ugly, dirty, faulty,
unreliable, overpriced, painful, appalling, atrocious, nasty, mediocre at best, defective, unpleasant, shameful,
embarrassing, tasteless, chaotic, a disgrace, flimsy, second-rate, dismal, hopeless, infuriating`
  .trim()
  .split(/,\s+/)
  .filter((word) => !word.startsWith('a ') && !word.includes(' at '))

export const plainWords: readonly string[] =
  'okay, average, ordinary, standard, acceptable, as described, as expected, all right, so-so, the usual'.split(', ')

export const kindWords: readonly string[] =
  'kind, friendly, helpful, patient, polite, attentive, warm, professional, thoughtful, lovely, caring, cheerful'.split(
    ', ',
  )

export const rudeWords: readonly string[] =
  'rude, unfriendly, unhelpful, impatient, impolite, careless, cold, unprofessional, arrogant, dismissive, hostile, lazy'.split(
    ', ',
  )

export const gladWords: readonly string[] =
  'happy, pleased, satisfied, delighted, thrilled, glad, content, overjoyed, excited, thankful'.split(', ')

export const crossWords: readonly string[] =
  'unhappy, angry, dissatisfied, disappointed, furious, upset, frustrated, annoyed, fed up, displeased'.split(', ')
