#!/usr/bin/env bash
# Ent 0.14.5: `field.JSON("link", &url.URL{})`, as its documentation of fields has it, loses the user and the password of a
# URL, without an error, and what is read back is a URL with an empty user: encoding/json writes a url.URL as a struct, whose `User` has no
# field that it sees.
# Needs Go 1.26.
# Seen: `ftp://anna:moon@example.org/a` is stored as `… "User":{},"Host":"example.org" …` and read as `ftp://@example.org/a`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'module finding\n\ngo 1.26\n' >go.mod
mkdir -p ent/schema
cat >ent/schema/page.go <<'GO'
package schema

import (
	"net/url"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

type Page struct{ ent.Schema }

func (Page) Fields() []ent.Field { return []ent.Field{field.JSON("link", &url.URL{})} }
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"

	"finding/ent"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/glebarez/go-sqlite"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	db, err := sql.Open("sqlite", "file:pages?mode=memory&cache=shared&_pragma=foreign_keys(1)")
	check(err)
	ctx, client := context.Background(), ent.NewClient(ent.Driver(entsql.OpenDB(dialect.SQLite, db)))
	check(client.Schema.Create(ctx))
	link, err := url.Parse("ftp://anna:moon@example.org/a")
	check(err)
	client.Page.Create().SetLink(link).SaveX(ctx)
	var stored string
	check(db.QueryRow("SELECT link FROM pages").Scan(&stored))
	fmt.Println("set", link)
	fmt.Println("stored", stored)
	fmt.Println("read", client.Page.Query().OnlyX(ctx).Link)
}
GO
go get entgo.io/ent/cmd/ent@v0.14.5 github.com/glebarez/go-sqlite@v1.23.0 golang.org/x/tools@v0.48.0 >get.log 2>&1
go run -mod=mod entgo.io/ent/cmd/ent generate ./ent/schema >>get.log 2>&1 || { cat get.log; exit 1; }
go run -mod=mod . | tee seen.log
grep -qxF 'set ftp://anna:moon@example.org/a' seen.log
grep -qF '"User":{},"Host":"example.org"' seen.log
grep -qxF 'read ftp://@example.org/a' seen.log
echo "as stated: Ent 0.14.5, $(go version)"
