#!/bin/sh
# The whole recipe, from nothing to evaluated weights: sh starter/make.sh FOLDER [PART]
# Everything it makes along the way lies in FOLDER; steps that are done are not done again.
# With a PART, such as 50, all sizes are divided by it: to see that the recipe runs, not what comes of it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/recipe.sh"

# The vocabulary is learned from 60,000, and has its full size only then.
size=$((150000 / part))
text train $((size > 60000 ? size : 60000)) --mix train
text drill $((78000 / part)) --mix drill
[ -f "$folder/tokenizer.json" ] || "$python" "$here/tokenizer.py" "$folder/train.jsonl" "$folder/tokenizer.json"
rows train
rows drill
steps=$((3250 / part))
"$python" "$here/train.py" "$folder/train.npz" "$folder/starter.pt" --steps $steps --until $((1050 / part))
"$python" "$here/train.py" "$folder/drill.npz" "$folder/starter.pt" --steps $steps --falling 0.5 --peak 0.8
finish
