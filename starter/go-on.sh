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

run() { node "$here/../bin/odyssey.cjs" --run "$@"; }

# Text of a mix, and its rows.
rows() {
  [ -f "$folder/$1.jsonl" ] || { run "$here/generate.ts" "$folder/$1.part" $(($2 / part)) --mix "$1" && mv "$folder/$1.part" "$folder/$1.jsonl"; }
  [ -f "$folder/$1.npz" ] || "$python" "$here/data.py" "$folder/$1.jsonl" "$folder/tokenizer.json" "$folder/$1.npz"
}

[ -x "$python" ] || python3 -m venv "$folder/environment"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
[ -f "$folder/drilled.pt" ] || "$python" "$here/carry.py" "$here/../weights/starter.gguf" "$folder/tokenizer.json" "$folder/drilled.pt"
rows drill 130000
rows settle 40000
"$python" "$here/train.py" "$folder/drill.npz" "$folder/drilled.pt" --steps $((1500 / part)) --falling 0.65 --peak 0.7 --prompts 0.15
"$python" "$here/train.py" "$folder/settle.npz" "$folder/settled.pt" --after "$folder/drilled.pt" --steps $((200 / part)) --falling 1 --peak 0.4 --prompts 0.15
"$python" "$here/mean.py" "$folder/drilled.pt" "$folder/settled.pt" "$folder/starter.pt"
"$python" "$here/export.py" "$folder/starter.pt" "$folder/tokenizer.json" "$here/template.jinja" "$folder/starter.gguf"
run "$here/evaluate.ts" "$folder/starter.gguf" $((200 / part))
