/** Everyday things that off-domain requests are about. */
export const dishes: readonly string[] =
  `pizza, lasagna, spaghetti carbonara, risotto, gnocchi, pesto, minestrone, tiramisu, panna cotta, paella, gazpacho, tortilla, tacos, burritos, guacamole, chili con carne, sushi, ramen, miso soup, tempura, curry, biryani, naan, samosas, dal, pad thai, spring rolls, pho, dumplings, fried rice, kimchi, bibimbap, falafel, hummus, shakshuka, couscous, baklava, moussaka, tzatziki, goulash, schnitzel, pretzels, sauerkraut, strudel, fondue, raclette, quiche, ratatouille, crepes, croissants, souffle, onion soup, beef stew, shepherd's pie, fish and chips, scones, pancakes, waffles, French toast, omelettes, scrambled eggs, boiled eggs, porridge, granola, banana bread, sourdough bread, bagels, muffins, brownies, cheesecake, apple pie, carrot cake, chocolate cake, cookies, ice cream, lemonade, iced tea, espresso, cappuccino, hot chocolate, mulled wine, a mojito, a martini, roast chicken, roast beef, meatballs, meatloaf, burgers, hot dogs, mashed potatoes, fries, coleslaw, Caesar salad, potato salad, tomato soup, pumpkin soup, borscht, pierogi, stuffed peppers, mac and cheese, jambalaya, ceviche, empanadas, marmalade, pickles, mayonnaise, vinaigrette`.split(
    ', ',
  )

export const repairs: readonly string[] =
  `a leaking tap, a blocked drain, a flat tyre, a squeaky door, a broken window, a dead car battery, a dripping shower, a running toilet, a scratched table, a torn jacket, a broken zip, a cracked phone screen, a slow laptop, a noisy fridge, a cold radiator, a loose tile, a wobbly chair, a tripped fuse, a dead light switch, a jammed lock, a dishwasher that does not drain, a washing machine that smells, a bicycle chain, bicycle brakes, a lawn mower, a coffee machine, a vacuum cleaner, a hole in the wall, a damp basement, a leaking roof, a garage door, a doorbell, a smoke detector, a boiler, a car window, a windscreen wiper, a rusty gate, a wooden floor, a pair of glasses, a watch strap, an umbrella, a guitar string, a piano, a camera lens, a tent, a backpack, a suitcase wheel, a shoe sole, a sewing machine, a hair dryer`.split(
    ', ',
  )

export const devices: readonly string[] =
  `printer, scanner, phone, tablet, TV, router, headphones, speaker, keyboard, mouse, monitor, webcam, microphone, camera, drone, smartwatch, fitness tracker, game console, car, washing machine, dishwasher, fridge, oven, thermostat, doorbell, vacuum robot, e-reader, projector, hard drive, USB stick, modem, radio, turntable, alarm clock, calculator, hearing aid, garage door opener, sprinkler, electric bike, electric guitar`.split(
    ', ',
  )

export const hobbies: readonly string[] =
  `playing the piano, playing the guitar, playing the violin, singing, drawing, painting, pottery, knitting, sewing, crochet, origami, calligraphy, photography, juggling, magic tricks, chess, poker, bridge, swimming, running a marathon, cycling, yoga, meditation, climbing, skiing, snowboarding, surfing, sailing, diving, skateboarding, horse riding, tennis, golf, boxing, judo, ballet, salsa, gardening, beekeeping, bird watching, fishing, baking, brewing beer, making wine, woodworking, carpentry, 3D printing, model trains, speed reading, public speaking, writing novels, learning Spanish, learning Japanese, learning Latin, stand-up comedy, astronomy, geocaching, camping, hiking, parkour`.split(
    ', ',
  )

export const sports: readonly string[] =
  `football, soccer, basketball, baseball, cricket, rugby, tennis, table tennis, badminton, volleyball, handball, hockey, ice hockey, golf, cycling, Formula 1, boxing, wrestling, fencing, judo, karate, swimming, rowing, sailing, athletics, the marathon, the decathlon, the high jump, the 100 metres, gymnastics, figure skating, skiing, biathlon, curling, darts, snooker, chess, polo, lacrosse, surfing`.split(
    ', ',
  )

export const ailments: readonly string[] =
  `a headache, a migraine, a sore throat, a cough, a cold, the flu, a fever, back pain, knee pain, chest pain, stomach pain, a toothache, an earache, a rash, hives, acne, eczema, sunburn, a burn, a bee sting, a tick bite, a sprained ankle, a broken arm, high blood pressure, low blood pressure, diabetes, asthma, hay fever, a food allergy, lactose intolerance, insomnia, anxiety, depression, burnout, ADHD, anemia, gout, arthritis, a hernia, kidney stones, heartburn, nausea, diarrhea, constipation, dizziness, cramps, conjunctivitis, measles, chickenpox, malaria, dry skin, hair loss, snoring, a hangover, jet lag, a nosebleed, hiccups, a swollen foot, a panic attack, tinnitus`.split(
    ', ',
  )

export const jobs: readonly string[] =
  `teacher, nurse, doctor, dentist, vet, lawyer, judge, accountant, engineer, architect, plumber, electrician, carpenter, painter, mechanic, pilot, flight attendant, bus driver, truck driver, chef, waiter, barista, baker, butcher, farmer, gardener, florist, hairdresser, tailor, journalist, editor, translator, librarian, scientist, biologist, chemist, pharmacist, psychologist, social worker, police officer, firefighter, soldier, actor, musician, dancer, photographer, graphic designer, web developer, data analyst, project manager, sales assistant, cashier, receptionist, marketing manager, recruiter, banker, real estate agent, insurance broker, tour guide, coach`.split(
    ', ',
  )

export const animate: readonly string[] =
  `my mother, my father, my boss, my best friend, my neighbour, my girlfriend, my boyfriend, my wife, my husband, my daughter, my son, my sister, my brother, my teacher, my landlord, my cousin, my grandmother, my grandfather, my colleague, my roommate, my doctor, my dog, my cat, my aunt, my uncle, my team, my class, my ex, my tenant, my customer`.split(
    ', ',
  )

/** Subjects to write, joke or think about. */
export const subjects: readonly string[] =
  `love, friendship, autumn, spring, summer, winter, the sea, the rain, snow, a storm, the night, the stars, a lonely robot, a dragon, a lost key, a haunted house, a talking cat, a pirate, a wizard, a knight, an astronaut, a time machine, a train journey, a small village, a big city, a desert island, coffee, tea, chocolate, Mondays, holidays, Christmas, Halloween, birthdays, weddings, grief, hope, courage, jealousy, loneliness, happiness, freedom, justice, war, peace, money, power, truth, beauty, old age, childhood, school, work, remote work, recycling, plastic waste, veganism, electric cars, public transport, social media, video games, television, advertising, fashion, tattoos, pets, zoos, immigration, taxes, pensions, elections, education, healthcare, housing, tourism, space travel, aliens, ghosts, artificial intelligence, privacy, surveillance, nuclear power, genetic engineering, overpopulation, water shortage, minimalism, procrastination, time management, leadership, teamwork, failure, success, luck, destiny, the meaning of life, death, immortality, morality, religion, science, art, music, poetry, language, silence, boredom, a garden, a bridge, a river, a mountain, a lighthouse, a clockmaker, a spy, a detective, a bank robbery, an old photograph, a letter`.split(
    ', ',
  )

/** What people ask law and money questions about. */
export const affairs: readonly string[] =
  `a mortgage, a car loan, a student loan, a rental contract, a divorce, a will, an inheritance, a parking fine, a speeding ticket, a work contract, a resignation, unpaid overtime, a security deposit, a noisy neighbour, a patent, a trademark, copyright, a tax return, value added tax, stocks, bonds, index funds, cryptocurrency, gold, a pension plan, life insurance, health insurance, car insurance, a credit card, credit card debt, a savings account, a bank transfer, a start-up, a limited company, a visa, a work permit, citizenship, a passport, a driving licence, adoption, child support, a prenup, defamation, a warranty, a refund from an airline, a lost parcel, real estate, crowdfunding, a budget, bankruptcy`.split(
    ', ',
  )
