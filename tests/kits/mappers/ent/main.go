// Writes and reads tables with every field type of Ent.
//
// The list of types is Ent's own: one without a field ends the program.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"kit/ent"
	"kit/ent/everything"
	"kit/ent/pair"
	"kit/ent/schema"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/schema/field"
	_ "github.com/glebarez/go-sqlite"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open(address string) *ent.Client {
	name, driver, source := dialect.Postgres, "pgx", address
	if path, isFile := strings.CutPrefix(address, "sqlite:"); isFile {
		name, driver, source = dialect.SQLite, "sqlite", "file:"+path+"?_pragma=foreign_keys(1)"
	}
	db, err := sql.Open(driver, source)
	check(err)
	return ent.NewClient(ent.Driver(entsql.OpenDB(name, db)))
}

func checkTypes() {
	used := map[field.Type]bool{}
	for _, it := range (schema.Everything{}).Fields() {
		used[it.Descriptor().Info.Type] = true
	}
	for it := field.TypeInvalid + 1; it.Valid(); it++ {
		if !used[it] {
			log.Fatalf("the type %s has no field", it)
		}
	}
}

func write(ctx context.Context, client *ent.Client) {
	check(client.Schema.Create(ctx))
	link, err := url.Parse("https://example.org:8080/a?q=1#b")
	check(err)
	second := client.Everything.Create().SetTruth(false).SetMoment(time.Unix(0, 0).UTC()).SetDocument(map[string]any{}).SetTexts([]string{}).
		SetNumbers([]int{}).SetKey(uuid.Nil).SetRaw([]byte{}).SetColor("dark blue").SetText("").SetLong("").SetUniqueText("u2").
		SetOther(pgtype.Text{String: "", Valid: true}).SetI8(0).SetI16(0).SetI32(0).SetI(0).SetI64(-1).SetU8(0).SetU16(0).SetU32(0).SetU(0).SetU64(0).
		SetF32(-0.25).SetF64(1e300).SaveX(ctx)
	client.Everything.Create().SetTruth(true).SetMoment(time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)).
		SetDocument(map[string]any{"a": []any{1, 2.5, nil}}).SetLink(link).SetTexts([]string{"a", "東京"}).SetNumbers([]int{1, 2}).
		SetKey(uuid.MustParse("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001")).SetRaw([]byte{0, 255, 65}).SetColor("red").SetText("Straße, 東京").
		SetLong("line\nline").SetUniqueText("u1").SetOther(pgtype.Text{String: "other", Valid: true}).SetI8(-128).SetI16(-32768).
		SetI32(math.MinInt32).SetI(math.MaxInt32).SetI64(math.MaxInt64).SetU8(255).SetU16(32767).SetU32(math.MaxInt32).SetU(math.MaxInt32).
		SetU64(math.MaxInt64).SetF32(0.5).SetF64(0.30000000000000004).AddFriends(second).SaveX(ctx)
	client.Everything.Create().SaveX(ctx)
	client.Pair.Create().SetName("a").SetNote("x").SetEverything(second).SaveX(ctx)
	client.Pair.Create().SetName("b").SetEverything(second).SaveX(ctx)
}

func read(ctx context.Context, client *ent.Client) {
	for _, row := range client.Everything.Query().WithFriends().Order(ent.Asc(everything.FieldID)).AllX(ctx) {
		fmt.Println(row, row.Raw, row.Link, len(row.Edges.Friends))
	}
	for _, row := range client.Pair.Query().WithEverything().Order(ent.Asc(pair.FieldID)).AllX(ctx) {
		fmt.Println(row, row.Edges.Everything.ID)
	}
}

func main() {
	checkTypes()
	client, ctx := open(os.Args[2]), context.Background()
	if os.Args[1] == "write" {
		write(ctx, client)
	} else {
		read(ctx, client)
	}
	check(client.Close())
}
