/** Things one can buy, in the singular. */
export const productNames: readonly string[] = `
phone, laptop, tablet, keyboard, mouse, monitor, printer, webcam, headset, speaker, camera, tripod, router, charger,
power bank, smartwatch, e-reader, television, projector, microphone, kettle, toaster, blender, coffee machine, oven,
fridge, dishwasher, washing machine, vacuum cleaner, iron, hairdryer, razor, toothbrush, lamp, desk, office chair, sofa,
armchair, bookshelf, wardrobe, bed frame, mattress, pillow, blanket, curtain, carpet, mirror, clock, vase, candle,
frying pan, saucepan, knife set, cutting board, teapot, mug, lunch box, water bottle, backpack, suitcase, handbag,
wallet, umbrella, raincoat, winter jacket, sweater, dress, pair of jeans, shirt, scarf, hat, pair of boots, running shoe,
sandal, bicycle, helmet, bike lock, scooter, tent, sleeping bag, camping stove, torch, yoga mat, dumbbell, treadmill,
tennis racket, football, skateboard, guitar, piano, violin, drum kit, board game, puzzle, toy train, doll, notebook,
fountain pen, stapler, calculator, drill, hammer, screwdriver set, ladder, lawn mower, garden hose, flower pot, grill,
heater, fan, air purifier, smoke alarm, doorbell, paint roller, car seat, dash cam, roof box, pet carrier, fish tank`
  .trim()
  .split(/,\s+/)

/** The same in the plural, where more than one is ordered. */
export const productPlurals: readonly string[] = `
phones, laptops, tablets, keyboards, monitors, printers, webcams, headsets, speakers, cameras, routers, chargers,
power banks, projectors, microphones, kettles, toasters, blenders, lamps, desks, office chairs, armchairs, bookshelves,
mattresses, pillows, blankets, curtains, mirrors, vases, candles, frying pans, knife sets, teapots, mugs, lunch boxes,
water bottles, backpacks, suitcases, wallets, umbrellas, raincoats, sweaters, shirts, scarves, hats, helmets, bike locks,
scooters, tents, sleeping bags, torches, yoga mats, dumbbells, footballs, guitars, board games, puzzles, notebooks,
fountain pens, staplers, calculators, drills, hammers, ladders, garden hoses, flower pots, heaters, fans, air purifiers,
smoke alarms, USB cables, ink cartridges, paper towels, light bulbs, batteries, folding tables, whiteboards, name badges,
concert tickets, gift cards, cardboard boxes, paint brushes, door handles, floor tiles, wine glasses, coffee filters`
  .trim()
  .split(/,\s+/)

/** Products under a brand's name: made up. */
export const brandedProducts: readonly string[] = `
AeroBook 14, AquaPure Mini, BrewMaster 300, CleanBot X2, CloudPad Air, CozyLamp, DeskMate Pro, EchoBuds 2, FitTrack 5,
FlexChair, GlowLight S, GripDrill 18V, HomeHub One, InkJet 220, JetKettle, KeyPro 75, LumaCam 4K, MiniFridge 20,
NightOwl Lamp, NoiseOff 700, OmniCharge, PixelView 27, PowerMop, QuietFan, RapidToast, RideOn E1, SkyDrone 3, SlimScale,
SmartLock 2, SnapCam Go, SoundBar 9, SteamPress, SunTent 4, SwiftBike, TravelMug XL, TrueView 55, TypeRight, UltraVac,
VoltPack 10, WaveRouter 6, WristFit, ZenMat, ZipScooter`
  .trim()
  .split(/,\s+/)
