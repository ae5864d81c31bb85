// Generate SCHEMAS OPERATIONS GENERATED: has Apollo Kotlin's compiler write clients in Kotlin and in Java for each schema.

import com.apollographql.apollo.compiler.ApolloCompiler
import com.apollographql.apollo.compiler.CodegenSchemaOptions
import com.apollographql.apollo.compiler.InputFile
import com.apollographql.apollo.compiler.TargetLanguage
import com.apollographql.apollo.compiler.buildCodegenOptions
import com.apollographql.apollo.compiler.buildIrOptions
import com.apollographql.apollo.compiler.codegen.writeTo
import java.io.File

object Loud : ApolloCompiler.Logger {
    override fun debug(message: String) {}
    override fun info(message: String) {}
    override fun warning(message: String) = System.err.println(message)
    override fun error(message: String) = System.err.println(message)
}

/** Numbers of the database as doubles. */
fun options(isJava: Boolean): CodegenSchemaOptions {
    val type = if (isJava) "java.lang.Double" else "kotlin.Double"
    val adapter = if (isJava) "com.apollographql.apollo.api.Adapters.DoubleAdapter" else "com.apollographql.apollo.api.DoubleAdapter"
    return CodegenSchemaOptions(mapOf("numeric" to type), mapOf("numeric" to adapter), false)
}

fun main(arguments: Array<String>) {
    val (schemas, operations, generated) = arguments
    for (name in listOf("tables", "native", "relay")) {
        val schema = File(schemas, "$name.graphql")
        // The compiler takes no type for a scalar that the schema lacks.
        val hasNumeric = "scalar numeric" in schema.readText()
        for (language in listOf(TargetLanguage.KOTLIN_1_9, TargetLanguage.JAVA)) {
            val isJava = language == TargetLanguage.JAVA
            val sources = ApolloCompiler.buildSchemaAndOperationsSources(
                schemaFiles = listOf(InputFile(schema, "$name.graphql")),
                executableFiles = listOf(InputFile(File(operations, "$name.graphql"), "$name.graphql")),
                codegenSchemaOptions = if (hasNumeric) options(isJava) else CodegenSchemaOptions(),
                irOptions = buildIrOptions(),
                codegenOptions = buildCodegenOptions(
                    targetLanguage = language,
                    packageName = if (isJava) "of_java.of_$name" else "of_kotlin.of_$name",
                ),
                layoutFactory = null,
                operationIdsGenerator = null,
                irOperationsTransform = null,
                javaOutputTransform = null,
                kotlinOutputTransform = null,
                documentTransform = null,
                schemaDocumentTransform = null,
                logger = Loud,
                operationManifestFile = null,
            )
            sources.writeTo(File(generated), false, null)
        }
    }
}
