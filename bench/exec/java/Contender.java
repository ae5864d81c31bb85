import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import graphql.ExecutionInput;
import graphql.ExecutionResult;
import graphql.GraphQL;
import graphql.execution.preparsed.PreparsedDocumentEntry;
import graphql.introspection.GoodFaithIntrospection;
import graphql.parser.ParserOptions;
import graphql.schema.GraphQLSchema;
import graphql.schema.idl.FieldWiringEnvironment;
import graphql.schema.idl.MockedWiringFactory;
import graphql.schema.idl.RuntimeWiring;
import graphql.schema.idl.SchemaGenerator;
import graphql.schema.idl.SchemaParser;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * graphql-java's side of the execution benchmark: from a document that was parsed and validated before to JSON text.
 *
 * <p>Usage: java Contender FIXTURES ANSWERS. Writes its answers into the folder ANSWERS and prints {@code version<TAB>…}, then
 * {@code case<TAB>ns} lines: nanoseconds of CPU time of the process per request. The data are those of bench/exec/src/data.rs.
 * BENCH_PASSES is the number of batches.
 */
public class Contender {
  public record Item(
      String id, String name, String title, double price, int stock, boolean active, Double rating, String sku, int views,
      String note) {}

  public record Row(String id, String name, int value) {}

  public record Section(String id, String name, List<Row> rows) {}

  public record Group(String id, String name, List<Section> sections) {}

  public record Link(int id) {}

  static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  static final ObjectMapper JSON = new ObjectMapper();
  /** The compiler of the JVM needs seconds. */
  static final long WARM_NS = 4_000_000_000L;
  /** The system counts the time of a process in steps of 10 ms. */
  static final long BATCH_NS = 300_000_000L;

  static int batches = 9;

  static Item item(int i) {
    return new Item(
        "" + i, "Item " + i, i % 7 == 0 ? null : "Title of item " + i, i * 1.25 + 0.1, i % 100, i % 2 == 0,
        i % 5 == 0 ? null : (i % 50) / 10.0, String.format("SKU-%06d", i), i * 37,
        i % 3 == 0 ? null : "A note with \"quotes\" for item " + i);
  }

  static <T> List<T> list(int length, IntFunction<T> item) {
    return IntStream.range(0, length).mapToObj(item).toList();
  }

  static Group group(int a) {
    return new Group("g" + a, "Group " + a, list(10, b -> new Section("s" + a + "-" + b, "Section " + b, list(10, c ->
        new Row("r" + a + "-" + b + "-" + c, "Row " + c, a * b + c)))));
  }

  static final Map<String, Object> ROOT = Map.of(
      "items", list(1000, Contender::item),
      "groups", list(100, Contender::group),
      "links", list(20, chain -> new Link(chain * 100)));

  static GraphQLSchema schema(String sdl) {
    var options = ParserOptions.newParserOptions().maxTokens(Integer.MAX_VALUE).maxCharacters(Integer.MAX_VALUE)
        .maxWhitespaceTokens(Integer.MAX_VALUE).build();
    var types = new SchemaParser().parse(new StringReader(sdl), options);
    var wiring = RuntimeWiring.newRuntimeWiring().wiringFactory(new MockedWiringFactory() {
      @Override
      public boolean providesDataFetcher(FieldWiringEnvironment environment) {
        return false;
      }
    });
    if (types.types().containsKey("Link")) {
      wiring.type("Link", it -> it.dataFetcher("next", of -> {
        Link link = of.getSource();
        return CompletableFuture.completedFuture(new Link(link.id() + 1));
      }));
    }
    return new SchemaGenerator().makeExecutableSchema(types, wiring.build());
  }

  static Supplier<byte[]> request(String sdl, String query) {
    Map<String, PreparsedDocumentEntry> documents = new ConcurrentHashMap<>();
    GraphQL graphql = GraphQL.newGraphQL(schema(sdl))
        .preparsedDocumentProvider((asked, parse) -> CompletableFuture.completedFuture(
            documents.computeIfAbsent(asked.getQuery(), it -> parse.apply(asked))))
        .build();
    ExecutionInput input = ExecutionInput.newExecutionInput().query(query).root(ROOT).build();
    return () -> {
      ExecutionResult answer = graphql.execute(input);
      if (!answer.getErrors().isEmpty()) throw new IllegalStateException(answer.getErrors().toString());
      try {
        return JSON.writeValueAsBytes(answer.toSpecification());
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    };
  }

  /** The least CPU time of some batches, after a warm-up. The second half of the warm-up says how many requests make a batch. */
  static double nanoseconds(Supplier<byte[]> run) {
    long begun = System.nanoTime();
    long warm = 0;
    while (System.nanoTime() - begun < WARM_NS / 2) run.get();
    for (; System.nanoTime() - begun < WARM_NS; warm++) run.get();
    long batch = Math.max(1, warm * BATCH_NS / (WARM_NS / 2));
    double least = Double.MAX_VALUE;
    for (int pass = 0; pass < batches; pass++) {
      long before = SYSTEM.getProcessCpuTime();
      for (long at = 0; at < batch; at++) run.get();
      least = Math.min(least, (SYSTEM.getProcessCpuTime() - before) / (double) batch);
    }
    return least;
  }

  public static void main(String[] arguments) throws Exception {
    Path answers = Files.createDirectories(Path.of(arguments[1]));
    String passes = System.getenv("BENCH_PASSES");
    if (passes != null) batches = Integer.parseInt(passes);
    GoodFaithIntrospection.enabledJvmWide(false);
    String library = GraphQL.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    System.out.println("version\t" + library.replaceAll(".*graphql-java-|[.]jar$", ""));
    for (String[] of : Stream.of(
        "list bench q_list", "nested bench q_nested", "chain bench q_chain", "introspection-mid mid introspection",
        "introspection-big big introspection").map(it -> it.split(" ")).toList()) {
      String[] texts = new String[2];
      for (int at = 0; at < 2; at++) texts[at] = Files.readString(Path.of(arguments[0], of[at + 1] + ".graphql"));
      Supplier<byte[]> run = request(texts[0], texts[1]);
      Files.write(answers.resolve(of[0] + ".json"), run.get());
      System.out.printf("%s\t%.0f%n", of[0], nanoseconds(run));
    }
  }
}
