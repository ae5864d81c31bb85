#!/usr/bin/env bash
# graphql-java-codegen 5.10.0 knows the roots of a schema by the names Query, Mutation and Subscription, not by `schema { … }`. Where they
# are called otherwise, as in Hasura's schemas, it writes them as ordinary types: no request for any field, without a warning.
# Needs Java 17 and Maven.
# Seen: `query_root`: no request; `Query`: HelloQueryRequest.java.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>1</version>
  <build>
    <plugins>
      <plugin>
        <groupId>io.github.kobylynskyi</groupId>
        <artifactId>graphql-codegen-maven-plugin</artifactId>
        <version>5.10.0</version>
        <executions>
          <execution>
            <goals><goal>generate</goal></goals>
            <configuration>
              <graphqlSchemaPaths>${project.basedir}/schema.graphql</graphqlSchemaPaths>
              <outputDir>${project.build.directory}/${root}</outputDir>
              <packageName>finding</packageName>
              <generateApis>false</generateApis>
              <generateClient>true</generateClient>
            </configuration>
          </execution>
        </executions>
      </plugin>
    </plugins>
  </build>
</project>
XML
for root in query_root Query; do
  echo "schema { query: $root } type $root { hello(name: String): String! }" >schema.graphql
  mvn -q -B generate-sources -Droot=$root >$root.log 2>&1
  echo "\`$root\`: $(ls target/$root/finding | grep Request || echo "no request")"
done | tee seen.log
grep -qx '`query_root`: no request' seen.log
grep -qx '`Query`: HelloQueryRequest.java' seen.log
echo "as stated: graphql-java-codegen 5.10.0"
