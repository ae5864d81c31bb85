// Writes and reads a table with every field type of GORM, of its package of data types, and of its serializers.
//
// The list of types is GORM's own: one without a field ends the program.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"math"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/google/uuid"
	"gorm.io/datatypes"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

type Address struct {
	City  string
	Lines []string `gorm:"serializer:json"`
}

type Everything struct {
	gorm.Model
	Bool        *bool
	Int         *int
	Int8        *int8
	Int16       *int16
	Int32       *int32
	Int64       *int64
	Uint        *uint
	Uint8       *uint8
	Uint16      *uint16
	Uint32      *uint32
	Float32     *float32
	Float64     *float64
	Text        *string
	Short       *string `gorm:"size:40"`
	Unique      *string `gorm:"uniqueIndex"`
	Partial     *string `gorm:"uniqueIndex:partial,where:partial <> ''"`
	Lower       *string `gorm:"uniqueIndex:lower,expression:lower(lower)"`
	Bytes       []byte
	Time        *time.Time
	Millis      int64 `gorm:"autoUpdateTime:milli"`
	NullString  sql.NullString
	NullInt64   sql.NullInt64
	NullFloat64 sql.NullFloat64
	NullBool    sql.NullBool
	NullTime    sql.NullTime
	NullByte    sql.NullByte
	Document    datatypes.JSON
	Map         datatypes.JSONMap
	Typed       datatypes.JSONType[Address]
	Slice       datatypes.JSONSlice[int]
	Date        *datatypes.Date
	Clock       *datatypes.Time
	Link        *datatypes.URL
	UUID        *datatypes.UUID
	BinUUID     *datatypes.BinUUID
	AsJSON      map[string]any `gorm:"serializer:json"`
	AsGob       []string       `gorm:"type:bytes;serializer:gob"`
	AsUnix      int64          `gorm:"type:timestamp;serializer:unixtime"`
	Home        Address        `gorm:"embedded;embeddedPrefix:home_"`
	Decimal     *string        `gorm:"type:decimal(20,6)"`
	Friends     []*Everything  `gorm:"many2many:friends"`
}

type Pair struct {
	EverythingID uint   `gorm:"primaryKey;autoIncrement:false"`
	Name         string `gorm:"primaryKey"`
	Note         *string
	Everything   *Everything
}

func of[T any](value T) *T { return &value }

func first() *Everything {
	link, _ := url.Parse("https://ada@example.org:8080/a?q=1#b")
	at := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
	clock := datatypes.NewTime(12, 30, 15, 0)
	return &Everything{
		Bool: of(true), Int: of(math.MaxInt32), Int8: of[int8](-128), Int16: of[int16](-32768), Int32: of[int32](math.MinInt32),
		Int64: of[int64](math.MaxInt64), Uint: of[uint](math.MaxInt32), Uint8: of[uint8](255), Uint16: of[uint16](32767), Uint32: of[uint32](math.MaxInt32),
		Float32: of[float32](0.5), Float64: of(0.30000000000000004), Text: of("Straße, 東京"), Short: of("short"), Unique: of("u1"),
		Partial: of("p1"), Lower: of("L1"), Bytes: []byte{0, 255, 65}, Time: &at,
		NullString: sql.NullString{String: "", Valid: true}, NullInt64: sql.NullInt64{Int64: -1, Valid: true},
		NullFloat64: sql.NullFloat64{Float64: 1e300, Valid: true}, NullBool: sql.NullBool{Bool: false, Valid: true},
		NullTime: sql.NullTime{Time: time.Unix(0, 0).UTC(), Valid: true}, NullByte: sql.NullByte{Byte: 7, Valid: true},
		Document: datatypes.JSON(`{"a": [1, 2.5, null]}`), Map: datatypes.JSONMap{"a": "b"}, Typed: datatypes.NewJSONType(Address{City: "Bern"}),
		Slice: datatypes.NewJSONSlice([]int{1, 2}), Date: of(datatypes.Date(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC))), Clock: &clock,
		Link: of(datatypes.URL(*link)), UUID: of(datatypes.UUID(uuid.MustParse("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001"))),
		BinUUID: of(datatypes.BinUUID(uuid.MustParse("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c002"))),
		AsJSON:  map[string]any{"x": true}, AsGob: []string{"a", "b"}, AsUnix: 1700000000,
		Home: Address{City: "東京", Lines: []string{"one", "two"}}, Decimal: of("12345678.123456"),
	}
}

func second() *Everything {
	return &Everything{
		Bool: of(false), Int: of(0), Int8: of[int8](0), Int16: of[int16](0), Int32: of[int32](0), Int64: of[int64](-1), Uint: of[uint](0),
		Uint8: of[uint8](0), Uint16: of[uint16](0), Uint32: of[uint32](0), Float32: of[float32](-1e30), Float64: of(1e300), Text: of(""),
		Short: of(""), Unique: of("u2"), Partial: of(""), Lower: of("l2"), Bytes: []byte{}, Time: of(time.Unix(0, 0).UTC()),
		Document: datatypes.JSON(`[]`), Map: datatypes.JSONMap{}, Slice: datatypes.NewJSONSlice([]int{}), Decimal: of("-0.25"),
	}
}

func open(address string) *gorm.DB {
	var dialector gorm.Dialector
	if path, isFile := strings.CutPrefix(address, "sqlite:"); isFile {
		dialector = sqlite.Open(path)
	} else {
		dialector = postgres.Open(address)
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Default.LogMode(logger.Warn)})
	check(err)
	return db
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func checkTypes(db *gorm.DB) {
	parsed, err := schema.Parse(&Everything{}, &sync.Map{}, db.NamingStrategy)
	check(err)
	used := map[string]bool{}
	for _, field := range parsed.Fields {
		used[string(field.GORMDataType)] = true
	}
	for _, name := range strings.Fields(os.Getenv("KNOWN")) {
		if !used[name] {
			log.Fatalf("the type %s has no field", name)
		}
	}
}

func main() {
	command, address := os.Args[1], os.Args[2]
	db := open(address)
	checkTypes(db)
	if command == "write" {
		check(db.AutoMigrate(&Everything{}, &Pair{}))
		// A nil map or slice would be a null of JSON, which is read and set as a missing value is.
		befriended := first()
		befriended.Friends = []*Everything{second()}
		for _, row := range []*Everything{befriended, {Lower: of("l3"), Unique: of("u3"), Map: datatypes.JSONMap{}, Slice: datatypes.NewJSONSlice([]int{})}} {
			check(db.Create(row).Error)
		}
		check(db.Create([]Pair{{EverythingID: 1, Name: "a", Note: of("x")}, {EverythingID: 1, Name: "b"}}).Error)
		// An upsert, as GORM writes it.
		check(db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Pair{EverythingID: 1, Name: "a", Note: of("y")}).Error)
		return
	}
	var rows []Everything
	check(db.Preload("Friends").Order("id").Find(&rows).Error)
	for _, row := range rows {
		for _, field := range must(schema.Parse(&row, &sync.Map{}, db.NamingStrategy)).Fields {
			if field.DBName == "" {
				continue
			}
			value := field.ReflectValueOf(db.Statement.Context, valueOf(&row)).Interface()
			fmt.Printf("%s=%s ", field.DBName, show(value))
		}
		fmt.Println(len(row.Friends))
	}
	var pairs []Pair
	check(db.Order("everything_id, name").Find(&pairs).Error)
	for _, pair := range pairs {
		fmt.Println(pair.EverythingID, pair.Name, show(pair.Note))
	}
}
