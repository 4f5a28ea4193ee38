const list = (text: string): string[] => text.trim().split(/\s+/)

/** Short, common, lower-case things: what lists are made of. */
export const nouns = list(`
  apple pear plum grape lemon lime peach melon cherry banana mango fig date kiwi orange berry olive onion carrot potato
  tomato pepper bean pea corn rice bread butter cheese milk cream egg salt sugar honey flour oil soup salad pasta pizza
  cake pie cookie candy tea coffee juice water wine beer cup mug glass plate bowl fork knife spoon pan pot oven stove
  kettle fridge table chair desk sofa bed lamp shelf door window wall floor roof stair room house garden fence gate yard
  barn shed tree leaf root branch flower rose tulip lily grass bush seed moss fern hill lake river sea ocean beach sand
  stone rock cliff cave field forest desert island valley storm rain snow wind cloud sun moon star sky fog ice fire
  smoke ash coal gold silver iron steel copper tin lead wood paper glue tape string rope chain wire nail screw hammer
  saw drill axe brush paint ladder bucket broom mop soap towel sponge mirror comb razor cat dog cow pig horse sheep goat
  hen duck goose rabbit mouse rat fox wolf bear lion tiger zebra camel monkey snake frog toad fish shark whale seal crab
  bee ant fly spider moth eagle owl crow swan robin parrot turtle lizard deer moose otter badger hat cap coat scarf
  glove sock shoe boot shirt skirt dress belt tie ring watch bag purse wallet key coin card ticket stamp letter map book
  page pen pencil ruler eraser chalk crayon notebook folder clip pin button zipper needle thread cloth wool silk cotton
  leather carpet curtain pillow blanket clock phone radio camera screen cable plug battery bulb fan heater engine wheel
  tire brake pedal seat car bus truck van train tram bike boat ship plane rocket ferry canoe raft bridge road street
  path tunnel tower castle church school shop market bank hotel museum park farm mill port station office kitchen attic
  cellar ball bat kite doll puzzle game dice drum flute piano violin guitar trumpet bell song dance film story poem
  letterbox teacher doctor nurse baker farmer pilot sailor driver singer painter writer cook judge guard king queen
  prince knight clown friend baby child uncle aunt cousin hand foot arm leg head eye ear nose mouth tooth finger knee
  elbow heart bone skin hair number word line circle square cube angle color red blue green yellow purple brown black
  white pink gray music math art sport soccer tennis golf chess race prize medal trophy flag tent torch compass anchor
  sail net hook basket box crate barrel bottle jar can lid straw napkin candle match vase statue photo frame poster
  badge mask crown sword shield arrow bow cannon wagon sled ski skate surf swim jump robot laser magnet planet comet
  orbit metal crystal pearl ruby feather nest shell wing tail horn claw`)

/** Things that one can have any number of. */
export const plurals = list(`
  apples pears books pens stamps coins marbles eggs cookies tickets cards stickers balloons candles bottles boxes shirts
  plates cups flowers trees birds fish puzzles toys photos letters stones shells buttons oranges lemons muffins pencils
  magazines bricks chairs lamps keys bags`)
