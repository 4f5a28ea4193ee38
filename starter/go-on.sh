#!/bin/sh
# Trains the committed weights on, with their own vocabulary: sh starter/go-on.sh FOLDER [PART]
# Everything it makes along the way lies in FOLDER; steps that are done are not done again.
# With a PART, such as 50, all sizes are divided by it: to see that it runs, not what comes of it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/recipe.sh"

train() {
  "$python" "$here/train.py" "$folder/$1.npz" "$folder/$1.pt" --after "$folder/$2.pt" --steps $(($3 / part)) --falling 0.7 --peak 0.6 --prompts 0.15
}

mean() {
  (cd "$folder" && "$python" "$here/mean.py" "$@")
}

[ -f "$folder/before.pt" ] || "$python" "$here/carry.py" "$here/../weights/starter.gguf" "$folder/tokenizer.json" "$folder/before.pt"
text first $((100000 / part)) --mix drill
text second $((34000 / part)) --mix drill --from 100000
rows first
rows second
train first before 1000
mean midway.pt before.pt first.pt
train second midway 700
mean starter.pt before.pt first.pt second.pt
finish
