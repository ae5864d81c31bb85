// gqlgen's side of the execution benchmark: from a document that was parsed and validated before to JSON text.
//
// Usage: contender FIXTURES ANSWERS. Writes its answers into the folder ANSWERS and prints `version<TAB>…`, then
// `case<TAB>ns<TAB>objects` lines: nanoseconds of CPU time per request, and the objects that it allocates. The data are those of
// bench/exec/src/data.rs. BENCH_PASSES is the number of batches. `graph` is generated from bench.graphql.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"benchexec/graph"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

type root struct {
	items  []*graph.Item
	groups []*graph.Group
	links  []*graph.Link
}

func (it *root) Query() graph.QueryResolver { return it }
func (it *root) Link() graph.LinkResolver   { return it }

func (it *root) Items(context.Context) ([]*graph.Item, error)   { return it.items, nil }
func (it *root) Groups(context.Context) ([]*graph.Group, error) { return it.groups, nil }
func (it *root) Links(context.Context) ([]*graph.Link, error)   { return it.links, nil }
func (it *root) Next(_ context.Context, link *graph.Link) (*graph.Link, error) {
	return &graph.Link{ID: link.ID + 1}, nil
}

func data() *root {
	it := &root{}
	for i := range 1000 {
		item := &graph.Item{
			ID: strconv.Itoa(i), Name: fmt.Sprintf("Item %d", i), Price: float64(i)*1.25 + 0.1, Stock: i % 100,
			Active: i%2 == 0, Sku: fmt.Sprintf("SKU-%06d", i), Views: i * 37,
		}
		if i%7 != 0 {
			title := fmt.Sprintf("Title of item %d", i)
			item.Title = &title
		}
		if i%5 != 0 {
			rating := float64(i%50) / 10
			item.Rating = &rating
		}
		if i%3 != 0 {
			note := fmt.Sprintf("A note with \"quotes\" for item %d", i)
			item.Note = &note
		}
		it.items = append(it.items, item)
	}
	for a := range 100 {
		group := &graph.Group{ID: fmt.Sprintf("g%d", a), Name: fmt.Sprintf("Group %d", a)}
		for b := range 10 {
			section := &graph.Section{ID: fmt.Sprintf("s%d-%d", a, b), Name: fmt.Sprintf("Section %d", b)}
			for c := range 10 {
				row := &graph.Row{ID: fmt.Sprintf("r%d-%d-%d", a, b, c), Name: fmt.Sprintf("Row %d", c), Value: a*b + c}
				section.Rows = append(section.Rows, row)
			}
			group.Sections = append(group.Sections, section)
		}
		it.groups = append(it.groups, group)
	}
	for chain := range 20 {
		it.links = append(it.links, &graph.Link{ID: chain * 100})
	}
	return it
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// request answers query with the text of data.
func request(schema *ast.Schema, query string, resolvers *root) func() json.RawMessage {
	engine := executor.New(graph.NewExecutableSchema(graph.Config{Schema: schema, Resolvers: resolvers}))
	engine.SetQueryCache(graphql.MapCache[*ast.QueryDocument]{})
	return func() json.RawMessage {
		ctx := graphql.StartOperationTrace(context.Background())
		operation, errors := engine.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
		if errors != nil {
			panic(errors)
		}
		operation.DisableIntrospection = false
		responses, ctx := engine.DispatchOperation(graphql.WithOperationContext(ctx, operation), operation)
		response := responses(ctx)
		if len(response.Errors) > 0 {
			panic(response.Errors)
		}
		return response.Data
	}
}

func cpu() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// nanoseconds is the least CPU time of some batches of at least 50 ms, after a warm-up of half a second.
func nanoseconds(run func() json.RawMessage, batches int) int64 {
	warm := 0
	for begun := time.Now(); time.Since(begun) < 500*time.Millisecond; warm++ {
		run()
	}
	batch := max(1, (warm+9)/10)
	least := int64(-1)
	for range batches {
		before := cpu()
		for range batch {
			run()
		}
		took := (cpu() - before) / int64(batch)
		if least < 0 || took < least {
			least = took
		}
	}
	return least
}

func objects(run func() json.RawMessage) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/99designs/gqlgen" {
			return module.Version[1:]
		}
	}
	return "unknown"
}

func main() {
	fixtures, answers := os.Args[1], os.Args[2]
	batches := 9
	if passes := os.Getenv("BENCH_PASSES"); passes != "" {
		batches = must(strconv.Atoi(passes))
	}
	if err := os.MkdirAll(answers, 0o755); err != nil {
		panic(err)
	}
	read := func(name string) string {
		return string(must(os.ReadFile(filepath.Join(fixtures, name+".graphql"))))
	}
	resolvers := data()
	fmt.Printf("version\t%s\n", version())
	for _, it := range [][3]string{
		{"list", "bench", "q_list"},
		{"nested", "bench", "q_nested"},
		{"chain", "bench", "q_chain"},
		{"introspection-mid", "mid", "introspection"},
		{"introspection-big", "big", "introspection"},
	} {
		schema := gqlparser.MustLoadSchema(&ast.Source{Name: it[1], Input: read(it[1])})
		run := request(schema, read(it[2]), resolvers)
		answer := append(append([]byte(`{"data":`), run()...), '}')
		if err := os.WriteFile(filepath.Join(answers, it[0]+".json"), answer, 0o644); err != nil {
			panic(err)
		}
		fmt.Printf("%s\t%d\t%d\n", it[0], nanoseconds(run, batches), objects(run))
	}
}
