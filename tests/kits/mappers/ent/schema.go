// Package schema has a field of every type of Ent.
package schema

import (
	"net/url"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// Everything has a field of every type.
type Everything struct{ ent.Schema }

// Fields of it.
func (Everything) Fields() []ent.Field {
	return []ent.Field{
		field.Bool("truth").Optional().Nillable(),
		field.Time("moment").Optional().Nillable(),
		field.JSON("document", map[string]any{}).Optional(),
		field.JSON("link", &url.URL{}).Optional(),
		field.Strings("texts").Optional(),
		field.Ints("numbers").Optional(),
		field.UUID("key", uuid.UUID{}).Optional().Nillable(),
		field.Bytes("raw").Optional(),
		field.Enum("color").Values("red", "dark blue").Optional().Nillable(),
		field.String("text").Optional().Nillable(),
		field.Text("long").Optional().Nillable(),
		field.String("unique_text").Optional().Nillable().Unique(),
		field.Other("other", pgtype.Text{}).Optional().SchemaType(map[string]string{dialect.SQLite: "text", dialect.Postgres: "text"}),
		field.Int8("i8").Optional().Nillable(),
		field.Int16("i16").Optional().Nillable(),
		field.Int32("i32").Optional().Nillable(),
		field.Int("i").Optional().Nillable(),
		field.Int64("i64").Optional().Nillable(),
		field.Uint8("u8").Optional().Nillable(),
		field.Uint16("u16").Optional().Nillable(),
		field.Uint32("u32").Optional().Nillable(),
		field.Uint("u").Optional().Nillable(),
		field.Uint64("u64").Optional().Nillable(),
		field.Float32("f32").Optional().Nillable(),
		field.Float("f64").Optional().Nillable(),
	}
}

// Edges of it.
func (Everything) Edges() []ent.Edge {
	return []ent.Edge{edge.To("friends", Everything.Type), edge.To("pairs", Pair.Type)}
}

// Pair belongs to one.
type Pair struct{ ent.Schema }

// Fields of it.
func (Pair) Fields() []ent.Field {
	return []ent.Field{field.String("name"), field.String("note").Optional().Nillable()}
}

// Edges of it.
func (Pair) Edges() []ent.Edge {
	return []ent.Edge{edge.From("everything", Everything.Type).Ref("pairs").Unique().Required()}
}

// Indexes of it: a unique index is no constraint.
func (Pair) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name").Edges("everything").Unique()}
}
