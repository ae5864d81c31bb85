#!/usr/bin/env bash
# gopkg.in/yaml.v3 3.0.1 writes a string that begins with a line feed as a block scalar without its first empty line, and reads back another
# string: each round loses one line feed. Its successor go.yaml.in/yaml/v3 3.0.4 keeps it.
# Needs Go.
# Seen: "\na" is written as `|4-` and `a`, and read as "a"; the successor has an empty line between.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
go_round() {
  rm -f go.mod go.sum
  printf 'module finding\n\ngo 1.21\n' >go.mod
  sed "s|YAML|${1%@*}|" >main.go <<'GO'
package main

import (
	"fmt"

	yaml "YAML"
)

func main() {
	for _, text := range []string{"\na", "\n\na", "\na\nb\n", "a\n"} {
		written, err := yaml.Marshal(map[string]string{"k": text})
		if err != nil {
			panic(err)
		}
		var read map[string]string
		if err := yaml.Unmarshal(written, &read); err != nil {
			panic(err)
		}
		fmt.Printf("%q %q\n", text, read["k"])
	}
}
GO
  go get "$1" >get.log 2>&1
  go run .
}
lost=$(go_round gopkg.in/yaml.v3@v3.0.1)
kept=$(go_round go.yaml.in/yaml/v3@v3.0.4)
printf '%s\n--- successor\n%s\n' "$lost" "$kept"
[ "$lost" = '"\na" "a"
"\n\na" "\na"
"\na\nb\n" "a\nb\n"
"a\n" "a\n"' ]
[ "$kept" = '"\na" "\na"
"\n\na" "\n\na"
"\na\nb\n" "\na\nb\n"
"a\n" "a\n"' ]
echo "as stated: gopkg.in/yaml.v3 3.0.1, go.yaml.in/yaml/v3 3.0.4, $(go version)"
