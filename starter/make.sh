#!/bin/sh
# The whole recipe, from nothing to evaluated weights: sh starter/make.sh FOLDER
# Everything it makes along the way lies in FOLDER; steps that are done are not done again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?Usage: sh starter/make.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python="$folder/environment/bin/python"

run() { node "$here/../bin/odyssey.cjs" --run "$@"; }

[ -x "$python" ] || python3 -m venv "$folder/environment"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
[ -f "$folder/text.jsonl" ] || { run "$here/generate.ts" "$folder/text.part" 150000 && mv "$folder/text.part" "$folder/text.jsonl"; }
[ -f "$folder/drill.jsonl" ] || { run "$here/generate.ts" "$folder/drill.part" 78000 --mix drill && mv "$folder/drill.part" "$folder/drill.jsonl"; }
[ -f "$folder/tokenizer.json" ] || "$python" "$here/tokenizer.py" "$folder/text.jsonl" "$folder/tokenizer.json"
[ -f "$folder/rows.npz" ] || "$python" "$here/data.py" "$folder/text.jsonl" "$folder/tokenizer.json" "$folder/rows.npz"
[ -f "$folder/drill.npz" ] || "$python" "$here/data.py" "$folder/drill.jsonl" "$folder/tokenizer.json" "$folder/drill.npz"
"$python" "$here/train.py" "$folder/rows.npz" "$folder/starter.pt" --steps 3250 --until 1050
"$python" "$here/train.py" "$folder/drill.npz" "$folder/starter.pt" --steps 3250 --falling 0.5 --peak 0.8
"$python" "$here/export.py" "$folder/starter.pt" "$folder/tokenizer.json" "$here/template.jinja" "$folder/starter.gguf"
run "$here/evaluate.ts" "$folder/starter.gguf"
