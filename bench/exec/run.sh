#!/usr/bin/env bash
# Measures the engine alone against other libraries, in Rust, JavaScript, Python, Ruby, Java and Go. PUBLISH=1 writes the tables into
# docs/performance/engine.md; BENCH_PASSES=1 makes a quick run of it. A library that cannot be installed is left out, and the page says so.
source "$(dirname "$0")/../../scripts/common.sh"
need python3 python3
need_node
here=bench/exec
there=bench/target/exec
fixtures=bench/target/fixtures
mkdir -p $there
others=()

# other NAME COMMAND...: measures what COMMAND runs as NAME, if the function build_NAME made it.
other() {
  if ("build_${1//-/_}"); then
    others+=("$1=${*:2}")
  else
    say "going on without $1"
  fi
}

build_ruby_graphql() {
  want_file /usr/bin/ruby ruby && want_file '/usr/share/rubygems-integration/*/specifications/graphql-*.gemspec' ruby-graphql && ruby -e 'require "graphql"'
}

build_graphql_java() {
  want_file /usr/bin/javac default-jdk-headless && want_file /usr/bin/mvn maven &&
    mvn --quiet --batch-mode --file $here/java/pom.xml dependency:copy-dependencies "-DoutputDirectory=$PWD/$there/java/lib" &&
    javac -cp "$there/java/lib/*" -d $there/java/classes $here/java/Contender.java
}

# Both Python contenders have one environment, of the versions that the suite of the Python package has.
build_graphql_core() {
  want_file '/usr/lib/python3*/ensurepip' python3-venv
  [ -x $there/python/bin/pip ] || python3 -m venv $there/python || return
  $there/python/bin/pip install --quiet -r bench/python/requirements.txt
}

build_strawberry() {
  build_graphql_core
}

# The generated code is made of the fixtures' schema.
build_gqlgen() {
  command -v go >/dev/null || want_file /usr/bin/go golang-go || return
  cp -r $here/go $there/ && cp $fixtures/bench.graphql $there/go/schema.graphql && cd $there/go &&
    go run github.com/99designs/gqlgen generate && go build -o contender .
}

say "building"
python3 $here/gen.py $fixtures
cargo build --release --manifest-path $here/Cargo.toml --target-dir bench/target
(cd $here/js && npm ci --no-audit --no-fund --loglevel=error)
for name in graphql-jit graphql-js; do others+=("$name=node $here/js/contenders.mjs $name"); done
for name in graphql-core strawberry; do other $name $there/python/bin/python $here/python/contender.py $name; done
other ruby-graphql ruby $here/ruby/contender.rb
other graphql-java java -cp "$there/java/lib/*:$there/java/classes" Contender
other gqlgen $there/go/contender
say "measuring"
python3 $here/compare.py $fixtures "${others[@]}"
