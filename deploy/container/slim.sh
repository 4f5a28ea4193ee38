#!/bin/sh
# Takes from node_modules what an image that is never developed in has no use for: 180 of 350 MB. Licences stay.
set -eu

cd node_modules
# Node: its binary alone, without the symbols that debuggers want. What native modules link against is kept apart from those.
node=$(echo node-linux-*)
rm -rf "$node/include" "$node/share" "$node/CHANGELOG.md" "$node/README.md"
strip --strip-all "$node/bin/node"
# The engine: the sources of llama.cpp, from which nothing is built here.
rm -f node-llama-cpp/llama/gitRelease.bundle
find . -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete
find . -type f \( -iname 'readme.md' -o -iname 'changelog.md' -o -iname 'history.md' \) -delete
# The launcher's own notes on what it installed, for which an image has no lockfile to compare them with.
rm -rf .odyssey .odyssey-lock .package-lock.json .cache .bin

mkdir .bin
ln -s "../$node/bin/node" .bin/node
ln -s ../../bin/odyssey.cjs .bin/odyssey
.bin/node --version
