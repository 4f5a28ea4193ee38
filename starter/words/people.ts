/** Given names from many countries. */
export const firstNames: readonly string[] = `
Ada Adam Adele Aditi Agnes Ahmed Aiko Aisha Alan Albert Alejandro Alex Alice Alicia Alina Amara Amelia Amina Amir Ana
Anders Andrea Andrew Angela Anika Anita Anna Anton Antonio Anya Arjun Arthur Astrid Aurora Ayse Beatrice Ben Benedikt
Bianca Birgit Bjorn Bogdan Brian Bruno Camila Carla Carlos Carmen Caroline Catherine Cecilia Charles Charlotte Chen
Chiara Chidi Chloe Chris Claire Clara Clemens Daan Dana Daniel Daria David Deepa Denis Diana Diego Dimitri Dmitri
Dominik Dora Edgar Edith Eduardo Eilidh Elena Elias Elif Elin Elisa Elizabeth Ella Emeka Emil Emily Emma Enrique Eric
Erika Esther Ethan Eva Fatima Felix Femi Fernando Fiona Florian Frances Frank Franziska Freya Frida Gabriel Gareth
George Georgia Gerald Giulia Grace Greta Gustav Hana Hannah Hans Harriet Harry Hassan Hector Helen Helga Henrik Henry
Hiroshi Hugo Ian Ibrahim Ida Ines Ingrid Irina Isabel Isla Ivan Jack Jacob Jamal James Jan Jana Jane Javier Jean Jens
Jin Joana Johan John Jonas Jordan Jorge Jose Josef Judith Julia Julian Jun Kaito Kamal Karen Karim Katarina Kate Kaya
Kenji Kerstin Kevin Khadija Kiran Klara Klaus Kofi Kwame Lara Lars Laura Lea Leila Lena Leo Leon Leticia Liam Lina
Linda Linh Lisa Liv Lorenzo Louis Lucas Lucia Lucy Luis Luka Lukas Mabel Magda Malik Manuel Marco Marcus Margaret Maria
Mariam Marie Marina Mario Marta Martin Mary Mateo Mathilde Matthew Maya Mehmet Mei Mia Michael Miguel Mila Min Mira
Mohammed Monika Nadia Naomi Natalia Nathan Nia Nick Nicole Niklas Nils Nina Noah Nora Nuno Olaf Olga Oliver Olivia Omar
Oscar Otto Pablo Paola Patrick Paul Pavel Pedro Peter Petra Philip Pia Pierre Piotr Priya Rachel Rafael Rahul Raj
Ravi Rebecca Regina Renata Rhea Ricardo Rita Robert Roberto Robin Rosa Rose Ruben Ruth Sakura Salma Sam Samira Samuel
Sandra Sara Sarah Sebastian Selma Sergio Sigrid Silvia Simon Sofia Sonia Stefan Stella Sunita Susan Sven Tamara Tariq
Tara Teresa Theo Theresa Thomas Tim Tina Tobias Tom Tomas Ulrich Ursula Valentina Vera Victor Vikram Viktoria Vincent
Walter Wanda Wei William Xavier Yara Yasmin Yuki Yusuf Zara Zeynep Zoe`
  .trim()
  .split(/\s+/)

/** Family names from many countries. */
export const lastNames: readonly string[] = `
Abbott Abdi Adams Adeyemi Ahmad Akhtar Alvarez Andersson Andrade Antonov Arnold Arslan Baker Banerjee Barbosa Barnes
Bauer Becker Bell Bennett Berg Bergmann Bernard Bianchi Blanc Boateng Bondarenko Braun Brooks Brown Burke Byrne Campbell
Cardoso Carlsen Carter Castro Chan Chandra Chavez Clark Cohen Cole Collins Conti Cooper Costa Cruz Curtis Dahl Das
Davies Dawson Delgado Demir Diaz Dietrich Dixon Doyle Dubois Dupont Eberhardt Edwards Eklund Ellis Engel Eriksen
Esposito Evans Farah Farrell Fernandes Ferrari Fischer Fleming Flores Fontaine Foster Fournier Fox Frank Fraser Fuchs
Fujita Garcia Garnier Gibson Gomez Gonzalez Graham Grant Gray Green Griffin Gruber Gupta Haas Hall Hamilton Hansen
Hardy Harper Harris Hartmann Hashimoto Hassan Hayes Heinrich Hernandez Herrera Hoffmann Holm Horvat Howard Huang Huber
Hughes Hunt Hussain Ibrahimovic Ito Ivanova Jackson Jansen Jensen Jimenez Johansson Johnson Jones Jovanovic Kaiser
Kang Kapoor Kaur Keller Kelly Kennedy Khan Kim King Klein Kobayashi Koch Kowalski Kozlov Kraus Kumar Kuznetsov Lambert
Lang Larsen Laurent Lee Lehmann Leroy Lewis Li Lim Lin Lindberg Lopez Lorenz Ludwig Lund Maier Marino Marshall Martin
Martinez Mason Mayer Mbeki McCarthy McKenzie Medina Mehta Mendes Meyer Miller Mills Molina Monteiro Moore Morales
Moreau Moreno Morgan Mori Morris Mueller Murphy Murray Nagy Nakamura Navarro Nelson Neumann Nguyen Nielsen Nilsen
Novak Nowak Nunez Obi Okafor Okonkwo Oliveira Olsen Ortega Osei Owens Ozturk Palmer Papadopoulos Park Parker Patel
Pereira Perez Perry Petersen Petrov Pham Phillips Pinto Popescu Porter Powell Price Quinn Rahman Ramirez Ramos Rao
Reed Reid Reuter Reyes Ribeiro Richter Rivera Roberts Robinson Rodriguez Rojas Romano Rossi Roth Rousseau Ruiz Russell
Ryan Saito Salazar Sanchez Santos Sato Schmidt Schneider Scholz Schreiber Schulz Schwarz Scott Sharma Shaw Silva Simon
Singh Sjoberg Smith Sokolov Sousa Steiner Stevens Stewart Stone Suarez Sullivan Suzuki Svensson Takahashi Tan Tanaka
Taylor Thompson Torres Tran Turner Ueda Vargas Vasquez Vega Vogel Volkov Wagner Walker Wallace Walsh Wang Ward Watanabe
Watson Weber Weiss Wells White Williams Wilson Winter Wolf Wong Wood Wright Wu Yamamoto Yang Yilmaz Young Yusuf Zhang
Zhou Ziegler Zimmermann`
  .trim()
  .split(/\s+/)

/** What people do for a living. */
export const jobs: readonly string[] = `
accountant, architect, sales manager, product manager, data analyst, software engineer, nurse, head of marketing,
office manager, consultant, project lead, designer, teacher, electrician, chief technology officer, team assistant,
warehouse manager, lawyer, translator, research assistant, photographer, finance director, support agent, plumber,
HR manager, journalist, pharmacist, chef, site engineer, security officer, librarian, recruiter, carpenter, buyer,
mechanical engineer, account manager, operations manager, web developer, biologist, physiotherapist`
  .trim()
  .split(/,\s+/)
