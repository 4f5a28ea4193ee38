/** Cities of the world. */
export const cities: readonly string[] = `
Aarhus, Aberdeen, Abuja, Accra, Adelaide, Algiers, Amman, Amsterdam, Ankara, Antwerp, Asuncion, Athens, Atlanta, Auckland,
Austin, Baku, Baltimore, Bangkok, Barcelona, Basel, Beirut, Belfast, Belgrade, Bergen, Berlin, Bern, Bilbao, Birmingham,
Bogota, Bologna, Bordeaux, Boston, Bratislava, Bremen, Brisbane, Bristol, Brno, Brussels, Bucharest, Budapest, Buenos Aires,
Cairo, Calgary, Cape Town, Cardiff, Casablanca, Chicago, Cologne, Copenhagen, Cork, Dakar, Dallas, Delft, Delhi, Denver,
Detroit, Dhaka, Doha, Dortmund, Dresden, Dubai, Dublin, Dundee, Durban, Edinburgh, Eindhoven, Essen, Florence, Frankfurt,
Gdansk, Geneva, Genoa, Ghent, Glasgow, Gothenburg, Granada, Graz, Grenoble, Guadalajara, Haifa, Halifax, Hamburg, Hanoi,
Hanover, Havana, Helsinki, Houston, Innsbruck, Istanbul, Jakarta, Johannesburg, Kampala, Karachi, Kathmandu, Kigali, Kobe,
Krakow, Kyiv, Kyoto, La Paz, Lagos, Lahore, Lausanne, Leeds, Leicester, Leipzig, Lille, Lima, Linz, Lisbon, Liverpool,
Ljubljana, London, Los Angeles, Luanda, Lund, Luxembourg, Lyon, Madrid, Malaga, Malmo, Manchester, Manila, Marseille,
Melbourne, Memphis, Mexico City, Miami, Milan, Minneapolis, Monterrey, Montevideo, Montreal, Mumbai, Munich, Nagoya,
Nairobi, Nantes, Naples, New York, Newcastle, Nice, Nuremberg, Oakland, Odense, Osaka, Oslo, Ottawa, Oxford, Palermo,
Paris, Perth, Philadelphia, Phoenix, Pittsburgh, Plymouth, Porto, Portland, Poznan, Prague, Pune, Quebec, Quito, Reykjavik,
Riga, Rome, Rotterdam, Salzburg, San Diego, San Francisco, Santiago, Sapporo, Sarajevo, Seattle, Seoul, Seville, Sheffield,
Singapore, Sofia, Stockholm, Strasbourg, Stuttgart, Sydney, Taipei, Tallinn, Tampere, Tbilisi, Tokyo, Toronto, Toulouse,
Trieste, Tromso, Tunis, Turin, Uppsala, Utrecht, Valencia, Vancouver, Venice, Verona, Vienna, Vilnius, Warsaw, Wellington,
Winnipeg, Wroclaw, York, Zagreb, Zurich`
  .trim()
  .split(/,\s+/)
