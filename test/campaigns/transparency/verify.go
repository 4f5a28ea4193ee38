// Checks what a log gives out with the code of Go's checksum database: `go run . VERIFIER < lines of JSON`, each with a
// checkpoint, and with an older checkpoint and a row in it that are proven; with TILES, a URL, `go run . VERIFIER TILES
// KEY` reads the log there, and proves all of it from its tiles.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type claim struct {
	Checkpoint  string           `json:"checkpoint"`
	Older       string           `json:"older"`
	Consistency tlog.TreeProof   `json:"consistency"`
	Index       int64            `json:"index"`
	Entry       []byte           `json:"entry"`
	Inclusion   tlog.RecordProof `json:"inclusion"`
	// A note that is no checkpoint, such as a report, and nothing else.
	Note string `json:"note"`
}

// A checkpoint names its log where the database of Go's modules names itself.
func open(text string, verifiers note.Verifiers) (tlog.Tree, error) {
	signed, err := note.Open([]byte(text), verifiers)
	if err != nil {
		return tlog.Tree{}, err
	}
	_, rest, _ := strings.Cut(signed.Text, "\n")
	return tlog.ParseTree([]byte("go.sum database tree\n" + rest))
}

func check(one claim, verifiers note.Verifiers) error {
	if one.Note != "" {
		_, err := note.Open([]byte(one.Note), verifiers)
		return err
	}
	tree, err := open(one.Checkpoint, verifiers)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	older, err := open(one.Older, verifiers)
	if err != nil {
		return fmt.Errorf("older checkpoint: %w", err)
	}
	if err := tlog.CheckTree(one.Consistency, tree.N, tree.Hash, older.N, older.Hash); err != nil {
		return fmt.Errorf("consistency of %d and %d: %w", older.N, tree.N, err)
	}
	if err := tlog.CheckRecord(one.Inclusion, tree.N, tree.Hash, one.Index, tlog.RecordHash(one.Entry)); err != nil {
		return fmt.Errorf("inclusion of %d in %d: %w", one.Index, tree.N, err)
	}
	return nil
}

// Reads tiles over HTTP.
type remote struct{ prefix, key string }

func (r remote) get(path string) ([]byte, error) {
	request, err := http.NewRequest("GET", r.prefix+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("%s: %s", path, answer.Status)
	}
	return body, err
}

func (r remote) Height() int { return 8 }

func (r remote) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(tiles))
	for place, tile := range tiles {
		// The height is not in the paths of tlog-tiles.
		body, err := r.get("/tile/" + strings.TrimPrefix(tile.Path(), "tile/8/"))
		if err != nil {
			return nil, err
		}
		read[place] = body
	}
	return read, nil
}

func (r remote) SaveTiles([]tlog.Tile, [][]byte) {}

// Every row that the checkpoint signs for is read from the bundles of entries and proven from the tiles.
func checkRemote(r remote, verifiers note.Verifiers) (int64, error) {
	text, err := r.get("/checkpoint")
	if err != nil {
		return 0, err
	}
	tree, err := open(string(text), verifiers)
	if err != nil {
		return 0, err
	}
	hashes := tlog.TileHashReader(tree, r)
	for first := int64(0); first < tree.N; first += 256 {
		width := min(256, tree.N-first)
		path := tlog.Tile{H: 8, L: -1, N: first / 256, W: int(width)}.Path()
		bundle, err := r.get("/tile/entries/" + strings.TrimPrefix(path, "tile/8/data/"))
		if err != nil {
			return 0, err
		}
		indexes := make([]int64, width)
		for place := range indexes {
			indexes[place] = tlog.StoredHashIndex(0, first+int64(place))
		}
		// These are checked against the signed root before they are given out.
		leaves, err := hashes.ReadHashes(indexes)
		if err != nil {
			return 0, err
		}
		for place, leaf := range leaves {
			entry := bundle[34*place : 34*(place+1)]
			if entry[0] != 0 || entry[1] != 32 || tlog.RecordHash(entry[2:]) != leaf {
				return 0, fmt.Errorf("row %d is not the one of its leaf", first+int64(place))
			}
		}
	}
	return tree.N, nil
}

func main() {
	verifier, err := note.NewVerifier(os.Args[1])
	if err != nil {
		panic(err)
	}
	verifiers := note.VerifierList(verifier)
	if len(os.Args) > 2 {
		rows, err := checkRemote(remote{os.Args[2], os.Args[3]}, verifiers)
		fmt.Println(rows, err)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one claim
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil {
			err = check(one, verifiers)
		}
		fmt.Println(err)
	}
}
