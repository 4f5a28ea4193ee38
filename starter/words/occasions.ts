/** What reports and notes are about. */
export const topics: readonly string[] =
  'the new budget, the holiday plan, the office move, the spring sale, the website, the hiring plan, data protection, the price list, the trade fair, customer feedback, the delivery times, the training week, the annual report, the parking spaces, the new logo, energy costs, the summer party, remote work, the supplier contract, the product launch, staff meals, the quality checks, the marketing plan, the security rules'.split(
    ', ',
  )

export const projects: readonly string[] =
  'Aurora, Bluebird, Compass, Delta, Evergreen, Falcon, Gemini, Harbour, Iceberg, Jupiter, Kestrel, Lighthouse, Mercury, Northstar, Orchid, Pegasus, Quartz, Redwood, Sunrise, Titan, Umbrella, Voyager, Willow, Zenith'.split(
    ', ',
  )

export const systems: readonly string[] =
  'mail server, web shop, payment page, login service, database, phone system, booking page, file server, ticket system, search page, chat service, printer network, backup server, customer portal, news page, map service'.split(
    ', ',
  )

/** Why a system fails. */
export const faults: readonly string[] =
  'a full disk, a power cut, a broken cable, a software update, an expired certificate, a wrong setting, a lost password, a traffic peak, a faulty switch, a memory leak, a typing mistake, a hot server room'.split(
    ', ',
  )

/** Why a road is closed. */
export const roadCauses: readonly string[] =
  'a storm, a burst pipe, a fallen tree, building work, heavy rain, a gas leak, flooding, new cables, a film shoot, a street party, a landslide, bridge repairs'.split(
    ', ',
  )

export const events: readonly string[] =
  'jazz festival, book fair, food market, film week, science day, marathon, flower show, chess open, music night, art fair, design week, craft fair, boat show, wine tasting, poetry evening, robot contest, garden party, lantern festival, bike race, dance gala'.split(
    ', ',
  )

export const weathers: readonly string[] =
  'rain, sunshine, fog, strong wind, light clouds, thunderstorms, clear skies, drizzle, showers'.split(', ')

export const streets: readonly string[] =
  'Main Street, Station Road, Park Avenue, Mill Lane, Church Street, Bridge Road, Harbour Street, King Street, Garden Road, Market Square, Oak Lane, River Road, School Street, Castle Road, Hill Street, Victoria Road'.split(
    ', ',
  )

export const publicGoals: readonly string[] =
  "the animal shelter, the school library, the children's hospital, the fire brigade, a new playground, the food bank, the village choir, clean beaches, the youth club, flood victims, the old theatre, a new roof for the church".split(
    ', ',
  )
