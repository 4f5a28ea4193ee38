# What both recipes do; each reads this file with its own arguments, FOLDER [PART], and with `here` set to this folder.
set -eu

folder=${1:?Usage: sh $0 FOLDER [PART]}
part=${2:-1}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python="$folder/environment/bin/python"

# A script of the repository, by its path there.
run() { node "$here/../bin/odyssey.cjs" --run "$@"; }

# text NAME CONVERSATIONS OPTION…
text() {
  name=$1
  shift
  [ -f "$folder/$name.jsonl" ] || { run starter/generate.ts "$folder/$name.part" "$@" && mv "$folder/$name.part" "$folder/$name.jsonl"; } || exit 1
}

rows() {
  [ -f "$folder/$1.npz" ] || "$python" "$here/data.py" "$folder/$1.jsonl" "$folder/tokenizer.json" "$folder/$1.npz"
}

# Makes the weights of starter.pt and asks them the held-out questions.
finish() {
  "$python" "$here/export.py" "$folder/starter.pt" "$folder/tokenizer.json" "$here/template.jinja" "$folder/starter.gguf"
  run starter/evaluate.ts "$folder/starter.gguf" $((200 / part))
}

[ -x "$python" ] || python3 -m venv "$folder/environment"
"$python" -m pip install --quiet --requirement "$here/requirements.txt"
