/** Programming and software that off-domain requests are about: none of it is Odyssey. */
export const programmingLanguages: readonly string[] =
  `Python, JavaScript, TypeScript, Java, Kotlin, C, C++, C#, Go, Rust, Swift, Ruby, PHP, Perl, Lua, R, Julia, Haskell, OCaml, Scala, Clojure, Elixir, Erlang, F#, Dart, Zig, Nim, Fortran, COBOL, Pascal, Ada, Lisp, Scheme, Prolog, MATLAB, SQL, Bash, PowerShell, assembly, Visual Basic`.split(
    ', ',
  )

export const codingTasks: readonly string[] =
  `reverses a string, checks for palindromes, computes the factorial, returns the nth Fibonacci number, sorts an array, merges two sorted lists, finds the largest element, removes duplicates, counts vowels, reads a CSV file, writes a log file, downloads a web page, parses a date, validates an email address, converts Celsius to Fahrenheit, generates a random password, computes a checksum, flattens a nested list, finds prime numbers, solves a sudoku, plays tic-tac-toe, draws a circle, resizes an image, sends an email, scrapes a table, connects to a database, runs a binary search, traverses a tree, implements a stack, implements a queue, implements a linked list, implements a hash map, implements quicksort, implements merge sort, inverts a matrix, multiplies two matrices, computes the median, rounds a number, formats a phone number, compares two files, zips a folder, renames files, watches a folder, starts a thread, retries a request, caches results, debounces a click, animates a button, toggles a menu, uploads a file, paginates results, encrypts a message, compresses text, tokenizes a sentence, counts words, finds anagrams, rolls a dice, shuffles a deck, converts Roman numerals, converts binary to decimal, computes the distance between two points, finds the shortest path, detects a cycle in a graph, computes compound interest, prints a calendar, schedules a task, builds a web server, handles a form, plots a graph, trains a classifier`.split(
    ', ',
  )

export const software: readonly string[] =
  `PostgreSQL, MySQL, MariaDB, MongoDB, Redis, Elasticsearch, Kafka, RabbitMQ, nginx, Apache, Docker, Kubernetes, Terraform, Ansible, Jenkins, Grafana, Prometheus, Git, GitHub, GitLab, Jira, Slack, Teams, Zoom, Discord, Skype, WhatsApp, Telegram, Outlook, Gmail, Thunderbird, Excel, Word, PowerPoint, Photoshop, Blender, GIMP, Illustrator, Figma, AutoCAD, Windows 11, macOS, Ubuntu, Debian, Fedora, Arch Linux, Android, iOS, Chrome, Firefox, Safari, vim, Emacs, IntelliJ, Eclipse, Xcode, WordPress, Drupal, Shopify, Salesforce, SAP, Spotify, Netflix, YouTube, Instagram, Facebook, TikTok, Steam, Minecraft, Unity, Unreal Engine, Django, Flask, Rails, Laravel, Spring Boot, React, Angular, Vue, jQuery, Tailwind, Bootstrap, NumPy, Pandas, TensorFlow, PyTorch, Hadoop, Spark, Oracle, SQLite, Samba, OpenVPN, WireGuard, PuTTY, FileZilla, VirtualBox, VMware, Raspberry Pi, Arduino, Home Assistant`.split(
    ', ',
  )

/** Other makers' models: questions about them are not about Odyssey. */
export const otherModels: readonly string[] =
  `GPT-4, GPT-5, GPT-3.5, Claude Opus, Claude Sonnet, Gemini Pro, Gemini Flash, Llama 3, Llama 4, Mistral Large, Mixtral, Qwen 3, DeepSeek, Grok, Phi-4, Gemma, Command R, Falcon, BERT, Stable Diffusion, Midjourney, Whisper`.split(
    ', ',
  )

export const humanLanguages: readonly string[] =
  `French, German, Spanish, Italian, Portuguese, Dutch, Swedish, Norwegian, Danish, Finnish, Polish, Czech, Hungarian, Romanian, Bulgarian, Greek, Turkish, Russian, Ukrainian, Arabic, Hebrew, Persian, Hindi, Urdu, Bengali, Tamil, Thai, Vietnamese, Chinese, Mandarin, Cantonese, Japanese, Korean, Indonesian, Swahili, Latin, Esperanto, Welsh, Irish, Icelandic`.split(
    ', ',
  )
