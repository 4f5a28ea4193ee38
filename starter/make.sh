#!/bin/sh
# The whole recipe, from nothing to evaluated weights: sh starter/make.sh FOLDER [PART]
# Everything it makes along the way lies in FOLDER; steps that are done are not done again.
# With a PART, such as 50, all sizes are divided by it: to see that the recipe runs, not what comes of it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?Usage: sh starter/make.sh FOLDER [PART]}
part=${2:-1}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python="$folder/environment/bin/python"

# A script of the repository, by its path there.
run() { node "$here/../bin/odyssey.cjs" --run "$@"; }

# Text of a mix, in so many conversations.
text() {
  [ -f "$folder/$1.jsonl" ] || { run starter/generate.ts "$folder/$1.part" "$2" --mix "$1" && mv "$folder/$1.part" "$folder/$1.jsonl"; } || exit 1
}

rows() {
  [ -f "$folder/$1.npz" ] || "$python" "$here/data.py" "$folder/$1.jsonl" "$folder/tokenizer.json" "$folder/$1.npz"
}

[ -x "$python" ] || python3 -m venv "$folder/environment"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
# The vocabulary is learned from 60,000, and has its full size only then.
size=$((150000 / part))
text train $((size > 60000 ? size : 60000))
text drill $((78000 / part))
[ -f "$folder/tokenizer.json" ] || "$python" "$here/tokenizer.py" "$folder/train.jsonl" "$folder/tokenizer.json"
rows train
rows drill
steps=$((3250 / part))
"$python" "$here/train.py" "$folder/train.npz" "$folder/starter.pt" --steps $steps --until $((1050 / part))
"$python" "$here/train.py" "$folder/drill.npz" "$folder/starter.pt" --steps $steps --falling 0.5 --peak 0.8
"$python" "$here/export.py" "$folder/starter.pt" "$folder/tokenizer.json" "$here/template.jinja" "$folder/starter.gguf"
run starter/evaluate.ts "$folder/starter.gguf" $((200 / part))
