# ruby-graphql's side of the execution benchmark: from a document that was parsed and validated before to JSON text.
# Usage: ruby contender.rb FIXTURES ANSWERS. Writes its answers into the folder ANSWERS and prints `version<TAB>…`, then
# `case<TAB>ns<TAB>objects` lines: nanoseconds of CPU time per request, and the objects that it allocates. The case `post` is what
# the library's own benchmark does: the document is parsed before, validated each time, and the answer stays a hash. The data are
# those of bench/exec/src/data.rs. BENCH_PASSES is the number of batches.

require "fileutils"
require "graphql"
require "json"

FOLDER, ANSWERS = ARGV
BATCHES = Integer(ENV.fetch("BENCH_PASSES", "9"))
# A case takes no more batches after so many seconds: the large introspection takes seconds.
SECONDS_MOST = 2

Item = Struct.new(:id, :name, :title, :price, :stock, :active, :rating, :sku, :views, :note)
Group = Struct.new(:id, :name, :sections)
Section = Struct.new(:id, :name, :rows)
Row = Struct.new(:id, :name, :value)
Link = Struct.new(:id)

# What follows a link is known when it is asked for.
class Lazy
  def initialize(&value)
    @value = value
  end

  def value = @value.call
end

def item(i)
  Item.new(i.to_s, "Item #{i}", i % 7 == 0 ? nil : "Title of item #{i}", i * 1.25 + 0.1, i % 100, i.even?,
           i % 5 == 0 ? nil : (i % 50) / 10.0, format("SKU-%06d", i), i * 37,
           i % 3 == 0 ? nil : "A note with \"quotes\" for item #{i}")
end

def group(a)
  rows = ->(b) { Array.new(10) { |c| Row.new("r#{a}-#{b}-#{c}", "Row #{c}", a * b + c) } }
  Group.new("g#{a}", "Group #{a}", Array.new(10) { |b| Section.new("s#{a}-#{b}", "Section #{b}", rows.call(b)) })
end

Root = Struct.new(:items, :groups, :links)
ROOT = Root.new(Array.new(1000) { |i| item(i) }, Array.new(100) { |a| group(a) }, Array.new(20) { |n| Link.new(n * 100) })

class RowType < GraphQL::Schema::Object
  graphql_name "Row"
  field :id, ID, null: false
  field :name, String, null: false
  field :value, Integer, null: false
end

class SectionType < GraphQL::Schema::Object
  graphql_name "Section"
  field :id, ID, null: false
  field :name, String, null: false
  field :rows, [RowType], null: false
end

class GroupType < GraphQL::Schema::Object
  graphql_name "Group"
  field :id, ID, null: false
  field :name, String, null: false
  field :sections, [SectionType], null: false
end

class ItemType < GraphQL::Schema::Object
  graphql_name "Item"
  field :id, ID, null: false
  field :name, String, null: false
  field :title, String, null: true
  field :price, Float, null: false
  field :stock, Integer, null: false
  field :active, Boolean, null: false
  field :rating, Float, null: true
  field :sku, String, null: false
  field :views, Integer, null: false
  field :note, String, null: true
end

class LinkType < GraphQL::Schema::Object
  graphql_name "Link"
  field :id, Integer, null: false
  field :next, LinkType, null: false, resolver_method: :link_after

  def link_after
    id = object.id
    Lazy.new { Link.new(id + 1) }
  end
end

class QueryType < GraphQL::Schema::Object
  graphql_name "Query"
  field :items, [ItemType], null: false
  field :groups, [GroupType], null: false
  field :links, [LinkType], null: false
end

class BenchSchema < GraphQL::Schema
  query QueryType
  lazy_resolve Lazy, :value
end

def read(name) = File.read("#{FOLDER}/#{name}.graphql")
def processor_time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# By request, after a warm-up of half a second: the least CPU time of some batches of at least 50 ms, in nanoseconds, and the objects
# that the last of them has allocated.
def measured(&run)
  begun = clock
  warm = 0
  while clock - begun < 0.5
    run.call
    warm += 1
  end
  batch = (warm / 10.0).ceil
  times = []
  allocated = nil
  begun = clock
  while times.empty? || (times.size < BATCHES && clock - begun < SECONDS_MOST)
    objects = GC.stat(:total_allocated_objects)
    before = processor_time
    batch.times { run.call }
    times << (processor_time - before) / batch
    allocated = (GC.stat(:total_allocated_objects) - objects) / batch
  end
  [(times.min * 1e9).round, allocated]
end

def report(name, &run)
  puts [name, *measured(&run)].join("\t")
  $stdout.flush
end

def checked(answer)
  hash = answer.to_h
  raise hash["errors"].inspect if hash["errors"]
  hash
end

def measure(name, schema, operation)
  document = GraphQL.parse(read(operation))
  errors = schema.validate(document)
  raise errors.first.message if errors.any?
  run = -> { JSON.generate(checked(schema.execute(document: document, root_value: ROOT, validate: false)), max_nesting: false) }
  File.write("#{ANSWERS}/#{name}.json", run.call)
  report(name, &run)
end

FileUtils.mkdir_p(ANSWERS)
puts "version\t#{GraphQL::VERSION}"
measure("list", BenchSchema, "q_list")
measure("nested", BenchSchema, "q_nested")
measure("chain", BenchSchema, "q_chain")
mid = GraphQL::Schema.from_definition(read("mid"))
measure("introspection-mid", mid, "introspection")
introspection = GraphQL.parse(read("introspection"))
report("post") { checked(mid.execute(document: introspection)) }
measure("introspection-big", GraphQL::Schema.from_definition(read("big")), "introspection")
