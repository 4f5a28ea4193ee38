import { tool } from '../skills/tool-plan.ts'

/** Tools for everyday life at home and on the way. */
export const dailyTools = [
  tool(
    'get_weather',
    'Gets the current weather of a place.',
    'city|location|place|town: city; unit?|units: choice celsius,fahrenheit',
    [
      "?[what is|what's|how is|how's] the weather [like |]in {city}[| right now| today| in {unit}]",
      '?how [warm|cold|hot] is it in {city}[| now| today| in {unit}]',
      '?[is it raining|is it sunny|do I need an umbrella] in {city}[| today| now]',
      '[get|check|show me|tell me] the [weather|current weather|temperature] [in|for|of] {city}[| in {unit}]',
    ],
    'weather',
  ),
  tool(
    'get_forecast',
    'Gets the weather forecast of the coming days.',
    'city|location|place: city; days: integer 2 9',
    [
      "?[what is|what's] the forecast for {city} for [the next |]{days} days",
      '?how will the weather be in {city} [over|in|for] the next {days} days',
      '[get|show|give me] [the|a] {days} day forecast for {city}',
    ],
    'weather',
  ),
  tool('get_local_time', 'Tells the local time of a city.', 'city|location|place: city', [
    '?what time is it in {city}[| now| right now]',
    "?[what is|what's] the [local |current |]time in {city}",
    '[tell me|get|check|look up] the [local |current |]time in {city}',
  ]),
  tool('set_timer', 'Starts a timer.', 'minutes|duration_minutes: integer 1 90; label?|name: word', [
    '[set|start] a timer [for|of] {minutes} minutes[| called {label}| named {label}| for {label}]',
    '[start|set|give me|run] a {minutes} minute timer[| called {label}| named {label}]',
    'wake me in {minutes} minutes',
  ]),
  tool('set_alarm', 'Sets an alarm clock.', 'time|at: time; day?|weekday: weekday', [
    '[set|make] an alarm [for|at] {time}[| on {day}]',
    'wake me [up |]at {time}[| on {day}]',
    '[ring|alarm me] at {time}[| on {day}]',
  ]),
  tool('turn_on_light', 'Switches on the light of a room.', 'room|area: room; brightness?: integer 5 100', [
    '[turn|switch] on the [light|lights|lamp] in the {room}[| at {brightness} percent]',
    '[turn|switch] the {room} [light|lights] on[| at {brightness} percent]',
    'light up the {room}[| to {brightness} percent]',
    "?it's dark in the {room}, can you switch on the light[| at {brightness} percent]",
  ]),
  tool('set_thermostat', 'Sets the heating of a room.', 'room|area: room; degrees|temperature: integer 15 26', [
    '[set|put|turn] the [heating|thermostat] in the {room} to {degrees}[| degrees]',
    '[heat|warm] the {room} to {degrees}[| degrees]',
    'make it {degrees} degrees in the {room}',
  ]),
  tool('lock_door', 'Locks or unlocks a door.', 'room|door: room; locked: flag lock/unlock', [
    '{locked} the [{room} door|door of the {room}|door to the {room}|door in the {room}]',
    '?[is it possible to|would you kindly] {locked} the {room} door',
  ]),
  tool('play_music', 'Plays songs of an artist.', 'artist|performer: person; shuffle?: flag shuffled/in order', [
    'play [music|songs|something|some songs|a few tracks] by {artist}[|, {shuffle}]',
    'put on [music|songs|some songs] by {artist}',
    'I want to [hear|listen to] {artist}',
  ]),
  tool('set_volume', 'Sets the volume of the speakers.', 'level|volume|percent: integer 0 100', [
    '[set|turn|change|put] the volume to {level}[| percent]',
    '[put|bring] the [speakers|sound] [to|at] {level} percent',
    '?can the speakers play at volume {level}',
  ]),
  tool(
    'add_to_shopping_list',
    'Adds an item to the shopping list.',
    'item|product: noun; quantity?|amount: integer 2 20',
    [
      '[add|put|write] {item} [to|on] [the|my] shopping list[|, quantity {quantity}]',
      'I need to buy {item}[|, {quantity} of them], [write it down|note it on the list]',
      '?could {item} go on [the|my] shopping list[|, quantity {quantity}]',
    ],
  ),
  tool('find_recipe', 'Finds a recipe with an ingredient.', 'ingredient: noun; servings?: integer 2 9', [
    '[find|get|look up|show me|suggest] a recipe with {ingredient}[| for {servings} people]',
    '?what can I cook with {ingredient}[| for {servings} people]',
    'I want to cook something with {ingredient}[| for {servings}]',
  ]),
  tool(
    'get_directions',
    'Gets the way between two places.',
    'from|origin|start: city; to|destination: city; mode?: choice car,train,bike',
    [
      '?how do I get from {from} to {to}[| by {mode}]',
      "?what's the [best |fastest |]way from {from} to {to}[| by {mode}]",
      '[get|show|give me|find] [the way|directions|a route] from {from} to {to}[| by {mode}]',
    ],
    'route',
  ),
  tool(
    'find_nearby',
    'Finds places of a kind near a city.',
    'kind|category: choice restaurant,hotel,pharmacy,museum,cafe,bank; near|city: city',
    [
      '?[where is|is there] a {kind} [in|near|close to] {near}',
      '[find|look for|show me|get] a {kind} [in|near|close to] {near}',
      'I need a {kind} in {near}',
    ],
  ),
  tool(
    'search_flights',
    'Searches flights between two cities on a day.',
    'from|origin: city; to|destination: city; date|day: date',
    [
      '[find|search|look for|show me|get] [flights|a flight] from {from} to {to} on {date}',
      '?[are there|do you have] [any |]flights from {from} to {to} on {date}',
      'I want to fly from {from} to {to} on {date}',
    ],
    'route',
  ),
  tool('book_table', 'Books a table in a restaurant.', 'restaurant: name; people|guests: integer 2 12; time|at: time', [
    '[book|reserve|get me] a table at {restaurant} for {people} [people|persons|guests] at {time}',
    '[make|I need] a reservation at {restaurant} for {people} at {time}',
  ]),
  tool('call_taxi', 'Calls a taxi to a place.', 'pickup|from|location: city; time?|at: time', [
    '[call|order|get|book] [me |]a [taxi|cab] [in|to] {pickup}[| at {time}| for {time}]',
    'I need a [taxi|cab|ride] in {pickup}[| at {time}]',
  ]),
  tool('translate_text', 'Translates a text into a language.', 'text: text; language|target_language|to: language', [
    'translate "{text}" [to|into] {language}',
    '?[how do you say|how would I say|what is] "{text}" in {language}',
    'translate [this |]into {language}: {text}',
    '[say|write|put] "{text}" in {language}',
  ]),
  tool('define_word', 'Looks a word up in the dictionary.', 'word|term: noun', [
    '?what does [the word |]{word} mean',
    '[define|look up] [the word |]{word}[| in the dictionary]',
    "?[what is|what's] the [definition|meaning] of {word}",
  ]),
  tool(
    'log_workout',
    'Records a workout.',
    'activity|sport: choice running,swimming,cycling,yoga,rowing; minutes|duration: integer 10 120',
    [
      '[log|record|save|note|add] {minutes} minutes of {activity}',
      'I did {minutes} minutes of {activity}[|, log it|, please record it]',
    ],
  ),
]
