#!/bin/sh
# Trains the committed weights on, with their own vocabulary: sh starter/go-on.sh FOLDER [PART]
# Everything it makes along the way lies in FOLDER; steps that are done are not done again.
# With a PART, such as 50, all sizes are divided by it: to see that it runs, not what comes of it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?Usage: sh starter/go-on.sh FOLDER [PART]}
part=${2:-1}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python="$folder/environment/bin/python"

# A script of the repository, by its path there.
run() { node "$here/../bin/odyssey.cjs" --run "$@"; }

# Rows of the drill: so many conversations, from that number on.
rows() {
  [ -f "$folder/$1.jsonl" ] || { run starter/generate.ts "$folder/$1.part" $(($2 / part)) --mix drill --from "$3" && mv "$folder/$1.part" "$folder/$1.jsonl"; } || exit 1
  [ -f "$folder/$1.npz" ] || "$python" "$here/data.py" "$folder/$1.jsonl" "$folder/tokenizer.json" "$folder/$1.npz"
}

train() {
  "$python" "$here/train.py" "$folder/$1.npz" "$folder/$1.pt" --after "$folder/$2.pt" --steps $(($3 / part)) --falling 0.7 --peak 0.6 --prompts 0.15
}

mean() {
  (cd "$folder" && "$python" "$here/mean.py" "$@")
}

[ -x "$python" ] || python3 -m venv "$folder/environment"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
[ -f "$folder/before.pt" ] || "$python" "$here/carry.py" "$here/../weights/starter.gguf" "$folder/tokenizer.json" "$folder/before.pt"
rows first 100000 0
rows second 34000 100000
train first before 1000
mean midway.pt before.pt first.pt
train second midway 700
mean starter.pt before.pt first.pt second.pt
"$python" "$here/export.py" "$folder/starter.pt" "$folder/tokenizer.json" "$here/template.jinja" "$folder/starter.gguf"
run starter/evaluate.ts "$folder/starter.gguf" $((200 / part))
