/** Companies: made up, so that nothing said of them is said of a real one. */
export const companies: readonly string[] = `
Northwind Traders, Acme Corp, Globex, Initech, Bluepeak, Solaris Foods, Harbor & Sons, Lumen Labs, Redwood Logistics,
Silverline Media, Vertex Tools, Quantico Paper, Kestrel Airways, Brightwater, Ironbridge Steel, Maple Leaf Bakery,
Oakfield Partners, Pinecone Software, Polaris Energy, Riverstone Bank, Sunfield Farms, Tidewater Shipping, Umbra Optics,
Valley Print, Westgate Motors, Zenith Travel, Alder & Finch, Amberlight, Anchor Insurance, Apex Systems, Arden Books,
Aster Pharma, Atlas Freight, Baxter Glass, Beacon Health, Birchwood Homes, Blackbird Records, Bluebell Florists,
Boreal Timber, Cascade Water, Cedar Grove Clinic, Cinder Coffee, Clearview Windows, Cobalt Mining, Copperfield Law,
Coral Bay Hotels, Crestline Bikes, Dalton Electric, Delphi Research, Dovetail Furniture, Eastport Marine, Echo Audio,
Ember Ceramics, Evergreen Garden Centre, Fairway Golf, Falcon Couriers, Fernhill Dairy, Firefly Games, Foxglove Cosmetics,
Frostbyte, Galileo Robotics, Garnet Jewellers, Glenmore Distillery, Goldcrest Catering, Granite Construction, Greenleaf Tea,
Halcyon Spa, Hazelwood School, Helix Biotech, Highland Wool, Horizon Solar, Hudson Textiles, Indigo Telecom, Ivy Lane,
Jasper Tyres, Juniper Cleaning, Keystone Supplies, Kingfisher Press, Lakeside Camping, Lantern Studios, Larkspur Events,
Linden Consulting, Lotus Yoga, Magnolia Catering, Marlowe Security, Meridian Rail, Mistral Cycles, Moonstone Apps,
Mosaic Tiles, Nebula Hosting, Nimbus Cloud, Nordlicht GmbH, Novaterra, Olive Branch Foods, Onyx Audio, Opal Dental,
Orchard Street Market, Orion Satellites, Osprey Outdoor, Pebble Bank, Pelican Tours, Phoenix Fire Safety, Pixelforge,
Plumtree Nursery, Prairie Grain, Quillon Pens, Raven Security, Rosewood Hotels, Rowan Veterinary, Saffron Kitchen,
Sapphire Cinemas, Sequoia Capital Works, Sierra Sports, Skylark Drones, Snowdrop Linen, Sparrow Post, Sterling Locks,
Stonebridge Builders, Summit Gear, Swift Parcel, Tamarind Spices, Tandem Tandems, Thistle & Thorn, Topaz Paints,
Tulip Telecom, Vanguard Rentals, Velvet Sofa Co, Vireo Labs, Walnut Workshop, Wildflower Honey, Willow Care,
Windrose Sailing, Wren & Partners, Yellowtail Fish, Zephyr Fans, Helios Ltd, Brandt AG, Kovacs Kft, Moreau SARL,
Tanaka Instruments, Okoro Farms, Bergen Boats, Lisboa Azulejos, Dublin Data, Vistula Foods`
  .trim()
  .split(/,\s+/)
